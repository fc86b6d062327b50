/* SPDX-License-Identifier: BSD-3-Clause */
/* dyngrid: ScaLAPACK process grids that grow and shrink while the program runs, and their matrices follow.
 *
 * Every routine returns a status (dyngrid/status.h: 0 is success, errors are negative); those that may change the grid
 * return an outcome (DYNGRID_SAME, DYNGRID_RESIZED, DYNGRID_LEAVE, DYNGRID_REDIRECT) or a status. A failed change
 * leaves every process on the old grid with all its data. "Collective" means: all processes of the current grid call
 * it, with the same arguments unless said otherwise. Where processes make different ones of dyngrid_matrix_create,
 * dyngrid_share, dyngrid_resize, dyngrid_need, dyngrid_lu, dyngrid_cholesky, dyngrid_checkpoint, dyngrid_restore and
 * the resize points, all get DYNGRID_ERR_MISMATCH (two resize points: DYNGRID_ERR_STATE) and both names. */
#ifndef DYNGRID_H
#define DYNGRID_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "dyngrid/gridmap.h"
#include "dyngrid/redist.h"
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
 * one of all processes with nprow <= npcol; processes beyond it are parked at the first resize point. A spawned process
 * joins its parents at its first resize point. */
DYNGRID_API int dyngrid_init(void);
/* As dyngrid_init, with the first grid given: nprow x npcol <= processes. Ignored by newcomers. */
DYNGRID_API int dyngrid_init_grid(int nprow, int npcol);
/* Ends the application's use of dyngrid; local arrays are freed. Collective over the current grid; processes that left
 * call it alone. Calls MPI_Finalize when dyngrid_init called MPI_Init; otherwise that remains to the caller, who may
 * also call MPI_Finalize alone: it ends dyngrid first. */
DYNGRID_API int dyngrid_finalize(void);
/* 1 from dyngrid_init to the first resize point of a process that was spawned, otherwise 0. Local. */
DYNGRID_API int dyngrid_is_newcomer(void);

/* ---- the current grid (local calls) ---- */

/* 1 on the process at (0,0) of the current grid, 0 on all others and on those outside the grid, a newcomer before its
 * first resize point included. It is the same process on every grid, rank 0 of mpirun: a program prints and keeps files
 * open there. */
DYNGRID_API int dyngrid_is_first(void);
/* BLACS context of the current grid, -1 outside it. New after every change; older contexts are closed. */
DYNGRID_API int dyngrid_context(void);
/* Shape of the current grid and my position in it, (-1, -1) outside. Any pointer may be null. */
DYNGRID_API int dyngrid_grid(int* nprow, int* npcol, int* myrow, int* mycol);
/* Communicator of the current grid, ranks row-major in the grid; MPI_COMM_NULL outside. Borrowed; valid until the next
 * change. Duplicates and splits of it keep the processes they were made of: after a change they can be freed, at any
 * time and by each process for itself, but nothing collective, nor MPI_Comm_disconnect, can be done over them, since
 * those that left or sleep do not come. Free them, or what lives on them, in dyngrid_on_change's `before`. */
DYNGRID_API MPI_Comm dyngrid_comm(void);
DYNGRID_API MPI_Fint dyngrid_comm_f(void);

/* ---- changing the grid ---- */

/* The place where the grid may change. Collective. With no request pending it costs one all-reduce of 8 bytes. All
 * processes come to the same one: the same line of the program (from C and C++; otherwise the same call), else
 * DYNGRID_ERR_STATE on all of them, which names both, and the grid stays. So with processes that join, or wake in the
 * resize point in which they fell asleep, while the others are at another. */
DYNGRID_API int dyngrid_resize_point(void);
/* A resize point with a name, of at most 63 characters: the same one wherever it is called, another one than those of
 * other names or without a name. Processes that join or wake can be led to it. Collective. */
DYNGRID_API int dyngrid_resize_point_at(const char* name);
/* What dyngrid_resize_point() is in C and C++: says its line too. Collective. */
DYNGRID_API int dyngrid_resize_point_in(const char* file, int line);
#ifndef DYNGRID_NO_MACROS
#define dyngrid_resize_point() dyngrid_resize_point_in(__FILE__, __LINE__)
#endif
/* 1 when a change was refused or failed at the last resize point: the grid is the old one, with all its data, and
 * dyngrid_last_message says why. 0 when nothing was to be changed, when the grid has changed, and after a mistake of
 * the program's, such as processes that came to different resize points. Local. */
DYNGRID_API int dyngrid_was_refused(void);
/* Name of the resize point at which the others are and this process is to go on: of a newcomer before its first resize
 * point (which was sent for at a named one), and after DYNGRID_REDIRECT. Otherwise "". Valid until the next call of any
 * routine here. Local. Who calls it says that this process can be led, now or later: woken or let in at another resize
 * point than the one where the others are, it gets DYNGRID_REDIRECT there, and the others wait until it comes to the
 * one named. At any other, or at dyngrid_finalize, the change is given up: DYNGRID_ERR_STATE on the others. */
