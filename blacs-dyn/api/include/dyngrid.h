/* SPDX-License-Identifier: BSD-3-Clause */
/* dyngrid: ScaLAPACK process grids that grow and shrink while the program runs, and their matrices follow.
 *
 * Every routine returns a status (dyngrid/status.h: 0 is success, errors are negative); those that may change the grid
 * return an outcome (DYNGRID_SAME, DYNGRID_RESIZED, DYNGRID_LEAVE, DYNGRID_REDIRECT) or a status. A failed change
 * leaves every process on the old grid with all its data. "Collective" means: all processes of the current grid call
 * it, with the same arguments unless stated otherwise. All processes have to call the same one of
 * dyngrid_matrix_create, dyngrid_share, dyngrid_resize, dyngrid_need, dyngrid_lu, dyngrid_cholesky, dyngrid_checkpoint,
 * dyngrid_restore and the resize points. Otherwise all get DYNGRID_ERR_MISMATCH (two resize points: DYNGRID_ERR_STATE)
 * and both names.
 *
 * This header has what a program needs to resize. More on request:
 *   dyngrid/control.h     which grids are allowed, how processes start, which ones leave, resize points with a name
 *   dyngrid/checkpoint.h  all matrices and shared state in a file, restored on any grid
 *   dyngrid/pool.h        several applications in one program, each with its own grid
 *   dyngrid/layout.h      matrices that lie by a rule, another layout on the same grid, copies
 *   dyngrid/balance.h     matrices dealt out by speed, processes that get less of their processor than others
 *   dyngrid/phases.h      parts of a cycle that want other layouts
 *   dyngrid/factor.h      LU and Cholesky factorizations during which the grid may change
 *   dyngrid/calls.h       calls of ScaLAPACK on another grid
 *   dyngrid/redist.h      descriptors, layouts, plans and exchanges
 *   dyngrid/halo.h        borders of distributed matrices
 *   dyngrid/gridmap.h     grid shapes, placement, mapping onto unequal processors
 *   dyngrid/pblas.h       PBLAS and ScaLAPACK for matrices in blocks of any sizes */
#ifndef DYNGRID_H
#define DYNGRID_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Outcomes of a routine that may change the grid. */
enum {
  DYNGRID_SAME = 0,    /* nothing changed */
  DYNGRID_RESIZED = 1, /* on a new grid, or a checkpoint was restored here: context, descriptors, local arrays and
                          shared state are the new ones */
  DYNGRID_LEAVE = 2,   /* this process is no longer part of the application: go to dyngrid_finalize */
  DYNGRID_REDIRECT = 3 /* only after dyngrid_entry_point: the others wait at the resize point it names now; go there */
};

typedef struct dyngrid_matrix dyngrid_matrix;

/* What the last change of the grid took. Seconds are the largest over the processes of the new grid, bytes their sum.
 */
typedef struct dyngrid_resize_report {
  int from_nprow, from_npcol, to_nprow, to_npcol;
  int spawned;         /* processes started */
  int woken;           /* parked processes used again */
  int released;        /* processes that left for good */
  int parked;          /* processes put to sleep */
  double spawn_s;      /* starting new processes */
  double merge_s;      /* communicators and BLACS contexts */
  double plan_s;       /* plans and schedules */
  double exchange_s;   /* moving the matrices */
  double total_s;      /* the whole call */
  int64_t moved_bytes; /* that changed their process */
  int64_t kept_bytes;  /* that stayed where they were */
  /* Steps as DYNGRID_RESIZE_AT counts them, resize points that were passed before: where the change was asked for, and
   * where it happened. -1 both when the program called dyngrid_resize or dyngrid_pop. */
  int64_t asked_at_step, changed_at_step;
} dyngrid_resize_report;

/* ---- beginning and end ---- */

/* Joins this process to the application. Collective over MPI_COMM_WORLD (of each mpirun or spawned world). Calls
 * MPI_Init when that has not been done. The first grid is the one of DYNGRID_GRID ("2x3"), otherwise the most square
 * one of all processes but DYNGRID_SPARE of them, nprow <= npcol; those beyond it are parked at the first resize point.
 * A spawned process joins its parents at its first resize point. */
