/* SPDX-License-Identifier: BSD-3-Clause */
/* A small problem first, on whatever grid there is; then a larger one that wants at least four processes. Until the
 * scheduler has them the job sleeps, and its matrices are where they were.
 *
 *   mpicc need.c $(pkg-config --cflags --libs dyngrid) -o need
 *   dyngrid-sched --procs 4 & dyngrid submit --allow 1:4 --wait -- ./need
 *
 * Without dyngrid-sched, as `dyngrid run -np 1 -- ./need`, it gets a status: no scheduler could grant them. */
#include <dyngrid.h>
#include <dyngrid/control.h>
#include <stdio.h>
#include <stdlib.h>

void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdgemm_(const char*, const char*, const int* m, const int* n, const int* k, const double* alpha, const double* a,
             const int* ia, const int* ja, const int* desca, const double* b, const int* ib, const int* jb,
             const int* descb, const double* beta, double* c, const int* ic, const int* jc, const int* descc);
void Cdgsum2d(int context, const char* scope, const char* topology, int m, int n, double* a, int lda, int row, int col);

static double sum_of_square(dyngrid_matrix* a, dyngrid_matrix* c, int n) {
  const int i1 = 1;
  const double one = 1, zero = 0;
  int64_t rows = 0, columns = 0, lld = 1, i, j;
  double sum = 0;
  pdgemm_("N", "N", &n, &n, &n, &one, dyngrid_local(a), &i1, &i1, dyngrid_desc(a), dyngrid_local(a), &i1, &i1,
          dyngrid_desc(a), &zero, dyngrid_local(c), &i1, &i1, dyngrid_desc(c));
  dyngrid_matrix_shape(c, &rows, &columns, &lld);
  for (j = 0; j < columns; ++j)
    for (i = 0; i < rows; ++i) sum += ((double*)dyngrid_local(c))[i + j * lld];
  Cdgsum2d(dyngrid_context(), "All", " ", 1, 1, &sum, 1, -1, -1);
  return sum;
}

int main(void) {
  const int n = 60, nb = 8;
  int i, j, nprow, npcol, outcome;
  dyngrid_matrix *a, *c;
  if (dyngrid_init() < 0 || dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a) < 0 ||
      dyngrid_matrix_create("C", 'd', n, n, nb, nb, &c) < 0) {
    fprintf(stderr, "need: %s\n", dyngrid_last_message());
    return EXIT_FAILURE;
  }
  if (!dyngrid_is_newcomer() && dyngrid_local(a)) {
    for (j = 1; j <= n; ++j)
      for (i = 1; i <= n; ++i) {
        const double value = (i + 2 * j) % 7;
        pdelset_(dyngrid_local(a), &i, &j, dyngrid_desc(a), &value);
      }
    const double sum = sum_of_square(a, c, n);
    dyngrid_grid(&nprow, &npcol, NULL, NULL);
    if (dyngrid_is_first()) printf("on %d x %d: %.0f\n", nprow, npcol, sum), fflush(stdout);
  }
  outcome = dyngrid_need("4:16"); /* new processes join here */
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  if (outcome < 0) {
    if (dyngrid_is_first()) fprintf(stderr, "need: %s\n", dyngrid_last_message());
    dyngrid_finalize();
    return EXIT_FAILURE;
  }
  const double sum = sum_of_square(a, c, n);
  dyngrid_grid(&nprow, &npcol, NULL, NULL);
  if (dyngrid_is_first()) printf("on %d x %d: %.0f\n", nprow, npcol, sum);
  return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