DYNGRID_API const char* dyngrid_entry_point(void);
/* 1 when the next resize point would try to change the grid, or to let processes in that were sent for, as far as it is
 * known now; otherwise 0. Uses nothing up. Collective, one all-reduce of 8 bytes; 1 on processes outside the grid,
 * whose next resize point is where they join or sleep. */
DYNGRID_API int dyngrid_pending(void);
/* What is called before and after a change, with the `data` that was given with it. */
typedef void (*dyngrid_change_routine)(void* data);
/* Notice of changes: `before` is called on every process of the old grid, also on those that leave or fall asleep, when
 * a change is certain: all processes are there, and it can fail no more but by MPI itself. The old grid is whole then:
 * its communicator, context, descriptors and local arrays; what is written to local arrays goes along, while shared
 * state has been handed over already. `after` is called on every process of the new grid, newcomers and those that woke
 * included, when all is new. When a resize point restores a checkpoint (DYNGRID_RESTORE), both are called on the grid
 * that there is. Either may be null. Several are called in the order in which they were made known, `before` in the
 * reverse one. Both null: those made known with this `data` are forgotten, DYNGRID_ERR_NOT_FOUND when there are none.
 * Inside, routines that change the grid, dyngrid_finalize and dyngrid_restore are refused with DYNGRID_ERR_STATE; in
 * `before` also those that make or free matrices and shared state. An exception that leaves one is said on stderr, and
 * the change goes on. Local; make the same known on every process, newcomers before their first resize point. */
DYNGRID_API int dyngrid_on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data);
/* Asks for a change at the next resize point. Local; of several requests the one of the lowest rank counts. */
DYNGRID_API int dyngrid_request(int nprow, int npcol);
/* Changes the grid now. Collective. placement: DYNGRID_GLOBAL, _LOCAL1, _LOCAL2, _OPTIMAL. */
DYNGRID_API int dyngrid_resize(int nprow, int npcol, int placement);
/* The same without some processes, which are not in the new grid: ids "3,5" (dyngrid_process_id), "host:NAME" for all
 * of one host, "slowest" or "slowest:2" by dyngrid_set_speed, any of them joined by commas. The grid may keep its
 * shape, where a process that sleeps takes the place. The others stay where least has to move. A process that mpirun
 * started, or whose group has others in the grid, sleeps in this call until a later change needs it; others leave for
 * good. Nobody new is started. Process 0 stays in every grid, and "slowest" passes it over. DYNGRID_ERR_NOT_FOUND when
 * nobody is called so; DYNGRID_ERR_ARGUMENT for process 0 or its host, when too few are left, and for the slowest of
 * processes that are alike; DYNGRID_ERR_MISMATCH when processes name different ones. The same on all, and the grid
 * stays. */
DYNGRID_API int dyngrid_resize_without(int nprow, int npcol, int placement, const char* without);
/* Asks for that at the next resize point, as dyngrid_request does. Local. */
DYNGRID_API int dyngrid_request_without(int nprow, int npcol, const char* without);
/* Goes on with one of these grids, written as for dyngrid_allow: "8:32", "4,9,16", "4:32:*2; aspect 2". Collective; the
 * outcome is that of dyngrid_resize. DYNGRID_SAME where the grid is one of them. Otherwise the scheduler that started
 * the job (dyngrid submit) is asked, and all processes wait, asleep, until it grants one, for as long as that takes: it
 * starts nobody on what it keeps for them, and has others shrink for it where its policy does. Where a grid that is not
 * larger than the present one would do, a larger one is asked for, and not waited for. Of those that are granted and
 * dyngrid_allow permits, the grid is the one nearest to square. DYNGRID_ERR_SLOTS when the scheduler refuses: never so
 * many processors, or jobs that would wait for each other; DYNGRID_ERR_UNSUPPORTED without a scheduler, or where it
 * cannot be heard; DYNGRID_ERR_ARGUMENT for what is no list of grids; DYNGRID_ERR_MISMATCH when processes name
 * different ones. The same on all, and the grid stays. */
DYNGRID_API int dyngrid_need(const char* grids);
/* The number of this process, which stays the same while it lives and is given once: rank in MPI_COMM_WORLD of those
 * that mpirun started, higher ones for those that came later; -1 on a newcomer before its first resize point. Local. */
DYNGRID_API int dyngrid_process_id(void);
/* Asks the rules of all matrices again (dyngrid_matrix_create_by), looks at speeds (_create_weighted), and moves those
 * that lie otherwise by them now, on the grid there is. Collective. DYNGRID_RESIZED when data moved: local arrays and
 * descriptors are new, while context, communicator and contexts of the program's own stay; dyngrid_on_change's routines
 * are called and dyngrid_last_resize says what it took, from the grid to itself. DYNGRID_SAME when all lie so already,
 * after one all-reduce of 24 bytes; so on a process outside the grid. A failure leaves all as it was. A resize to the
 * grid there is does the same. */
