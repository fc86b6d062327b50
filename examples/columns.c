/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of a sparse matrix as one vector of all elements. Each column is a block of it, on the process that has
 * the fewest elements so far. The grid changes, the owners with it, and every element follows.
 *
 *   mpicc columns.c $(pkg-config --cflags --libs dyngrid) -o columns
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:4x1,2:3x1 -- ./columns */
#include <dyngrid.h>
#include <dyngrid/balance.h>
#include <dyngrid/layout.h>
#include <stdio.h>
#include <stdlib.h>

enum { columns = 40, steps = 4 };

static int64_t length_of(int column) {
  return 1 + column * 7 % 11;
}

/* Rows are the elements of all columns; the vector itself has one column, on grid column 0. */
static int64_t owners_of(void* context, char axis, int64_t length, int nprow, int npcol, int64_t* sizes, int* owners) {
  int64_t held[64] = {0};
  int column, p;
  (void)context, (void)npcol;
  if (nprow > 64) return -1; /* refused on all processes */
  if (axis == 'C') {
    if (sizes) sizes[0] = length, owners[0] = 0;
    return 1;
  }
  for (column = 0; column < columns && sizes; ++column) {
    int least = 0;
    for (p = 1; p < nprow; ++p)
      if (held[p] < held[least]) least = p;
    sizes[column] = length_of(column);
    owners[column] = least;
    held[least] += length_of(column);
  }
  return columns;
}

int main(void) {
  int64_t elements = 0, i, k, first, last;
  int column, step = 0, wrong = 0;
  dyngrid_matrix* a;
  for (column = 0; column < columns; ++column) elements += length_of(column);
  if (dyngrid_init_grid(2, 1) < 0 || dyngrid_share("step", &step, sizeof step) < 0 ||
      dyngrid_matrix_create_owned("A", 'd', elements, 1, owners_of, NULL, &a) < 0) {
    fprintf(stderr, "columns: %s\n", dyngrid_last_message());
    return EXIT_FAILURE;
  }
  for (; step < steps; ++step) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) break;
    if (outcome < 0) fprintf(stderr, "columns: the grid stays as it is: %s\n", dyngrid_last_message());
    double* x = dyngrid_local(a); /* my columns one after the other */
    int nprow = 0;
    int64_t rows = 0, local_columns = 0; /* the vector's one column, or none */
    dyngrid_grid(&nprow, NULL, NULL, NULL);
    dyngrid_matrix_shape(a, &rows, &local_columns, NULL);
    for (k = 0; local_columns > 0 && dyngrid_my_range(a, 'R', k, &first, &last) == 1; ++k)
      for (i = first; i < last; ++i, ++x) {
        if (step > 0 && *x != (double)(i + step)) wrong = 1;
        *x = (double)(i + step + 1);
      }
    if (dyngrid_is_first()) {
      printf("step %d: %d of %d elements on the first of %d processes\n", step, (int)rows, (int)elements, nprow);
      fflush(stdout);
    }
  }
  if (wrong) fprintf(stderr, "columns: some elements are wrong\n");
  return dyngrid_finalize() < 0 || wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
