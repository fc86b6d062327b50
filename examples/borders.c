/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a cube, u = 0 around it: each sweep replaces a value by the mean of itself and its six neighbours. The field
 * begins as a product of sines, which each sweep multiplies by one factor, so that the exact result is known. The
 * grid of processes changes; the ghosted array is made anew by the update that follows.
 *
 *   mpicc borders.c $(pkg-config --cflags --libs dyngrid) -lm -o borders
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- ./borders */
#include <dyngrid.h>
#include <dyngrid/layout.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 4, sweeps = 5 };

static const int64_t extents[] = {12, 10, 8};

static double initial(const int64_t* i) {
  double value = 1;
  for (int d = 0; d < 3; ++d) value *= sin(M_PI * (double)(i[d] + 1) / (double)(extents[d] + 1));
  return value;
}

/* All elements of this process; `fill` sets them to initial(i) first. Returns the largest difference from
 * factor * initial(i). */
static double walk(dyngrid_matrix* field, int fill, double factor) {
  int64_t n[3], first[3], last[3], i[3];
  double error = 0, *u = dyngrid_field_local(field, n);
  for (int d = 0; d < 3; ++d)
    if (dyngrid_field_range(field, d, 0, &first[d], &last[d]) != 1) return 0; /* this process has no element */
  for (i[2] = first[2]; i[2] < last[2]; ++i[2])
    for (i[1] = first[1]; i[1] < last[1]; ++i[1])
      for (i[0] = first[0]; i[0] < last[0]; ++i[0], ++u) {
        if (fill) *u = initial(i);
        error = fmax(error, fabs(*u - factor * initial(i)));
      }
  return error;
}

/* One sweep over the inner part of the ghosted array, g[0] x g[1] x g[2] with its borders. */
static void sweep(double* u, const int64_t* g, double* next) {
  const int64_t row = g[0], plane = g[0] * g[1];
  int64_t i, j, k;
  for (k = 1; k < g[2] - 1; ++k)
    for (j = 1; j < g[1] - 1; ++j)
      for (i = 1; i < g[0] - 1; ++i) {
        const int64_t at = i + row * j + plane * k;
        next[at] = (u[at] + u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane]) / 7;
      }
  for (k = 1; k < g[2] - 1; ++k)
    for (j = 1; j < g[1] - 1; ++j)
      for (i = 1; i < g[0] - 1; ++i) u[i + row * j + plane * k] = next[i + row * j + plane * k];
}

int main(void) {
  const int one[] = {1, 1, 1};
  double factor = 1; /* of one sweep */
  int step = 0, outcome = DYNGRID_SAME, s, d, parts[3];
  dyngrid_matrix* field;
  dyngrid_borders* borders;
  for (d = 0; d < 3; ++d) factor += 2 * cos(M_PI / (double)(extents[d] + 1));
  factor /= 7;
  if (dyngrid_init_grid(1, 2) < 0 || dyngrid_share("step", &step, sizeof step) < 0 ||
      dyngrid_field_create("u", 'd', 3, extents, NULL, NULL, &field) < 0 ||
      dyngrid_borders_create(field, one, one, NULL, DYNGRID_NEIGHBOURS_FOUR, NULL, &borders) < 0) {
    fprintf(stderr, "borders: %s\n", dyngrid_last_message());
    return EXIT_FAILURE;
  }
  for (; step < steps; ++step) {
    int64_t g[3];
    void* ghosted;
    double error, most, *next;
    if ((outcome = dyngrid_resize_point()) == DYNGRID_LEAVE) break;
    if (outcome < 0) fprintf(stderr, "borders: the grid stays as it is: %s\n", dyngrid_last_message());
    if (step == 0) walk(field, 1, 1);
    if ((outcome = dyngrid_borders_update(borders, &ghosted)) < 0) break;
    dyngrid_halo_extents(dyngrid_borders_halo(borders), g);
    next = malloc(sizeof *next * (size_t)(g[0] * g[1] * g[2] + 1));
    for (s = 0; s < sweeps; ++s) {
      if (s > 0 && (outcome = dyngrid_borders_exchange(borders)) < 0) break;
      sweep(ghosted, g, next);
    }
    free(next);
    if (outcome < 0 || (outcome = dyngrid_borders_store(borders)) < 0) break;
    error = walk(field, 0, pow(factor, sweeps * (step + 1)));
    MPI_Allreduce(&error, &most, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
    dyngrid_field_shape(field, NULL, parts, NULL);
    if (dyngrid_is_first())
      printf("step %d on %d x %d x %d processes: %s\n", step, parts[0], parts[1], parts[2],
             most < 1e-12 ? "as exact" : "WRONG");
    fflush(stdout);
    if (most >= 1e-12) return EXIT_FAILURE;
  }
  if (outcome < 0) fprintf(stderr, "borders: %s\n", dyngrid_last_message());
  return dyngrid_finalize() < 0 || outcome < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