DYNGRID_API int dyngrid_relayout(void);
/* Goes back to the grid before the last growth: one level down the stack. DYNGRID_ERR_STATE on the first level.
 * Collective. */
DYNGRID_API int dyngrid_pop(void);
/* Levels on the stack, 1 for the first grid. Local. */
DYNGRID_API int dyngrid_depth(void);
/* Placement used by requests; default DYNGRID_OPTIMAL or DYNGRID_PLACEMENT. Collective. */
DYNGRID_API int dyngrid_set_placement(int placement);
/* Order of the messages of an exchange: one of DYNGRID_SCHEDULE_AUTO (default), _CATERPILLAR, _CIRCULANT, _MATCHING,
 * _ASYNC; the environment's DYNGRID_EXCHANGE=schedule=auto|... (dyngrid env) sets it at the start.
 * Collective. */
DYNGRID_API int dyngrid_set_schedule(int schedule);
/* How new processes come: DYNGRID_BACKGROUND (default where it can be used), started in the same mpirun at one resize
 * point and let in at a later one, while the application computes; DYNGRID_BLOCKING, by MPI_Comm_spawn, which the
 * application waits for; DYNGRID_JOIN, each process group an mpirun of its own on one host that meets the application
 * over an ompi-server: mpirun has to be started with --ompi-server, as `dyngrid run --processes join` does. With
 * DYNGRID_BACKGROUND and DYNGRID_JOIN a growth at a resize point only sends for the new processes: DYNGRID_SAME, until
 * a later resize point finds them ready and lets them in; dyngrid_resize waits for them, and with DYNGRID_WAIT=on every
 * resize point does. The environment's DYNGRID_PROCESSES=background|blocking|join sets it at the start. Collective; not
 * after a growth (DYNGRID_ERR_STATE); DYNGRID_ERR_UNSUPPORTED where it cannot be used. */
enum { DYNGRID_BLOCKING = 0, DYNGRID_JOIN = 1, DYNGRID_BACKGROUND = 2 };
DYNGRID_API int dyngrid_set_processes(int way);
/* Report of the last change of the grid; all zero before the first. Local; the same on all processes of the grid. */
DYNGRID_API int dyngrid_last_resize(dyngrid_resize_report* report);

/* ---- processes that get less of their processor than others ---- */

/* What is done about them: nothing (the default), saying what would help, or doing it at resize points: weighted
 * matrices are dealt out anew, and processes go to sleep and come back where that shortens the steps that are left by
 * more than it costs. The environment's DYNGRID_BALANCE=off|advise|auto sets it at the start. Collective. */
enum { DYNGRID_BALANCE_OFF = 0, DYNGRID_BALANCE_ADVISE = 1, DYNGRID_BALANCE_AUTO = 2 };
DYNGRID_API int dyngrid_set_balance(int mode);
/* Looks now, whatever the mode is, whether giving out the work anew, sending processes to sleep or waking them is worth
 * it, and does what is. Collective. The outcome is that of dyngrid_resize; DYNGRID_SAME when nothing was to be done, or
 * nothing can be said yet: the first call begins to measure, and some steps between resize points have to be known.
 * dyngrid_last_balance says which. DYNGRID_ERR_STATE while new processes are on their way. */
DYNGRID_API int dyngrid_rebalance(void);
/* What was decided last about loaded processes: what was foreseen, and what it was. Seconds of a step are medians. */
typedef struct dyngrid_balance_report {
  int64_t number; /* of those that were asked for, advised or carried out, from 1; 0: none yet, all is 0 */
  int action;     /* DYNGRID_BALANCE_STAY, _REBALANCE, _REMOVE, _TAKE_BACK, _REPLACE (dyngrid/gridmap.h) */
  int is_done;    /* 0: nothing was to be done, it was only said, or it failed */
  int from_nprow, from_npcol, to_nprow, to_npcol;
  int leaves, comes;                  /* processes that go to sleep, that wake */
  int measured_steps;                 /* after it; 0: what it brought is not known yet */
  double before_s, after_s, change_s; /* foreseen: a step without it and with it, and the change itself */
  double measured_before_s, measured_after_s, measured_change_s; /* the same as it was; 0: not known */
  int64_t moved_elements;                                        /* whose owner changes, of the largest matrix */
  int64_t payoff_steps; /* after which it is won back; -1: nothing is to be done */
  double steps;         /* that were counted on */
  char why[160];        /* one line, ends with a null character */
} dyngrid_balance_report;
/* As of the last resize point or dyngrid_rebalance; what it brought follows after five steps. Local; the same on all
 * processes of the grid. */
DYNGRID_API int dyngrid_last_balance(dyngrid_balance_report* report);
/* Optional: marks work of this process, from _begin to _end, by two looks at two clocks each. Of use where the kernel
 * does not count how long threads wait for a processor (`dyngrid doctor` says it): marked work then tells what this
 * process gets. units: how much was done, in a unit of the program that is the same on all processes (cells, rows); 0:
 * not said. Where every process says it, how fast each is on its own is measured, and a balance counts on it, unless
 * the program calls dyngrid_set_speed. Local, on one thread, no communication of the program's in between.
 * DYNGRID_ERR_STATE for two beginnings, or an end without one; DYNGRID_ERR_ARGUMENT for units below 0 or no number. */
