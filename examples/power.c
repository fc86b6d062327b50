/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest eigenvalue by power iteration, without a call of ScaLAPACK: each process has some rows of A and of y, and
 * all of x. A change of the grid brings all three along.
 *
 *   mpicc power.c $(pkg-config --cflags --libs dyngrid) -lm -o power
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 5:2x2,20:1x3 -- ./power */
#include <dyngrid.h>
#include <dyngrid/balance.h>
#include <dyngrid/layout.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 300, nb = 16, steps = 30 };

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "power: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* (1 + 1/(i+1)) on the diagonal, 1 elsewhere: its largest eigenvalue is a little above n. */
static void fill(dyngrid_matrix* a, dyngrid_matrix* x) {
  double *a_local = dyngrid_local(a), *x_local = dyngrid_local(x);
  int64_t first, end, rows, lld, i = 0;
  must(dyngrid_matrix_shape(a, &rows, NULL, &lld));
  for (int k = 0; dyngrid_my_range(a, 'R', k, &first, &end) == 1; ++k) /* global rows of this process, from 0 */
    for (; first < end; ++first, ++i)
      for (int64_t j = 0; j < n; ++j) a_local[i + j * lld] = first == j ? 1 + 1.0 / (double)(j + 1) : 1;
  for (int64_t j = 0; j < n; ++j) x_local[j] = 1;
}

int main(void) {
  int step = 0;
  double eigenvalue = 0;
  dyngrid_matrix *a, *x, *y;
  must(dyngrid_init());
  must(dyngrid_matrix_create_on("A", 'd', n, n, nb, nb, DYNGRID_ON_COLUMN, &a)); /* some rows on each process */
  must(dyngrid_matrix_create_on("y", 'd', n, 1, nb, 1, DYNGRID_ON_COLUMN, &y));  /* the same rows */
  must(dyngrid_matrix_create_on("x", 'd', n, 1, n, 1, DYNGRID_ON_ALL, &x));      /* the whole on each */
  must(dyngrid_share("step", &step, sizeof step));
  if (!dyngrid_is_newcomer() && dyngrid_comm() != MPI_COMM_NULL) fill(a, x);
  for (; dyngrid_resize_point() != DYNGRID_LEAVE && step < steps; ++step) {
    double *a_local = dyngrid_local(a), *x_local = dyngrid_local(x), *y_local = dyngrid_local(y);
    int64_t rows, lld;
    must(dyngrid_matrix_shape(a, &rows, NULL, &lld));
    for (int64_t i = 0; i < rows; ++i) y_local[i] = 0;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < rows; ++i) y_local[i] += a_local[i + j * lld] * x_local[j];
    must(dyngrid_copy(y, x)); /* every process gets all of y */
    eigenvalue = 0;
    for (int64_t j = 0; j < n; ++j) eigenvalue = fmax(eigenvalue, fabs(x_local[j]));
    for (int64_t j = 0; j < n; ++j) x_local[j] /= eigenvalue; /* the same on all: the copies stay equal */
  }
  if (dyngrid_is_first()) printf("largest eigenvalue %.6f\n", eigenvalue);
  return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
