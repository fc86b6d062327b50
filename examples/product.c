/* SPDX-License-Identifier: BSD-3-Clause */
/* C = A B, step after step, on a grid that may change between two steps. The same program as product.cpp, product.f and
 * product.f90.
 *
 *   mpicc product.c $(pkg-config --cflags --libs dyngrid) -o product
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./product */
#include <dyngrid.h>
#include <stdio.h>
#include <stdlib.h>

/* ScaLAPACK has no header. */
void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdgemm_(const char*, const char*, const int* m, const int* n, const int* k, const double* alpha, const double* a,
             const int* ia, const int* ja, const int* desca, const double* b, const int* ib, const int* jb,
             const int* descb, const double* beta, double* c, const int* ic, const int* jc, const int* descc);
void Cdgsum2d(int context, const char* scope, const char* topology, int m, int n, double* a, int lda, int row, int col);

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "product: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(void) {
  const int n = 60, nb = 8, steps = 4, i1 = 1;
  const double one = 1, zero = 0;
  int step = 0, nprow, npcol, i, j;
  dyngrid_matrix *a, *b, *c;
  must(dyngrid_init());                                    /* a new process joins the others here */
  must(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a)); /* lives on the grid and follows it */
  must(dyngrid_matrix_create("B", 'd', n, n, nb, nb, &b));
  must(dyngrid_matrix_create("C", 'd', n, n, nb, nb, &c));
  must(dyngrid_share("step", &step, sizeof step)); /* all processes have it, new ones get it */
  if (!dyngrid_is_newcomer() && dyngrid_local(a))
    for (j = 1; j <= n; ++j)
      for (i = 1; i <= n; ++i) {
        const double a_ij = (i + 2 * j) % 7, b_ij = (3 * i + j) % 5;
        pdelset_(dyngrid_local(a), &i, &j, dyngrid_desc(a), &a_ij);
        pdelset_(dyngrid_local(b), &i, &j, dyngrid_desc(b), &b_ij);
      }
  for (;; ++step) {
    const int outcome = dyngrid_resize_point(); /* the grid may change here and nowhere else */
    if (outcome == DYNGRID_LEAVE || step == steps) break;
    if (outcome < 0) fprintf(stderr, "product: the grid stays as it is: %s\n", dyngrid_last_message());
    pdgemm_("N", "N", &n, &n, &n, &one, dyngrid_local(a), &i1, &i1, dyngrid_desc(a), dyngrid_local(b), &i1, &i1,
            dyngrid_desc(b), &zero, dyngrid_local(c), &i1, &i1, dyngrid_desc(c));
    int64_t rows, columns, lld, ii, jj;
    double sum = 0;
    must(dyngrid_matrix_shape(c, &rows, &columns, &lld));
    for (jj = 0; jj < columns; ++jj)
      for (ii = 0; ii < rows; ++ii) sum += ((double*)dyngrid_local(c))[ii + jj * lld];
    Cdgsum2d(dyngrid_context(), "All", " ", 1, 1, &sum, 1, -1, -1); /* the BLACS work as ever */
    must(dyngrid_grid(&nprow, &npcol, NULL, NULL));
    if (dyngrid_is_first()) printf("step %d on %d x %d: sum of C = %.0f\n", step, nprow, npcol, sum);
  }
  return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