DYNGRID_API int dyngrid_work_begin(void);
DYNGRID_API int dyngrid_work_end(double units);
/* Rows, or columns, of unequal work: what `count` rows (axis 'R') or columns ('C') of this process from `first` on
 * (global, from 0, as dyngrid_my_range has them) take of it in a step, in seconds of its processor
 * (CLOCK_THREAD_CPUTIME_ID), or of the wall where that is too coarse. Called each step, or now and then, for each axis
 * along which work is unequal; of the last five times since the loads were last gathered (about once a second, and in
 * dyngrid_rebalance) the least counts for each. A balance then cuts the matrix, and those like it, so that costs over
 * speeds are balanced, exactly on a grid of one row or column; on others an element counts as its row times its column.
 * Costs belong to rows and columns: they stay known through every change of the grid, and what was never told costs the
 * mean. Where processors differ the program says by dyngrid_set_speed or marked work how much. Of use for matrices of
 * dyngrid_matrix_create_weighted in DYNGRID_ORDER_BLOCK. Local. DYNGRID_ERR_NULL; _NOT_FOUND for a handle of no matrix;
 * _UNSUPPORTED for another matrix; _ARGUMENT for another axis, rows or columns that are not this process's, seconds
 * below 0 or no number. */
DYNGRID_API int dyngrid_work_items(const dyngrid_matrix* matrix, char axis, int64_t first, int64_t count,
                                   const double* seconds);
/* What one process gets of its processor. */
typedef struct dyngrid_load {
  int process;      /* its number in the application, the same on every grid */
  int row, col;     /* in the grid; -1 on one that sleeps */
  int is_known;     /* 0: not measured yet, or not told; the rest then says nothing */
  double share;     /* of the time that it wanted; of one that sleeps what it would get: above 0, at most 1 */
  double speed;     /* dyngrid_set_speed's, or a balance's */
  double competing; /* processes of its host that wanted a processor beside it; -1: not known */
  double waited;    /* part of the time that it wanted that it stood in the run queue */
  double throttled; /* part of the time that its control group had no quota left */
  double stolen;    /* part of its processors' time that the host of this virtual machine took */
  double held_s;    /* the share has been what it is for so long */
} dyngrid_load;
/* The loads of the grid's processes, row by row, as they were when they were last gathered: at resize points, about
 * once a second unless DYNGRID_BALANCE is off, else from the first call on. The first `capacity` of them into `loads`;
 * `count` says how many there are, 0 before the first time. On process 0 those that sleep follow. Local. */
DYNGRID_API int dyngrid_loads(dyngrid_load* loads, int capacity, int* count);

/* ---- what others may ask for while it runs (docs/protocol.md; local calls, what process 0 says counts) ---- */

/* The grids that this application can use, for requests from outside: numbers of processes "4:32:*2", "4,9,16", grids
 * "2x2,2x3,3x3", "aspect 2", "rows 1:4", "cols 2:8", several joined by ";" ("4:32:*2; aspect 2"), or "any". Without it:
 * any grid that is named, and where dyngrid chooses, none longer than three times its width. The environment's
 * DYNGRID_ALLOW goes first. The program's own changes are not held to it. */
DYNGRID_API int dyngrid_allow(const char* grids);
/* Steps of the whole run, one between two resize points; 0: not known. With it, a growth from outside that cannot pay
 * off in the steps that are left is declined. The environment's DYNGRID_DECIDE=steps=N goes first. */
DYNGRID_API int dyngrid_set_steps(int64_t steps);
/* Tries these grids in the first steps, "2x2,2x3,3x3@3": three steps on each besides the first one there, and then goes
 * to the quickest. The environment's DYNGRID_DECIDE=experiment=PxQ,... goes first. */
DYNGRID_API int dyngrid_experiment(const char* grids);
/* Name by which `dyngrid resize JOB 3x3` finds this application: DYNGRID_JOB or the number of process 0. "" on other
 * processes. Valid until dyngrid_finalize. */
DYNGRID_API const char* dyngrid_job(void);

/* ---- matrices that follow ---- */

/* An m x n matrix in mb x nb blocks on the current grid from process (0,0), type s d c z i, all elements zero.
 * Collective. On a newcomer, before its first resize point, it declares the matrix, which gets its local array and
 * content there. Names are at most 63 characters, each used once. */
DYNGRID_API int dyngrid_matrix_create(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                      dyngrid_matrix** matrix);
/* How one axis of a matrix lies on a grid: called with sizes null, gives how many block sizes there are for the rows
 * (axis 'R') or columns ('C') of length `length` on an nprow x npcol grid; called again, fills them in and gives the
 * same number. The sizes repeat, block j lies on grid row j mod nprow (grid column j mod npcol), sizes may be 0: nprow
 * (npcol) sizes that add up to length are one block for each. Negative: it cannot be. The same on all processes.
 * dyngrid_rule_speed says how fast they are. */
