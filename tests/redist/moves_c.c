/* SPDX-License-Identifier: BSD-3-Clause */
/* Executors in C on 4 processes: windows, transposition, several matrices in one round, start/finish, in place, every
 * transport. Where each element belongs is dealt out one index at a time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../expect.h"
#include "dyngrid/redist.h"

enum { M = 23, N = 17, MOST = 64 };

static int rank;

typedef struct axis {
  int n, nsizes, nprocs, src, sizes[4];
  int owner[MOST], local[MOST], share[4];
} axis;

static void deal(axis* a) {
  int i = 0, j, k;
  memset(a->share, 0, sizeof a->share);
  for (j = 0; i < a->n; ++j)
    for (k = 0; k < a->sizes[j % a->nsizes] && i < a->n; ++k, ++i) {
      const int p = (a->src + j) % a->nprocs;
      a->owner[i] = p;
      a->local[i] = a->share[p]++;
    }
}

typedef struct matrix { /* of doubles; ranks row-major */
  axis rows, cols;
  dyngrid_layout* layout;
  int p, q, lld;
  double* at;
} matrix;

static void set_up(matrix* a) {
  int desc[DYNGRID_DESC_LENGTH(4, 4)] = {DYNGRID_DTYPE, -1}, k, length = DYNGRID_DESC_FIXED;
  deal(&a->rows);
  deal(&a->cols);
  desc[2] = a->rows.n;
  desc[3] = a->cols.n;
  desc[4] = a->rows.nsizes;
  desc[5] = a->cols.nsizes;
  desc[6] = a->rows.src;
  desc[7] = a->cols.src;
  desc[8] = MOST;
  for (k = 0; k < a->rows.nsizes; ++k) desc[length++] = a->rows.sizes[k];
  for (k = 0; k < a->cols.nsizes; ++k) desc[length++] = a->cols.sizes[k];
  EXPECT(dyngrid_layout_create(desc, a->rows.nprocs, a->cols.nprocs, NULL, &a->layout) == DYNGRID_SUCCESS);
  a->p = rank / a->cols.nprocs;
  a->q = rank % a->cols.nprocs;
  a->lld = a->rows.share[a->p] + 3;
}

static size_t bytes_of(const matrix* a) {
  return sizeof(double) * (size_t)(a->lld * a->cols.share[a->q] + 1);
}
static double value(int i, int j) {
  return i * 1000 + j + 1;
}

static void fill(matrix* a, int with_values) {
  int i, j;
  for (i = 0; (size_t)i < bytes_of(a) / sizeof(double); ++i) a->at[i] = -1;
  if (!with_values) return;
  for (j = 0; j < a->cols.n; ++j)
    for (i = 0; i < a->rows.n; ++i)
      if (a->rows.owner[i] == a->p && a->cols.owner[j] == a->q)
        a->at[a->rows.local[i] + a->cols.local[j] * a->lld] = value(i, j);
}

/* Element (i, j) of the target's window, m x n from (it, jt) on, is that of the source's from (is, js) on; all others
 * are as before. */
static int wrong_places(const matrix* b, int it, int jt, int m, int n, int is, int js, int turned) {
  const size_t count = bytes_of(b) / sizeof(double);
  double* wanted = malloc(count * sizeof *wanted);
  int i, j, wrong = 0;
  size_t k;
  for (k = 0; k < count; ++k) wanted[k] = -1;
  for (j = 0; j < n; ++j)
    for (i = 0; i < m; ++i)
      if (b->rows.owner[it + i] == b->p && b->cols.owner[jt + j] == b->q)
        wanted[b->rows.local[it + i] + b->cols.local[jt + j] * b->lld] =
            turned ? value(is + j, js + i) : value(is + i, js + j);
  for (k = 0; k < count; ++k) wrong += wanted[k] != b->at[k];
  free(wanted);
  return wrong;
}

/* Elements of b that are not alpha value + beta (-1). */
static int wrong_sums(const matrix* b, double alpha, double beta) {
  int i, j, wrong = 0;
  for (j = 0; j < b->cols.n; ++j)
    for (i = 0; i < b->rows.n; ++i)
      if (b->rows.owner[i] == b->p && b->cols.owner[j] == b->q)
        wrong += b->at[b->rows.local[i] + b->cols.local[j] * b->lld] != alpha * value(i, j) - beta;
  return wrong;
}

