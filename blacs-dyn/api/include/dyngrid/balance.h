/* SPDX-License-Identifier: BSD-3-Clause */
/* Work by speed: matrices dealt out to processes of different speed, and what is done about processes that get less of
 * their processor than others. Statuses, outcomes and "collective" are those of dyngrid.h. */
#ifndef DYNGRID_BALANCE_H
#define DYNGRID_BALANCE_H

#include <stdint.h>

#include "dyngrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrices dealt out by speed ---- */

/* How dyngrid_matrix_create_weighted deals out blocks. */
enum {
  DYNGRID_ORDER_BLOCK = 1,  /* one stretch of rows for each grid row, of columns for each grid column */
  DYNGRID_ORDER_CYCLIC = 2, /* in rounds, portions of a stretch each */
  DYNGRID_ORDER_FACTOR = 3  /* for LU and Cholesky: of what is left to factor each has its share at any time */
};
/* As dyngrid_matrix_create, but each grid row and column gets whole blocks in proportion to the speed of its processes
 * (dyngrid_set_speed). A block has mb rows and nb columns, the last one may have fewer. The proportions hold on every
 * grid, and new processes need no rule for it. Matrices of one size, blocks and order have the same layout. Where all
 * speeds are equal it is an ordinary matrix, which ScaLAPACK accepts: of mb x nb blocks, or in DYNGRID_ORDER_BLOCK of
 * one block for each process. dyngrid_my_range has the loop bounds. With DYNGRID_BALANCE=auto, dyngrid_lu and
 * dyngrid_cholesky may change its order to DYNGRID_ORDER_FACTOR, which it then keeps. Collective.
 * DYNGRID_ERR_ARGUMENT when `order` is none of the three; other errors as of dyngrid_matrix_create. */
DYNGRID_API int dyngrid_matrix_create_weighted(const char* name, char type, int64_t m, int64_t n, int64_t mb,
                                               int64_t nb, int order, dyngrid_matrix** matrix);
/* The rows (axis 'R') or columns ('C') of this process: 1 and first <= i < last, global and from 0, of the k-th stretch
 * of neighbours, k from 0; 0 when there are no more, and outside the grid. Local indices go through all of them in this
 * order: for (k = 0, l = 0; dyngrid_my_range(a, 'R', k, &i, &end) == 1; ++k) for (; i < end; ++i, ++l) ... Any matrix;
 * first and last may be null. DYNGRID_ERR_NULL, _ARGUMENT for another axis or k below 0. Local; the first call after a
 * change takes as long as the axis has blocks. */
DYNGRID_API int dyngrid_my_range(const dyngrid_matrix* matrix, char axis, int64_t k, int64_t* first, int64_t* last);
/* How fast this process is, relative to the others: a finite number above 0, which needs no unit; 1 until it is given.
 * It belongs to the process and stays with it through growths, shrinks, sleep and checkpoints. The speeds of a
 * checkpoint are taken on a grid of the same shape, when this run was given none. No data move here: matrices made from
 * now on use it, and others after dyngrid_relayout or a change of the grid. Collective over the grid, each process with
 * a number of its own. Local on a new process, or outside the first grid; the others receive it when the process joins.
 * DYNGRID_ERR_ARGUMENT on all when one is 0, negative or not finite: all are as they were. */
DYNGRID_API int dyngrid_set_speed(double speed);
/* The current speed of this process. Local. */
DYNGRID_API double dyngrid_speed(void);

/* ---- processes that get less of their processor than others ---- */

/* The action for them: nothing (the default), advice in a message, or action at resize points. The action deals out
 * weighted matrices anew. It sends processes to sleep and wakes them where that shortens the steps that are left by
 * more than it costs. The environment's DYNGRID_BALANCE=off|advise|auto sets it at the start. Collective. */
enum { DYNGRID_BALANCE_OFF = 0, DYNGRID_BALANCE_ADVISE = 1, DYNGRID_BALANCE_AUTO = 2 };
DYNGRID_API int dyngrid_set_balance(int mode);
/* Decides now, whatever the mode is, whether to distribute the work anew, to send processes to sleep or to wake them,
 * and does what is worth its cost. Collective. The outcome is that of dyngrid_resize. DYNGRID_SAME when nothing was to
 * be done, when there are no measurements yet, or when a rule of process 0, which decides, has no answer. The first
 * call starts the measurement, which takes some steps between resize points. dyngrid_last_balance reports which of
 * them. DYNGRID_ERR_STATE while new processes are starting. */