typedef int64_t (*dyngrid_distribution)(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* As dyngrid_matrix_create, lying as `rule` says on every grid it comes to. A rule that gives one size for the rows and
 * one for the columns makes an ordinary descriptor, which ScaLAPACK takes; otherwise it is of DTYPE_ DYNGRID_DTYPE
 * (dyngrid/redist.h), for everything here and in dyngrid/pblas.h, but not for all of ScaLAPACK. The rule may look at
 * shared state, which newcomers have before it is called. Newcomers must declare such a matrix before their first
 * resize point. */
DYNGRID_API int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule,
                                         void* context, dyngrid_matrix** matrix);
/* How dyngrid_matrix_create_weighted deals out blocks. */
enum {
  DYNGRID_ORDER_BLOCK = 1,  /* one stretch of rows for each grid row, of columns for each grid column */
  DYNGRID_ORDER_CYCLIC = 2, /* in rounds, portions of a stretch each */
  DYNGRID_ORDER_FACTOR = 3  /* for LU and Cholesky: of what is left to factor each has its share at any time */
};
/* As dyngrid_matrix_create, but each grid row and column gets whole blocks (mb rows, nb columns; the last one cut
 * short) in proportion to what its processes can do: dyngrid_set_speed, on every grid that it comes to. Newcomers need
 * no rule for it. Matrices of one size, blocks and order lie alike. Where all speeds are alike it is an ordinary
 * matrix, which ScaLAPACK takes: of mb x nb blocks, or in DYNGRID_ORDER_BLOCK of one block each. dyngrid_my_range has
 * loop bounds. With DYNGRID_BALANCE=auto dyngrid_lu and dyngrid_cholesky may deal it out in DYNGRID_ORDER_FACTOR from
 * then on. Collective. DYNGRID_ERR_ARGUMENT when `order` is none of the three; otherwise as there. */
DYNGRID_API int dyngrid_matrix_create_weighted(const char* name, char type, int64_t m, int64_t n, int64_t mb,
                                               int64_t nb, int order, dyngrid_matrix** matrix);
/* The rows (axis 'R') or columns ('C') of this process: 1 and first <= i < last, global and from 0, of the k-th stretch
 * of neighbours, k from 0; 0 when there are no more, and outside the grid. Local indices go through all of them in this
 * order: for (k = 0, l = 0; dyngrid_my_range(a, 'R', k, &i, &end) == 1; ++k) for (; i < end; ++i, ++l) ... Any matrix;
 * first and last may be null. DYNGRID_ERR_NULL, _ARGUMENT for another axis or k below 0. Local; the first call after a
 * change takes as long as the axis has blocks. */
DYNGRID_API int dyngrid_my_range(const dyngrid_matrix* matrix, char axis, int64_t k, int64_t* first, int64_t* last);
/* How fast this process is, relative to the others: a finite number above 0, which needs no unit; 1 until it is given.
 * It belongs to the process and goes with it through growths, shrinks, sleep and checkpoints (of a checkpoint it is
 * taken on a grid of the same shape, when this run was given none). No data move here: matrices made from now on lie by
 * it, and others after dyngrid_relayout or a change of the grid. Collective over the grid, each process with a number
 * of its own; on a newcomer, or outside the first grid, local and told to the others when it joins.
 * DYNGRID_ERR_ARGUMENT on all when one is 0, negative or not finite: all are as they were. */
DYNGRID_API int dyngrid_set_speed(double speed);
/* What it is now. Local. */
DYNGRID_API double dyngrid_speed(void);
/* Inside a rule (dyngrid_distribution): the speed of the process that stands at (row, col), from 0, of the grid that
 * the rule is asked for; the same on all processes. 0 elsewhere, and outside that grid. So a rule can deal out work
 * that it knows by item to processes that differ. Local. */
DYNGRID_API double dyngrid_rule_speed(int row, int col);
/* The matrix in mb x nb blocks from now on, on this grid and on all later ones, whether it had other blocks, a rule or
 * was dealt out by speed. Its data move, others' do not. Collective, the same on all processes; outcomes as of
 * dyngrid_relayout. Newcomers may declare it as it was made: the block sizes of the others count. DYNGRID_ERR_NULL,
 * _NOT_FOUND, _ARGUMENT when mb or nb is below 1 or above 2^31 - 1, _MISMATCH when processes differ: nothing was
 * changed. On a newcomer or a process outside the first grid: changes what it declared. */
DYNGRID_API int dyngrid_matrix_reblock(dyngrid_matrix* matrix, int64_t mb, int64_t nb);
/* The same with a rule. Newcomers have to give one too, at the creation or by this, before their first resize point. A
 * process that slept meanwhile has not got it when it wakes: at each change it is told what the rule of another says,
 * until the next call of this. DYNGRID_ERR_NOT_FOUND at a change in which nobody takes part who has it. */
