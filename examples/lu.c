/* SPDX-License-Identifier: BSD-3-Clause */
/* A x = b by one factorization, during which the grid may change before every panel.
 *
 *   mpicc lu.c $(pkg-config --cflags --libs dyngrid) -o lu
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,4:1x3 -- ./lu */
#include <dyngrid.h>
#include <dyngrid/factor.h>
#include <stdio.h>
#include <stdlib.h>

/* ScaLAPACK has no header. */
void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdgetrs_(const char*, const int* n, const int* nrhs, const double* a, const int* ia, const int* ja,
              const int* desca, const int* ipiv, double* b, const int* ib, const int* jb, const int* descb, int* info);

enum { n = 200, nb = 16 };

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "lu: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* b is chosen so that all of x is 1. */
static void fill(dyngrid_matrix* a, dyngrid_matrix* b) {
  const int i1 = 1;
  for (int i = 1; i <= n; ++i) {
    double sum = 0;
    for (int j = 1; j <= n; ++j) {
      const double a_ij = i * 31 % 17 + j * 13 % 19 + (i + j) * (i + j) % 23 + (i + 1 == j ? n : 0);
      pdelset_(dyngrid_local(a), &i, &j, dyngrid_desc(a), &a_ij);
      sum += a_ij;
    }
    pdelset_(dyngrid_local(b), &i, &i1, dyngrid_desc(b), &sum);
  }
}

int main(void) {
  const int order = n, i1 = 1;
  int pivots[n], ipiv[n + nb], info = 0, nprow, npcol;
  int64_t rows, columns;
  double off = 0;
  dyngrid_matrix *a, *b;
  must(dyngrid_init()); /* a new process joins the others here, */
  must(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a));
  must(dyngrid_matrix_create("b", 'd', n, 1, nb, nb, &b));
  if (!dyngrid_is_newcomer() && dyngrid_local(a)) fill(a, b);
  const int outcome = dyngrid_lu(a, 0, pivots, &info); /* and here, at the panel that was reached */
  must(outcome);
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  must(dyngrid_lu_pivots(a, pivots, ipiv)); /* as ScaLAPACK wants them on the grid that there is now */
  pdgetrs_("N", &order, &i1, dyngrid_local(a), &i1, &i1, dyngrid_desc(a), ipiv, dyngrid_local(b), &i1, &i1,
           dyngrid_desc(b), &info);
  must(dyngrid_matrix_shape(b, &rows, &columns, NULL));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double d = ((double*)dyngrid_local(b))[i] - 1;
    if (!(d * d <= off)) off = d * d;
  }
  MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  must(dyngrid_grid(&nprow, &npcol, NULL, NULL));
  if (dyngrid_is_first()) printf("ended on %d x %d: x is %s\n", nprow, npcol, off < 1e-18 ? "right" : "WRONG");
  return dyngrid_finalize() < 0 || !(off < 1e-18) ? EXIT_FAILURE : EXIT_SUCCESS;
}