DYNGRID_API int dyngrid_init(void);
/* As dyngrid_init, with the first grid given: nprow x npcol <= processes. New processes ignore it. */
DYNGRID_API int dyngrid_init_grid(int nprow, int npcol);
/* Ends the application's use of dyngrid; local arrays are freed. Collective over the current grid; processes that left
 * call it alone. Calls MPI_Finalize when dyngrid_init called MPI_Init. Otherwise the caller calls it. A call of
 * MPI_Finalize alone ends dyngrid first. DYNGRID_ERR_STATE in a fork of the process, which has no part in the
 * application. */
DYNGRID_API int dyngrid_finalize(void);
/* 1 from dyngrid_init to the first resize point of a process that was spawned, otherwise 0. Local. */
DYNGRID_API int dyngrid_is_newcomer(void);

/* ---- the current grid (local calls) ---- */

/* 1 on the process at (0,0) of the current grid. 0 on all others and on those outside the grid, a new process before
 * its first resize point included. It is the same process on every grid, rank 0 of mpirun: a program prints and keeps
 * files open there. */
DYNGRID_API int dyngrid_is_first(void);
/* BLACS context of the current grid, -1 outside it. New after every change; older contexts are closed. dyngrid closes
 * it: the program does not call blacs_gridexit for it. blacs_exit(1) closes all contexts; this one and those of the
 * matrices are -1 from there to the next change. */
DYNGRID_API int dyngrid_context(void);
/* Shape of the current grid and my position in it, (-1, -1) outside. Any pointer may be null. */
DYNGRID_API int dyngrid_grid(int* nprow, int* npcol, int* myrow, int* mycol);
/* Communicator of the current grid, ranks row-major in the grid; MPI_COMM_NULL outside. Borrowed; valid until the next
 * change. Its duplicates and splits keep the processes that they were made of. After a change each process can free
 * them at any time, by itself. No collective operation, nor MPI_Comm_disconnect, is possible over them, since processes
 * that left or sleep do not take part. Free them, or what depends on them, in dyngrid_on_change's `before`. */
DYNGRID_API MPI_Comm dyngrid_comm(void);
DYNGRID_API MPI_Fint dyngrid_comm_f(void);

/* ---- changing the grid ---- */

/* The place where the grid may change. Collective. With no request pending it costs one all-reduce of 8 bytes. All
 * processes come to the same one: the same line of the program from C, C++ and Python, the same call from Fortran. If
 * not, all of them get DYNGRID_ERR_STATE, which names both, and the grid stays. The same holds for processes that join,
 * or wake in the resize point in which they were parked, while the others are at another.
 * From Fortran: an optimizing compiler makes several calls of one in the source, where it inlines a subroutine or makes
 * a jump of the call with which it ends. Give a resize point inside a subroutine a name by dyngrid_resize_point_at. */
DYNGRID_API int dyngrid_resize_point(void);
/* dyngrid_resize_point() calls this in C and C++, with its file and line. The folder of the file does not count: the
 * path by which it was found may differ between processes. Collective. */
DYNGRID_API int dyngrid_resize_point_in(const char* file, int line);
#ifndef DYNGRID_NO_MACROS
#define dyngrid_resize_point() dyngrid_resize_point_in(__FILE__, __LINE__)
#endif
/* 1 when a change was refused or failed at the last resize point. The grid is the old one then, with all its data, and
 * dyngrid_last_message says why. 0 when nothing was to be changed and when the grid has changed. 0 also after a mistake
 * of the program's, such as processes that came to different resize points. Local. */
DYNGRID_API int dyngrid_was_refused(void);
/* 1 when the next resize point would try to change the grid, or to admit requested new processes, as far as it is known
 * now; otherwise 0. The request stays pending. Collective, one all-reduce of 8 bytes. 1 on processes outside the grid,
 * whose next resize point is where they join or sleep. */