DYNGRID_API int dyngrid_matrix_set_rule(dyngrid_matrix* matrix, dyngrid_distribution rule, void* context);
/* A ready-made rule: one block for each process, ceil(length / processes of the axis) long, so that the block size
 * follows the grid; the last process has less, or none, where it does not divide. context is not used. Local. */
DYNGRID_API int64_t dyngrid_block_rule(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes);
/* Local array, column-major, leading dimension LLD_ of the descriptor; null on a process outside the grid. Changes with
 * the grid. */
DYNGRID_API void* dyngrid_local(const dyngrid_matrix* matrix);
/* ScaLAPACK descriptor, nine integers (ten are readable). The pointer stays the same while the matrix lives, the
 * content follows the grid. Of a matrix with a rule: as many integers as it says, and to be asked for again after each
 * change. */
DYNGRID_API const int* dyngrid_desc(const dyngrid_matrix* matrix);
/* My rows and columns. Any pointer may be null. Local. */
DYNGRID_API int dyngrid_matrix_shape(const dyngrid_matrix* matrix, int64_t* m_loc, int64_t* n_loc, int64_t* lld);
/* The matrix of that name, null when there is none. Local. */
DYNGRID_API dyngrid_matrix* dyngrid_matrix_find(const char* name);
/* Ends the matrix and nulls the handle. Collective; null is fine. */
DYNGRID_API int dyngrid_matrix_free(dyngrid_matrix** matrix);
/* All elements of `from` into `to`, a matrix of the same m, n and type that may lie in any other way: from blocks of
 * one size to another, to blocks as a rule says and back. Collective over the current grid; a matrix onto itself does
 * nothing. What it sets up is kept until the grid changes. DYNGRID_ERR_NULL; _NOT_FOUND when one of the handles is of
 * no living matrix; _TYPE, _SHAPE when types or sizes differ; _MISMATCH when processes ask for different copies; _STATE
 * before the first resize point of a newcomer. The same on all processes; `to` is then as it was. */
DYNGRID_API int dyngrid_copy(const dyngrid_matrix* from, dyngrid_matrix* to);

/* ---- phases: parts of a program's cycle, each of which would like its matrices to lie another way ---- */

/* What a phase does with a matrix. DYNGRID_WRITE alone: it overwrites all of it, so that nothing is moved for it. */
enum { DYNGRID_READ = 1, DYNGRID_WRITE = 2 };
typedef struct dyngrid_phase dyngrid_phase;
/* A phase of that name; those of a program are a cycle in the order in which they are made. Local, the same on all
 * processes, before newcomers' first resize point too. It lives until dyngrid_finalize. DYNGRID_ERR_NULL; _ARGUMENT for
 * a name that is used. */
DYNGRID_API int dyngrid_phase_create(const char* name, dyngrid_phase** phase);
/* The phase uses the matrix: DYNGRID_READ, DYNGRID_WRITE or both. Local, the same on all processes. */
DYNGRID_API int dyngrid_phase_uses(dyngrid_phase* phase, dyngrid_matrix* matrix, int use);
/* A layout in which the phase can use the matrix: blocks of mb x nb, on any grid. May be called several times; the
 * phase then runs in the one that is best for the whole cycle. Without it: any layout that another phase names, and
 * the one that the matrix has. Local, the same on all processes. */
DYNGRID_API int dyngrid_phase_layout(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb);
/* The same, lying as a rule says. */
DYNGRID_API int dyngrid_phase_layout_by(dyngrid_phase* phase, dyngrid_matrix* matrix, dyngrid_distribution rule,
                                        void* context);
/* The same, dealt out by the speeds of the processes, as dyngrid_matrix_create_weighted does; order: DYNGRID_ORDER_*.
 * The phase may do with it what its routines do with DTYPE_ 601. Another speed begins anew. */
DYNGRID_API int dyngrid_phase_layout_weighted(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb,
                                              int order);
/* The phase begins: its matrices come into the layout that is planned for it. Arrays and descriptors are to be fetched
 * again. Copies in other layouts stay valid until a phase writes the matrix, so that reading in turns moves nothing.
 * Before there is a plan every combination of layouts is tried, unless an earlier run on this grid has left its times
 * in the history: twice, but once where it takes three times as long as another. A change of the grid, after which
 * matrices lie as they were declared, or of a matrix by another routine, begins anew. Collective; only one phase at a
 * time. DYNGRID_ERR_STATE, _NOT_FOUND, _MISMATCH, _ARGUMENT when a rule fails, _MEMORY: every matrix is whole, as it
 * was or as the phase wants it. */
DYNGRID_API int dyngrid_phase_begin(dyngrid_phase* phase);
/* And ends. What passed in between is its time. Local. */
DYNGRID_API int dyngrid_phase_end(dyngrid_phase* phase);
/* Plans the layouts of all phases for so many cycles more, 0: for a run without an end, by what they took and what
 * moving takes. Happens by itself, for a run without an end, when all was tried, and again when what was measured since
 * says so; after this routine with cycles above 0 no more. Exact for these figures; a layout that never ran is left
 * out. Collective, between phases. DYNGRID_ERR_STATE when a phase never ran on this grid, _ARGUMENT,
 * _MISMATCH, _MEMORY when the bytes that may be kept do not do; the plan is then as it was. Source: Morris, Lowenthal
 * 2001, for the model. */
