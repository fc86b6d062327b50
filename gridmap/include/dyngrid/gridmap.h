/* SPDX-License-Identifier: BSD-3-Clause */
/* Grid shapes, placement of processes, mapping onto processors of different speed, choice of processors, balance. Pure
 * mathematics: no MPI, no state, the same answer on every process. Every function but the two payoff functions returns
 * a status (dyngrid/status.h). Outputs are written on success only; an output may be a null pointer. Grids and matrices
 * are row-major. */
#ifndef DYNGRID_GRIDMAP_H
#define DYNGRID_GRIDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Added to a placement (dyngrid/status.h) for dyngrid_place and dyngrid_place_axes: process 0 need not stay at (0,0).
 */
enum { DYNGRID_FREE_FIRST = 64 };

/* Which of two equally good shapes the application prefers. */
enum {
  DYNGRID_PREFER_COLUMNS = 0, /* nprow <= npcol */
  DYNGRID_PREFER_ROWS = 1     /* nprow >= npcol */
};

/* How processors of different speed are put into a grid. */
enum {
  DYNGRID_MAP_BEST = 0,   /* search over arrangements, exact shares; the true optimum on small grids */
  DYNGRID_MAP_SVD = 1,    /* the published heuristic */
  DYNGRID_MAP_NATURAL = 2 /* natural block decomposition, once per dimension */
};

/* How processors are chosen from a list. */
enum {
  DYNGRID_SELECT_BEST = 0,   /* all of the others and a search */
  DYNGRID_SELECT_GLOBAL = 1, /* the strongest that fit, with the replacement step */
  DYNGRID_SELECT_LOCAL = 2,  /* whole new rows and columns */
  DYNGRID_SELECT_MIXED = 3   /* the processors of local, mapped anew */
};

/* What dyngrid_balance_plan would do. */
enum {
  DYNGRID_BALANCE_STAY = 0,      /* nothing */
  DYNGRID_BALANCE_REBALANCE = 1, /* the same processes get other parts */
  DYNGRID_BALANCE_REMOVE = 2,    /* some go to sleep */
  DYNGRID_BALANCE_TAKE_BACK = 3, /* some that sleep come back */
  DYNGRID_BALANCE_REPLACE = 4    /* both */
};

/* One axis of a matrix on one axis of a grid: blocks of sizes[0..n_sizes-1], repeated, cover 0 .. n-1; block j lies on
 * position (src + j) mod nprocs. n_sizes = 1 is block-cyclic. Zero sizes are allowed. */
typedef struct dyngrid_axis {
  int64_t n;
  const int64_t* sizes;
  int n_sizes;
  int src;
  int nprocs;
} dyngrid_axis;

/* ---- topology ---- */

/* What dyngrid_topology_choose is asked. All zero but procs: the shape with the most processes. */
typedef struct dyngrid_topology_request {
  int procs;                  /* available in all, those in use included */
  int from_nprow, from_npcol; /* > 0: rows and columns are only added to this grid */
  int prefer;                 /* DYNGRID_PREFER_* */
  double aspect_p, aspect_q;  /* npcol <= aspect_p * nprow, nprow <= aspect_q * npcol; 0: no limit */
  int64_t data_m, data_n;     /* > 0: pieces of an m x n matrix should be square: m/nprow ~ n/npcol */
  double data_aspect;         /* longest side of a piece over its shortest; 0: 2 */
  const int* valid_procs;     /* allowed nprow * npcol; null: all */
  const int* valid_rows;      /* allowed nprow; null: all */
  const int* valid_cols;      /* allowed npcol; null: all */
  int n_valid_procs, n_valid_rows, n_valid_cols;
  int n_times; /* > 0: the shape with the best time wins, measured or predicted by docs/decisions/0006 */
  const int* time_nprow;
  const int* time_npcol;
  const double* time_seconds;
} dyngrid_topology_request;

/* The shape with the most processes, nprow * npcol <= procs, npcol <= aspect_p * nprow, nprow <= aspect_q * npcol (0:
 * no limit). from_nprow x from_npcol > 0: only by adding rows and columns to this grid. */
DYNGRID_API int dyngrid_topology(int procs, double aspect_p, double aspect_q, int from_nprow, int from_npcol,
                                 int* nprow, int* npcol);
/* The full question. seconds: measured or interpolated, -1 without times. why: at most why_size characters with the
 * closing 0: why this shape and why processes stay idle. DYNGRID_ERR_NOT_FOUND when no shape is allowed. */