DYNGRID_API int dyngrid_pending(void);
/* A routine that is called before or after a change, with the `data` that was registered with it. */
typedef void (*dyngrid_change_routine)(void* data);
/* Notice of changes. `before` is called on every process of the old grid, also on those that leave or are parked, when
 * a change is certain. All processes are there then, and only MPI itself can still fail. The old grid is whole then:
 * its communicator, context, descriptors and local arrays. Values written to local arrays move to the new grid; shared
 * state has been sent already. `after` is called on every process of the new grid, new and woken processes included,
 * when all is new. When a resize point restores a checkpoint (DYNGRID_RESTORE), both are called on the current grid.
 * Either may be null. Several are called in the order in which they were registered, `before` in the reverse order.
 * Both null: those registered with this `data` are forgotten, and not called any more, DYNGRID_ERR_NOT_FOUND when there
 * are none. Inside, routines that change the grid, dyngrid_finalize and dyngrid_restore are refused with
 * DYNGRID_ERR_STATE. `before` also refuses those that make or free matrices and shared state. An exception that leaves
 * one is printed on stderr, and the change goes on. Local; register the same on every process, on new processes before
 * their first resize point. */
DYNGRID_API int dyngrid_on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data);
/* Asks for a change at the next resize point. Local; of several requests the one of the lowest rank counts. */
DYNGRID_API int dyngrid_request(int nprow, int npcol);
/* Changes the grid now. Collective. placement: DYNGRID_GLOBAL, _LOCAL1, _LOCAL2, _OPTIMAL. */
DYNGRID_API int dyngrid_resize(int nprow, int npcol, int placement);
/* Report of the last change of the grid; all zero before the first. Local; the same on all processes of the grid. */
DYNGRID_API int dyngrid_last_resize(dyngrid_resize_report* report);

/* ---- matrices that follow ---- */

/* An m x n matrix in mb x nb blocks on the current grid from process (0,0), type s d c z i, all elements zero.
 * Collective. On a new process, before its first resize point, it declares the matrix. The matrix gets its local array
 * and content at that resize point. Names are at most 63 characters, each used once. */
DYNGRID_API int dyngrid_matrix_create(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                      dyngrid_matrix** matrix);
/* Local array, column-major, leading dimension LLD_ of the descriptor; null on a process outside the grid. Changes with
 * the grid. */
DYNGRID_API void* dyngrid_local(const dyngrid_matrix* matrix);
/* ScaLAPACK descriptor, nine integers (ten are readable). The pointer stays the same while the matrix lives, the
 * content follows the grid. Of a matrix with a rule: as many integers as it says, and to be asked for again after each
 * change. Null, with a message, where these cannot be made: no memory, or too many (dyngrid_matrix_create_owned). */
DYNGRID_API const int* dyngrid_desc(const dyngrid_matrix* matrix);
/* My rows and columns. Any pointer may be null. Local. */
DYNGRID_API int dyngrid_matrix_shape(const dyngrid_matrix* matrix, int64_t* m_loc, int64_t* n_loc, int64_t* lld);
/* The matrix of that name, null when there is none. Local. */
DYNGRID_API dyngrid_matrix* dyngrid_matrix_find(const char* name);
/* Ends the matrix and nulls the handle. Collective; null is fine. DYNGRID_ERR_STATE while dyngrid_lu or _cholesky works
 * on it. */
DYNGRID_API int dyngrid_matrix_free(dyngrid_matrix** matrix);

/* ---- state that every process has ---- */

/* bytes at data are the same on all processes; new processes get them at their first resize point. Collective. The
 * memory stays the caller's and must live until dyngrid_finalize or dyngrid_unshare. Any length. A growth takes 8 MB
 * more on each process, and as much as the state on a new one that has not yet given its address. A new process shares
 * what the others do, or less: before its first resize point or after it. More than the others is DYNGRID_ERR_MISMATCH,
 * and the growth is refused. */
DYNGRID_API int dyngrid_share(const char* name, void* data, size_t bytes);
DYNGRID_API int dyngrid_unshare(const char* name);

/* "MAJOR.MINOR.PATCH", of the library in use. Local. */
DYNGRID_API const char* dyngrid_version(void);

#ifdef __cplusplus
}
#endif
#endif