DYNGRID_API int dyngrid_phases_plan(int64_t cycles);
/* How many bytes, of all processes together, copies of matrices may take beside those in use; -1: any (the default).
 * Local, the same on all processes. */
DYNGRID_API int dyngrid_phases_keep(int64_t bytes);
/* The program wrote the matrix outside a phase that says so: older copies are not valid any more. What dyngrid itself
 * writes (dyngrid_copy, dyngrid_lu, a checkpoint that is restored) it knows. Local, the same on all processes.
 * DYNGRID_ERR_NULL, _NOT_FOUND. */
DYNGRID_API int dyngrid_matrix_written(const dyngrid_matrix* matrix);
/* The phase that ended last, or that runs. */
typedef struct dyngrid_phase_report {
  int candidate, candidates; /* which combination of layouts, of how many; from 0 */
  int is_planned;            /* 0: it was tried */
  double seconds;            /* from its begin to its end, on this process */
  double move_s;             /* before it, with the planning, if any */
  double predicted_s;        /* both, as planned: max over the processes; 0 without a plan */
  int64_t moved_bytes;       /* that changed their process */
} dyngrid_phase_report;
/* Local. DYNGRID_ERR_NULL. */
DYNGRID_API int dyngrid_last_phase(dyngrid_phase_report* report);

/* ---- calls of ScaLAPACK's routines on another grid ---- */

/* The next call of this routine of ScaLAPACK's, "pdgetrf", is carried out on an nprow x npcol grid of the first
 * processes of its context, in square blocks of nb, on copies: what it gives is what the call itself gives, but for
 * rounding. nprow = npcol = 0: on the grid that the call has; nb = 0: in the blocks of its first matrix. "p?getrf" is
 * the routine in any type, "all" any that can be moved, "pdgetrf,pdgetrs" either: the next call of one of them. A call
 * that is asked for its work space is none, nor is one that a routine of ScaLAPACK makes. What cannot be moved stays
 * where it is: a grid larger than the context (said once), no memory for the copies (said once), a call from the 17th
 * group of processes on (said once), arguments that ScaLAPACK would refuse. Goes before DYNGRID_CALLS. Needs no
 * dyngrid_init. Local, and to be said alike by all processes of the context of that call; where they say different
 * things, it stays. Where some say nothing at all the others wait for them in the call, and say so after 10 s.
 * DYNGRID_ERR_ARGUMENT. */
DYNGRID_API int dyngrid_run_on(int nprow, int npcol, int nb, const char* routine);
/* The same for all calls of these routines until dyngrid_run_on_end. Scopes may lie in each other; the innermost that
 * has the routine counts. */
DYNGRID_API int dyngrid_run_on_begin(int nprow, int npcol, int nb, const char* routines);
/* Ends the innermost scope. DYNGRID_ERR_STATE when there is none. */
DYNGRID_API int dyngrid_run_on_end(void);

/* ---- factorizations during which the grid may change ---- */

/* Options of a factorization, to be added. */
enum {
  DYNGRID_GIVE_BACK = 1 /* processes that what is left to factor does not need leave the grid, as after
                         * dyngrid_request */
};
/* A = P L U with partial pivoting, in place: A is m x n of type s d c z, in blocks of any sizes. Each panel (64
 * columns, less where a block ends and another process has the next) begins with a resize point: the program's own
 * requests, those from outside, the timetable, the scheduler and the balancer act there, all registered matrices
 * follow, and the factorization goes on at that panel on the new grid. A change that fails is said on stderr, and it
 * goes on where it was. pivots: min(m, n) integers; on every process, row i changed places with row pivots[i-1],
 * counted from 1, as LAPACK's IPIV. info: 0, or the first i for which U(i,i) is 0, as PDGETRF's; the factorization is
 * complete all the same. Both are the same on all processes.
 *
 * Collective. Outcomes: DYNGRID_SAME; DYNGRID_RESIZED when the grid is not the one of the beginning, or a checkpoint
 * was restored: context, descriptors and local arrays are to be asked for anew; DYNGRID_LEAVE and DYNGRID_REDIRECT as
 * of a resize point, pivots and info are not set then. A newcomer, and a restarted run whose checkpoint was written
 * inside, comes here after it declared its matrices and takes up the work at the panel reached: it must pass no other
 * resize point before. The name of the resize points is "dyngrid_lu:" and the name of A (dyngrid_entry_point). A
 * process that waits or sleeps in the call joins at its panels only: dyngrid_resize of the others, which would wake or
 * start it, is DYNGRID_ERR_STATE on them, and the grid stays. DYNGRID_ERR_NULL, _NOT_FOUND, _TYPE for integers,
 * _ARGUMENT for options, _MISMATCH when processes ask for different ones: A is as it was. */
