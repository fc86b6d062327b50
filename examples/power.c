/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest eigenvalue by power iteration on a p x q grid. Beside its block of A each process has the part of x that
 * belongs to its columns and the part of y = A x that belongs to its rows: x is whole on each row of the grid, y on
 * each column. A change of the grid brings all three along.
 *
 *   mpicc power.c $(pkg-config --cflags --libs dyngrid) -lm -o power
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 5:2x2,20:1x3 -- ./power */
#include <dyngrid.h>
#include <dyngrid/balance.h>
#include <dyngrid/layout.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void Cdgsum2d(int, const char*, const char*, int, int, double*, int, int, int); /* BLACS has no header */
void Cdgamx2d(int, const char*, const char*, int, int, double*, int, int*, int*, int, int, int);

enum { n = 300, nb = 16, steps = 30 };

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "power: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* (1 + 1/(i+1)) on the diagonal, 1 elsewhere: its largest eigenvalue is a little above n. */
static void fill(dyngrid_matrix* a, dyngrid_matrix* x) {
  double *a_local = dyngrid_local(a), *x_local = dyngrid_local(x);
  int64_t row, row_end, col, col_end, rows, cols, lld, j = 0;
  must(dyngrid_matrix_shape(a, &rows, &cols, &lld));
  for (int l = 0; dyngrid_my_range(a, 'C', l, &col, &col_end) == 1; ++l) /* global columns of this process, from 0 */
    for (; col < col_end; ++col, ++j) {
      int64_t i = 0;
      for (int k = 0; dyngrid_my_range(a, 'R', k, &row, &row_end) == 1; ++k)
        for (; row < row_end; ++row, ++i) a_local[i + j * lld] = row == col ? 1 + 1.0 / (double)(col + 1) : 1;
    }
  for (j = 0; j < cols; ++j) x_local[j] = 1;
}

int main(void) {
  const double one = 1, zero = 0;
  int step = 0;
  double eigenvalue = 0;
  dyngrid_matrix *a, *x, *y;
  must(dyngrid_init());
  must(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a));
  must(dyngrid_matrix_create_on("x", 'd', 1, n, 1, nb, DYNGRID_ON_EACH_ROW, &x));
  must(dyngrid_matrix_create_on("y", 'd', n, 1, nb, 1, DYNGRID_ON_EACH_COLUMN, &y));
  must(dyngrid_share("step", &step, sizeof step));
  if (!dyngrid_is_newcomer() && dyngrid_comm() != MPI_COMM_NULL) fill(a, x);
  for (;; ++step) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE || step == steps) break;
    if (outcome < 0) fprintf(stderr, "power: the grid stays as it is: %s\n", dyngrid_last_message());
    double *a_local = dyngrid_local(a), *x_local = dyngrid_local(x), *y_local = dyngrid_local(y);
    const int context = dyngrid_context();
    int64_t rows, cols, lld;
    must(dyngrid_matrix_shape(a, &rows, &cols, &lld));
    for (int64_t i = 0; i < rows; ++i) y_local[i] = 0;
    for (int64_t j = 0; j < cols; ++j)
      for (int64_t i = 0; i < rows; ++i) y_local[i] += a_local[i + j * lld] * x_local[j];
    Cdgsum2d(context, "Row", " ", (int)rows, 1, y_local, (int)lld, -1, -1); /* the sum over each row of the grid */
    must(dyngrid_add('T', &one, y, &zero, x));                              /* x = y */
    eigenvalue = 0;
    for (int64_t j = 0; j < cols; ++j) eigenvalue = fmax(eigenvalue, fabs(x_local[j]));
    Cdgamx2d(context, "Row", " ", 1, 1, &eigenvalue, 1, NULL, NULL, -1, -1, -1); /* the largest in the row */
    for (int64_t j = 0; j < cols; ++j) x_local[j] /= eigenvalue; /* the same on each row: the copies stay equal */
  }
  if (dyngrid_is_first()) printf("largest eigenvalue %.6f\n", eigenvalue);
  return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
