/* SPDX-License-Identifier: BSD-3-Clause */
/* Five components in each cell of a three-dimensional mesh. Each process has a box of cells with all five components,
 * as a dense array. The grid of processes changes, the boxes with it, and every value follows.
 *
 *   mpicc field.c $(pkg-config --cflags --libs dyngrid) -o field
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./field */
#include <dyngrid.h>
#include <dyngrid/layout.h>
#include <stdio.h>
#include <stdlib.h>

enum { components = 5, steps = 4 };

int main(void) {
  const int64_t extents[] = {components, 12, 10, 8};
  const int process_dims[] = {1, 0, 0, 0}; /* components stay together; dyngrid cuts the mesh */
  int64_t n[4];
  int parts[4], step = 0, outcome = DYNGRID_SAME;
  dyngrid_matrix* field;
  if (dyngrid_init_grid(1, 2) < 0 || dyngrid_share("step", &step, sizeof step) < 0 ||
      dyngrid_field_create("u", 'd', 4, extents, NULL, process_dims, &field) < 0) {
    fprintf(stderr, "field: %s\n", dyngrid_last_message());
    return EXIT_FAILURE;
  }
  for (; step < steps; ++step) {
    double sum[components] = {0}, all[components];
    int64_t cell, cells;
    int c;
    if ((outcome = dyngrid_resize_point()) == DYNGRID_LEAVE) break;
    if (outcome < 0) fprintf(stderr, "field: the grid stays as it is: %s\n", dyngrid_last_message());
    double* u = dyngrid_local(field); /* u(n[0], n[1], n[2], n[3]) in Fortran's order */
    if ((outcome = dyngrid_field_shape(field, n, parts, NULL)) < 0) break;
    cells = n[1] * n[2] * n[3];
    for (cell = 0; cell < cells; ++cell)
      for (c = 0; c < components; ++c) {
        u[c + components * cell] = step == 0 ? c : 2 * u[c + components * cell] + 1;
        sum[c] += u[c + components * cell];
      }
    MPI_Allreduce(sum, all, components, MPI_DOUBLE, MPI_SUM, dyngrid_comm());
    if (dyngrid_is_first()) {
      printf("step %d on %d x %d x %d processes: mean", step, parts[1], parts[2], parts[3]);
      for (c = 0; c < components; ++c) printf(" %g", all[c] / (12 * 10 * 8));
      printf("\n");
      fflush(stdout);
    }
  }
  if (outcome < 0) fprintf(stderr, "field: %s\n", dyngrid_last_message());
  return dyngrid_finalize() < 0 || outcome < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