DYNGRID_API int dyngrid_lu(dyngrid_matrix* a, int options, int* pivots, int* info);
/* A = L L^H (uplo 'L') or U^H U ('U') in place, in the triangle that is given, in the same way; A is n x n. info: 0, or
 * the order of the first leading minor that is not positive definite: A is as after the last panel before it, on all
 * processes. The resize points are called "dyngrid_cholesky:" and the name of A. DYNGRID_ERR_SHAPE when A is not
 * square. */
DYNGRID_API int dyngrid_cholesky(dyngrid_matrix* a, char uplo, int options, int* info);
/* A panel of one of both that is done, as the routine of dyngrid_on_panel is told of it. */
typedef struct dyngrid_panel {
  int64_t first, columns; /* the first of its columns, counted from 0, and how many they are */
  int64_t of;             /* columns that are to be factored in all: min(m, n) */
  int nprow, npcol;       /* the grid on which it was done */
  double seconds;         /* of this process, without the resize point; the next panel may have been factored in it */
  int outcome;            /* of the resize point before it: DYNGRID_SAME, _RESIZED, or the status of a change that
                           * failed, of which dyngrid_last_message tells */
} dyngrid_panel;
typedef void (*dyngrid_panel_routine)(const dyngrid_panel* panel, void* data);
/* Notice of panels: `routine` is called with `data` on every process of the grid after each panel that was done there,
 * before the resize point of the next one, at which a dyngrid_request made inside counts; who leaves or sleeps there is
 * still told. It may communicate over dyngrid_comm(), and read shared state and write it alike everywhere. It must not
 * touch the matrix, part of which may be a panel further, nor free it. Routines that change the grid, dyngrid_lu and
 * _cholesky, dyngrid_checkpoint, _restore and _finalize are refused inside with DYNGRID_ERR_STATE. An exception that
 * leaves it is said on stderr, and the factorization goes on. Another routine takes its place; null: none. Local; make
 * it known on every process, newcomers before the call that they come to. A panel at which Cholesky finds that A is not
 * positive definite is none. A change after the last panel is told to dyngrid_on_change alone. */
DYNGRID_API int dyngrid_on_panel(dyngrid_panel_routine routine, void* data);
/* The pivots of dyngrid_lu as p?getrs wants them on the grid there is: ipiv gets one integer for each row of this
 * process, the first m_loc of its LOCr(M_A) + MB_A. Local; nothing outside the grid. */
DYNGRID_API int dyngrid_lu_pivots(const dyngrid_matrix* a, const int* pivots, int* ipiv);

/* ---- state that every process has ---- */

/* bytes at data are the same on all processes; newcomers get them at their first resize point. Collective. The memory
 * stays the caller's and must live until dyngrid_finalize or dyngrid_unshare. Any length: a growth takes 8 MB more on
 * each process, and as much as the state on a new one that has not said yet where it goes. A new process shares what
 * the others do, or less: it may do so before its first resize point or after it. More than the others is
 * DYNGRID_ERR_MISMATCH, and the growth is refused. */
DYNGRID_API int dyngrid_share(const char* name, void* data, size_t bytes);
DYNGRID_API int dyngrid_unshare(const char* name);

/* ---- checkpoints ---- */

/* Writes all matrices and all shared state to one HDF5 file, which replaces an older one of that name only when it is
 * whole and on the disk: interrupted at any moment, the older one remains. Collective. The path of process 0 counts,
 * seen from its working folder; null is the environment's DYNGRID_CHECKPOINT. DYNGRID_ERR_IO when it cannot be written,
 * DYNGRID_ERR_UNSUPPORTED when dyngrid was built without HDF5; the application is as it was. */
DYNGRID_API int dyngrid_checkpoint(const char* path);
/* Reads them back on the grid there is now, of whatever shape and distribution: every matrix that was made and
 * everything that was shared must be in the file, by name, with the same type and size (block sizes may differ). What
 * the file has and the program has not made yet comes along: dyngrid_matrix_find finds it, dyngrid_share gets its
 * content. Resize points are counted on from where the file was written. Collective. Null is the environment's
 * DYNGRID_RESTORE. DYNGRID_ERR_NOT_FOUND, _IO (truncated, damaged, no checkpoint), _MISMATCH, _UNSUPPORTED: nothing was
 * changed. The environment's checkpoint is taken here or at the first resize point, which returns DYNGRID_RESIZED
 * then and calls what dyngrid_on_change was given: all local arrays have moved, here and there. When it cannot be
 * taken, the run ends with status 1 and the reason, so that no program goes on without it. */
DYNGRID_API int dyngrid_restore(const char* path);
/* 1 from dyngrid_init to the first resize point, or to dyngrid_restore, when the environment's DYNGRID_RESTORE says
 * what this run goes on from: matrices and shared state get their content there, and need no first values. Otherwise 0.
 * Local. */
DYNGRID_API int dyngrid_is_restarted(void);

/* "0.1.0" */
DYNGRID_API const char* dyngrid_version(void);

#ifdef __cplusplus
}
#endif
#endif
