/* SPDX-License-Identifier: BSD-3-Clause */
/* LU and Cholesky factorizations during which the grid may change. Statuses, outcomes and "collective" are those of
 * dyngrid.h. */
#ifndef DYNGRID_FACTOR_H
#define DYNGRID_FACTOR_H

#include <stdint.h>

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- factorizations during which the grid may change ---- */

/* Options of a factorization, to be added. */
enum {
  DYNGRID_GIVE_BACK = 1 /* processes leave the grid, as after dyngrid_request, when the rest of the factorization does
                         * not need them; a request of the program's own goes before it */
};
/* A = P L U with partial pivoting, in place: A is m x n of type s d c z, in blocks of any sizes. Each panel begins with
 * a resize point; a panel has 64 columns, less where a block ends and another process has the next. The program's own
 * requests, those from outside, the timetable, the scheduler and the balancer act there. All registered matrices
 * follow, and the factorization goes on at that panel on the new grid. A change that fails is printed on stderr, and
 * the factorization goes on where it was. pivots: min(m, n) integers; on every process, row i changed places with row
 * pivots[i-1], counted from 1, as LAPACK's IPIV. info: 0, or the first i for which U(i,i) is 0, as PDGETRF's; the
 * factorization is complete in that case too. Both are the same on all processes.
 *
 * Collective. Outcomes: DYNGRID_SAME; DYNGRID_RESIZED when the grid is not the one of the beginning, or a checkpoint
 * was restored: get context, descriptors and local arrays again. DYNGRID_LEAVE and DYNGRID_REDIRECT as of a resize
 * point; pivots and info are not set then. A new process calls this after it has declared its matrices, and continues
 * at the panel reached. So does a restarted run whose checkpoint was written inside. Neither may pass another resize
 * point before. The name of the resize points is "dyngrid_lu:" and the name of A, cut to 63 characters
 * (dyngrid_entry_point). A process that waits or sleeps in the call joins at its panels only. A dyngrid_resize of the
 * others that would wake or start it is DYNGRID_ERR_STATE on them, and the grid stays. DYNGRID_ERR_NULL, _NOT_FOUND,
 * _TYPE for integers, _ARGUMENT for options, _MISMATCH when processes ask for different ones: A is as it was. */
DYNGRID_API int dyngrid_lu(dyngrid_matrix* a, int options, int* pivots, int* info);
/* A = L L^H (uplo 'L') or U^H U ('U') in place, in the triangle that is given, in the same way; A is n x n. info: 0, or
 * the order of the first leading minor that is not positive definite: A is as after the last panel before it, on all
 * processes. The resize points are called "dyngrid_cholesky:" and the name of A. DYNGRID_ERR_SHAPE when A is not
 * square. */
DYNGRID_API int dyngrid_cholesky(dyngrid_matrix* a, char uplo, int options, int* info);
/* A finished panel of either factorization, as the routine of dyngrid_on_panel receives it. */
typedef struct dyngrid_panel {
  int64_t first, columns; /* the first of its columns, counted from 0, and how many they are */
  int64_t of;             /* columns that are to be factored in all: min(m, n) */
  int nprow, npcol;       /* the grid on which it was done */
  double seconds;         /* of this process, without the resize point; the next panel may have been factored in it */
  int outcome;            /* of the resize point before it: DYNGRID_SAME, _RESIZED, or the status of a change that
                             failed; dyngrid_last_message has its text */
} dyngrid_panel;
typedef void (*dyngrid_panel_routine)(const dyngrid_panel* panel, void* data);
/* Notice of panels. `routine` is called with `data` on every process of the grid after each panel that was done there,
 * before the resize point of the next one. A dyngrid_request made inside counts at that resize point. A process that
 * leaves or sleeps there still gets the call. It may communicate over dyngrid_comm(), read shared state, and write it
 * in the same way on all processes. It must not touch the matrix, part of which may be a panel further, nor free it.
 * Routines that change the grid, dyngrid_lu and _cholesky, dyngrid_checkpoint, _restore and _finalize are refused
 * inside with DYNGRID_ERR_STATE. An exception that leaves it is printed on stderr, and the factorization goes on.
 * Another routine takes its place; null: none. Local; register it on every process, on new processes before the call in
 * which they join. There is no call for a panel at which Cholesky finds that A is not positive definite. Only
 * dyngrid_on_change's routines are called for a change after the last panel. */
DYNGRID_API int dyngrid_on_panel(dyngrid_panel_routine routine, void* data);
/* The pivots of dyngrid_lu in the form that p?getrs takes on the current grid: ipiv gets one integer for each row of
 * this process, the first m_loc of its LOCr(M_A) + MB_A. Local; nothing outside the grid. */
DYNGRID_API int dyngrid_lu_pivots(const dyngrid_matrix* a, const int* pivots, int* ipiv);

#ifdef __cplusplus
}
#endif
#endif