DYNGRID_API int dyngrid_rebalance(void);
/* The last decision about loaded processes, with predicted and measured values. Seconds of a step are medians. */
typedef struct dyngrid_balance_report {
  int64_t number; /* of those that were asked for, advised or carried out, from 1; 0: none yet, all is 0 */
  int action;     /* DYNGRID_BALANCE_STAY, _REBALANCE, _REMOVE, _TAKE_BACK, _REPLACE (dyngrid/gridmap.h) */
  int is_done;    /* 0: nothing was to be done, it was only advised, or it failed */
  int from_nprow, from_npcol, to_nprow, to_npcol;
  int leaves, comes;                  /* processes that go to sleep, that wake */
  int measured_steps;                 /* after it; 0: its effect is not known yet */
  double before_s, after_s, change_s; /* predicted: a step without it and with it, and the change itself */
  double measured_before_s, measured_after_s, measured_change_s; /* the same as measured; 0: not known */
  int64_t moved_elements;                                        /* whose owner changes, of the largest matrix */
  int64_t payoff_steps; /* after which the time saved exceeds the cost; -1: nothing is to be done */
  double steps;         /* number of steps that the decision assumed */
  char why[160];        /* one line, ends with a null character */
} dyngrid_balance_report;
/* As of the last resize point or dyngrid_rebalance; what it brought follows after five steps. Local; the same on all
 * processes of the grid. */
DYNGRID_API int dyngrid_last_balance(dyngrid_balance_report* report);
/* Optional: marks work of this process, from _begin to _end, by two readings of two clocks each. Of use where the
 * kernel does not count how long threads wait for a processor (`dyngrid doctor` reports it): the marked work then shows
 * what this process gets. units: how much was done, in a unit of the program that is the same on all processes (cells,
 * rows); 0: not given. Where every process gives it, the speed of each alone is measured. A balance uses that speed,
 * unless the program calls dyngrid_set_speed. Local, on one thread, no communication of the program's in between.
 * DYNGRID_ERR_STATE for two beginnings, or an end without one; DYNGRID_ERR_ARGUMENT for units below 0 or no number. */
DYNGRID_API int dyngrid_work_begin(void);
DYNGRID_API int dyngrid_work_end(double units);
/* Rows, or columns, of unequal work. `seconds` has the time, in seconds, that each of `count` rows (axis 'R') or
 * columns ('C') of this process from `first` on takes in a step. `first` is global and from 0, as in dyngrid_my_range.
 * The time is that of its processor (CLOCK_THREAD_CPUTIME_ID), or wall-clock time where that clock is too coarse.
 * Called each step, or now and then, for each axis along which work is unequal. The least of the last five times since
 * the loads were last gathered counts for each row or column. Loads
 * are gathered about once a second, and in dyngrid_rebalance. A balance then cuts the matrix, and matrices with the
 * same layout, so that costs over speeds are balanced. This is exact on a grid of one row or column; on others an
 * element counts as its row times its column. Costs belong to rows and columns: they stay known through every change of
 * the grid. Rows and columns without a reported cost have the mean cost. Where processors differ, the program gives
 * their speeds by dyngrid_set_speed or marked work. Of use for matrices of dyngrid_matrix_create_weighted in
 * DYNGRID_ORDER_BLOCK. Local. DYNGRID_ERR_NULL; _NOT_FOUND for a handle of no matrix; _UNSUPPORTED for another matrix;
 * _ARGUMENT for another axis, rows or columns that are not this process's, seconds below 0 or no number. */
DYNGRID_API int dyngrid_work_items(const dyngrid_matrix* matrix, char axis, int64_t first, int64_t count,
                                   const double* seconds);
/* The share of its processor that one process gets. */
typedef struct dyngrid_load {
  int process;      /* its number in the application, the same on every grid */
  int row, col;     /* in the grid in which they were gathered; -1 on one that sleeps */
  int is_known;     /* 0: not measured or not received yet; the rest is not valid then */
  double share;     /* of the time that it asked for; of a sleeping process, what it would get: above 0, at most 1 */
  double speed;     /* dyngrid_set_speed's, or a balance's */
  double competing; /* other runnable processes of its host that competed with it; -1: not known */
  double waited;    /* part of the requested time in which it stood in the run queue */
  double throttled; /* part of the time that its control group had no quota left */
  double stolen;    /* part of its processors' time that the host of this virtual machine took */
  double held_s;    /* seconds for which the share has had this value */
} dyngrid_load;
/* The loads of the grid's processes, row by row, as they were when they were last gathered: at resize points, about
 * once a second unless DYNGRID_BALANCE is off, else from the first call on. The first `capacity` of them into `loads`;
 * `count` says how many there are, 0 before the first time. On process 0 those that sleep follow. Local. */
DYNGRID_API int dyngrid_loads(dyngrid_load* loads, int capacity, int* count);

#ifdef __cplusplus
}
#endif
#endif