DYNGRID_API int dyngrid_topology_choose(const dyngrid_topology_request* request, int* nprow, int* npcol,
                                        double* seconds, char* why, size_t why_size);
/* Reads "4:32:*2", "1,2,4,9", "2:10:2" into values, ascending. count: how many there are, also when they are more than
 * capacity, which is DYNGRID_ERR_SHAPE. */
DYNGRID_API int dyngrid_parse_set(const char* text, int capacity, int* values, int* count);

/* ---- placement ---- */

/* The process at each position of the new nprow_to x npcol_to grid (grid: that many ints). Old processes are numbered 0
 * .. P-1 row-major, new ones P, P+1, ... The data is an m x n matrix in mb x nb blocks from process (0,0); mb or nb 0:
 * one block each, ceil(m/nprow) rows. The counts are elements: whose owner changes, whose owner stays, largest received
 * and sent over processes. Process 0 stays at (0,0), unless DYNGRID_FREE_FIRST is added to the placement. */
DYNGRID_API int dyngrid_place(int nprow_from, int npcol_from, int nprow_to, int npcol_to, int64_t m, int64_t n,
                              int64_t mb, int64_t nb, int placement, int* grid, int64_t* moved, int64_t* retained,
                              int64_t* max_in, int64_t* max_out);
/* The same for any distribution before and after. stay_bonus: null or one value per old process, elements that it is
 * worth to keep it when the grid shrinks. kept, in, out: elements per process, as many as the larger grid has
 * processes. */
DYNGRID_API int dyngrid_place_axes(const dyngrid_axis* rows_from, const dyngrid_axis* cols_from,
                                   const dyngrid_axis* rows_to, const dyngrid_axis* cols_to, int placement,
                                   const int64_t* stay_bonus, int* grid, int64_t* moved, int64_t* retained,
                                   int64_t* max_in, int64_t* max_out, int64_t* kept, int64_t* in, int64_t* out);

/* ---- mapping onto processors of different speed ---- */

/* Arranges nprow * npcol processors and gives every grid row and column its share of an m x n matrix. speeds: from
 * 1e-150 to 1e150, the largest at most 1e12 times the smallest.
 * order: nprow * npcol, index of the processor at each position. r, c: continuous shares, r[i] * c[j] <= speed at
 * (i,j). rows, cols: whole numbers that add up to m and n. t_continuous: m*n / (sum r * sum c). t_theory: largest
 * rows*cols/speed. */
DYNGRID_API int dyngrid_map(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method, int* order,
                            double* r, double* c, int64_t* rows, int64_t* cols, double* t_continuous, double* t_theory);
/* The same with every processor staying where it is: speeds are those of the grid, row-major. */
DYNGRID_API int dyngrid_map_in_place(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method,
                                     double* r, double* c, int64_t* rows, int64_t* cols, double* t_continuous,
                                     double* t_theory);
/* n, at most 2^53, in parts proportional to the speeds, largest remainder, at least 1 each when n >= count. */
DYNGRID_API int dyngrid_natural_blocks(int64_t n, int count, const double* speeds, int64_t* sizes);
/* Which of `count` positions with these speeds has each of `blocks` blocks of one axis (owners: that many ints), so
 * that an LU or Cholesky factorization is balanced in all its steps: of the blocks that are left each position has its
 * share at any time. The sum over all steps is the least there is. */
DYNGRID_API int dyngrid_factor_order(int64_t blocks, int count, const double* speeds, int* owners);
/* The order of the rows and columns of a new grid (sizes rows[nprow], cols[npcol], process at each place in grid) in
 * which most elements stay. row_order[0] is the row that comes first. */
DYNGRID_API int dyngrid_order_grid(const dyngrid_axis* rows_from, const dyngrid_axis* cols_from, int nprow,
                                   const int64_t* rows, int npcol, const int64_t* cols, const int* grid, int* row_order,
                                   int* col_order, int64_t* retained);

/* ---- choice of processors ---- */

/* Chooses from `count` free processors, their speeds together at most tpp, and maps them and the nprow x npcol grid in
 * use onto a new grid. chosen: up to count indices into available, n_chosen of them. order: up to nprow*npcol + count;
 * old processor k is k, free processor i is nprow*npcol + i. rows, cols: up to nprow*npcol + count each. t: m*n / (sum
 * r * sum c). */
DYNGRID_API int dyngrid_select(int nprow, int npcol, const double* grid, int count, const double* available, double tpp,
                               int strategy, int64_t m, int64_t n, int* n_chosen, int* chosen, int* new_nprow,
                               int* new_npcol, int* order, int64_t* rows, int64_t* cols, double* tpp_used, double* t);