int main(int argc, char** argv) {
  static matrix a = {{M, 3, 2, 1, {3, 0, 2}, {0}, {0}, {0}}, {N, 1, 2, 0, {4}, {0}, {0}, {0}}, NULL, 0, 0, 0, NULL};
  static matrix b = {{M, 1, 1, 0, {5}, {0}, {0}, {0}}, {N, 2, 4, 2, {1, 3}, {0}, {0}, {0}}, NULL, 0, 0, 0, NULL};
  static matrix t = {{N, 2, 4, 1, {2, 1}, {0}, {0}, {0}}, {M, 1, 1, 0, {7}, {0}, {0}, {0}}, NULL, 0, 0, 0, NULL};
  const dyngrid_executor_options options[] = {{DYNGRID_TRANSPORT_AUTO, 0, 0},
                                              {DYNGRID_TRANSPORT_MPI, 0, 20000},
                                              {DYNGRID_TRANSPORT_SHARED, 0, 65536},
                                              {DYNGRID_TRANSPORT_AUTO, 1, 0}};
  int which, schedule, all, done;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  set_up(&a);
  set_up(&b);
  set_up(&t);
  for (which = 0; which < 4; ++which) {
    dyngrid_executor_options how = options[which];
    dyngrid_executor* executor = NULL;
    if (how.host_key == 1) how.host_key = rank % 2; /* as if on two hosts */
    EXPECT(dyngrid_executor_create(MPI_COMM_WORLD, which == 0 ? NULL : &how, &executor) == DYNGRID_SUCCESS);
    for (schedule = DYNGRID_SCHEDULE_AUTO; schedule <= DYNGRID_SCHEDULE_ASYNC; ++schedule) {
      dyngrid_plan *whole = NULL, *window = NULL, *turned = NULL;
      dyngrid_execute_report report;
      dyngrid_transfer list[3];
      dyngrid_array *from = NULL, *to = NULL, *to_turned = NULL;
      int64_t kept = 0, out = 0;
      EXPECT(dyngrid_plan_create(a.layout, b.layout, 'N', schedule, 8, &whole) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_plan_create_window(a.layout, 2, 3, b.layout, 5, 1, 11, 9, 'N', schedule, 8, &window) ==
             DYNGRID_SUCCESS);
      EXPECT(dyngrid_plan_create_window(a.layout, 4, 1, t.layout, 0, 2, 16, 19, 'T', schedule, 8, &turned) ==
             DYNGRID_SUCCESS);
      EXPECT(dyngrid_array_create((int64_t)bytes_of(&a), schedule % 3, &from) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_array_create((int64_t)bytes_of(&b), DYNGRID_SHARING_NO, &to) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_array_create((int64_t)bytes_of(&t), DYNGRID_SHARING_YES, &to_turned) == DYNGRID_SUCCESS);
      a.at = dyngrid_array_data(from);
      b.at = dyngrid_array_data(to);
      t.at = dyngrid_array_data(to_turned);
      fill(&a, 1);
      fill(&b, 0);
      fill(&t, 0);
      memset(list, 0, sizeof list);
      list[0].plan = whole;
      list[0].from = a.at;
      list[0].lld_from = a.lld;
      list[0].to = b.at;
      list[0].lld_to = b.lld;
      list[0].type = 'd';
      EXPECT(dyngrid_execute(executor, 1, list, &report) == DYNGRID_SUCCESS);
      EXPECT(wrong_places(&b, 0, 0, M, N, 0, 0, 0) == 0);
      EXPECT(dyngrid_plan_of_rank(whole, rank, NULL, NULL, &out, NULL, &kept) == DYNGRID_SUCCESS);
      EXPECT(report.bytes_out == 8 * out && report.bytes_kept == 8 * kept && report.peak_bytes <= 6 << 20);

      /* b := -2 a + 3 b; every element of b has the same value before */
      fill(&b, 0);
      {
        const double alpha = -2, beta = 3, one = 1, zero = 0;
        dyngrid_scaling by = {&alpha, &beta}, none = {NULL, &beta}, differs = {&alpha, rank == 1 ? &one : &beta};
        dyngrid_scaling copy = {&one, &zero};
        EXPECT(dyngrid_execute_scaled(executor, 1, list, &by, &report) == DYNGRID_SUCCESS);
        EXPECT(wrong_sums(&b, alpha, beta) == 0);
        EXPECT(report.bytes_out == 8 * out && report.bytes_kept == 8 * kept);
        EXPECT(dyngrid_execute_scaled(executor, 1, list, NULL, NULL) == DYNGRID_ERR_NULL);
        EXPECT(dyngrid_execute_scaled(executor, 1, list, rank == 2 ? &none : &by, NULL) == DYNGRID_ERR_NULL);
        EXPECT(dyngrid_execute_scaled(executor, 1, list, &differs, NULL) == DYNGRID_ERR_MISMATCH);
        EXPECT(wrong_sums(&b, alpha, beta) == 0);
        EXPECT(dyngrid_execute_scaled(executor, 1, list, &copy, NULL) == DYNGRID_SUCCESS);
        EXPECT(wrong_places(&b, 0, 0, M, N, 0, 0, 0) == 0);
      }

      /* two matrices in one round, computing meanwhile */
      fill(&b, 0);
      list[0].plan = window;
      list[1] = list[0];
      list[1].plan = turned;
      list[1].to = t.at;
      list[1].lld_to = t.lld;
      EXPECT(dyngrid_execute_start(executor, 2, list) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_execute_start(executor, 2, list) == DYNGRID_ERR_STATE);
      for (done = 0; !done;) EXPECT(dyngrid_execute_advance(executor, &done) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_execute_finish(executor, NULL) == DYNGRID_SUCCESS);
      EXPECT(wrong_places(&b, 5, 1, 11, 9, 2, 3, 0) == 0);
      EXPECT(wrong_places(&t, 0, 2, 16, 19, 4, 1, 1) == 0);

      /* one rank is wrong: everybody's error, and the next exchange works */
      list[0].plan = whole;
      if (rank == 1) list[0].type = 'q';
      EXPECT(dyngrid_execute(executor, 1, list, NULL) == DYNGRID_ERR_TYPE);
      list[0].type = 'd';
      EXPECT(dyngrid_execute(executor, rank == 2 ? -1 : 1, list, NULL) == DYNGRID_ERR_ARGUMENT);
      EXPECT(dyngrid_execute(executor, 1, NULL, NULL) == DYNGRID_ERR_NULL);
      EXPECT(dyngrid_execute(executor, 1, rank == 0 ? NULL : list, NULL) == DYNGRID_ERR_NULL);
      if (rank == 3) list[0].plan = NULL;
      EXPECT(dyngrid_execute(executor, 1, list, NULL) == DYNGRID_ERR_NULL);
      EXPECT(dyngrid_execute_start(executor, 1, list) == DYNGRID_ERR_NULL);
      EXPECT(dyngrid_execute_in_place(executor, 1, list, 3, NULL) == DYNGRID_ERR_NULL);
      list[0].plan = whole;
      fill(&b, 0);
      EXPECT(dyngrid_execute_in_place(executor, 1, list, 3, &report) == DYNGRID_SUCCESS);
      EXPECT(wrong_places(&b, 0, 0, M, N, 0, 0, 0) == 0);
      EXPECT(dyngrid_array_destroy(&from) == DYNGRID_SUCCESS && from == NULL);
      EXPECT(dyngrid_array_destroy(&to) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_array_destroy(&to_turned) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_plan_destroy(&whole) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_plan_destroy(&window) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_plan_destroy(&turned) == DYNGRID_SUCCESS);
    }
    EXPECT(dyngrid_executor_destroy(&executor) == DYNGRID_SUCCESS && executor == NULL);
  }
  {
    dyngrid_plan* plan = NULL;
    dyngrid_executor* executor = NULL;
    dyngrid_executor_options wrong = {7, 0, 0};
    EXPECT(dyngrid_plan_create_window(a.layout, 20, 0, b.layout, 0, 0, 4, 1, 'N', 0, 8, &plan) ==
               DYNGRID_ERR_ARGUMENT &&
           plan == NULL);
    EXPECT(dyngrid_plan_create_window(a.layout, 0, 0, b.layout, 0, 0, -1, 1, 'N', 0, 8, &plan) == DYNGRID_ERR_ARGUMENT);
    EXPECT(dyngrid_executor_create(MPI_COMM_WORLD, rank == 3 ? &wrong : NULL, &executor) == DYNGRID_ERR_ARGUMENT &&
           executor == NULL);
    wrong.transport = DYNGRID_TRANSPORT_MPI; /* none is wrong, but they differ */
    EXPECT(dyngrid_executor_create(MPI_COMM_WORLD, rank == 3 ? &wrong : NULL, &executor) == DYNGRID_ERR_MISMATCH &&
           executor == NULL);
    EXPECT(dyngrid_array_data(NULL) == NULL);
  }
  dyngrid_layout_destroy(&a.layout);
  dyngrid_layout_destroy(&b.layout);
  dyngrid_layout_destroy(&t.layout);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