/* ---- balance ---- */

/* What dyngrid_balance_plan is asked. All zero but grid, processes, speeds, m and n: all of a step is work, a second
 * for each place, and 50 steps are counted on. */
typedef struct dyngrid_balance_request {
  int nprow, npcol;      /* the grid there is */
  int n_processes;       /* in the grid and parked */
  const double* speeds;  /* of each: work per second that it does now, relative, above 0 */
  const double* shares;  /* part of its processor that each gets, above 0, at most 1; null: 1 */
  const int* places;     /* of each, row-major in the grid; -1: it sleeps. Null: process k at place k, others sleep */
  int64_t m, n;          /* the matrix that is spread, in elements */
  int64_t mb, nb;        /* its blocks; 0: one block for each process */
  int is_weighted;       /* not 0: it can be dealt out by speed */
  double work_s;         /* a step: seconds of all work at speed 1 */
  double fixed_s;        /* what no grid makes shorter */
  double border_s;       /* messages that are as long on every grid */
  double volume_s;       /* messages that take this times 1/p + 1/q */
  double messages_s;     /* messages that take this times p + q */
  double processor_part; /* of messages, 0 .. 1: so much of them takes 1/share times as long */
  double step_s;         /* measured on the grid there is, corrects all of these; 0: not known */
  int64_t steps_left;    /* 0: not known */
  double change_s;       /* what any change takes; 0: worked out from what moves */
} dyngrid_balance_request;

/* Whether to deal the work out anew, to send processes to sleep or to take them back: the choice with the least
 * steps_left * step + change, among those that save 5 % of a step and 1 % of the time left; where steps_left is not
 * known, those that save 5 % of a step, and their cost within 25 steps. action: DYNGRID_BALANCE_*. order: up to
 * n_processes, the process at each place of the new grid. rows, cols: up to n_processes each. step_s: predicted, now
 * and then. payoff_steps: -1 where nothing is done. why: at most why_size characters with the closing 0. */
DYNGRID_API int dyngrid_balance_plan(const dyngrid_balance_request* request, int* action, int* nprow, int* npcol,
                                     int* order, int64_t* rows, int64_t* cols, double* step_now_s, double* step_then_s,
                                     double* change_s, int64_t* payoff_steps, char* why, size_t why_size);

/* ---- cutting items of unequal cost ---- */

/* Cuts `count` items in a row into one stretch for each of nprocs processes, so that the slowest takes the least time.
 * Exact, after Pinar, Tabak, Aykanat 2008. costs: of each item, in seconds at speed 1, at least 0. speeds: of each
 * process, above 0; null: all 1. first: nprocs + 1 indices; process k has items first[k] .. first[k+1]-1. seconds: of
 * the slowest. */
DYNGRID_API int dyngrid_cut(int64_t count, const double* costs, int nprocs, const double* speeds, int64_t* first,
                            double* seconds);
/* The same for m x n cells on an nprow x npcol grid: each grid row gets a stretch of rows, each grid column one of
 * columns. costs: row-major, m * n. speeds: row-major, nprow * npcol; null: all 1. first_row, first_col: nprow + 1 and
 * npcol + 1 indices. Rows exact for the columns and columns for the rows, in turn, after Nicol 1994: never slower than
 * equal stretches, exact on one grid row or column. The differences of the indices are what a rule gives
 * (dyngrid_matrix_create_by). */
DYNGRID_API int dyngrid_cut_cells(int64_t m, int64_t n, const double* costs, int nprow, int npcol, const double* speeds,
                                  int64_t* first_row, int64_t* first_col, double* seconds);

/* ---- figures of merit ---- */

/* Both are of times that the caller has measured or guessed, and predict none themselves. A running program and
 * `dyngrid plan decision` go by dyngrid_payoff_point, with step times and a cost of the change that dyngrid measures or
 * predicts. */

/* Steps after which a resize of t_resize seconds has paid for itself: ceil(t_resize / (t_old - t_new)), steps of t_old
 * and t_new seconds before and after; -1 for never, and for times that are negative or not finite. Chinnusamy 2004,
 * section 5.3.1. */
DYNGRID_API int64_t dyngrid_payoff_point(double t_resize, double t_old, double t_new);
/* Steps of the new grid that the resize took: ceil(t_resize / t_new); -1 as above. Chinnusamy 2004, section 5.3.2. */
DYNGRID_API int64_t dyngrid_resize_cost(double t_resize, double t_new);

#ifdef __cplusplus
}
#endif
#endif
