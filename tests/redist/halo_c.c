/* SPDX-License-Identifier: BSD-3-Clause */
/* Borders in C: Laplace's equation by 60 sweeps on 2 x 2 processes with uneven blocks, against the same sweeps on one
 * array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../expect.h"
#include "dyngrid/halo.h"
#include "dyngrid/redist.h"

enum { M = 13, N = 11, SWEEPS = 60 };

static double first(int i, int j) {
  return (i * 17 + j * 5) % 7;
}

int main(int argc, char** argv) {
  const int desc[DYNGRID_DESC_LENGTH(2, 2)] = {DYNGRID_DTYPE, -1, M, N, 2, 2, 0, 0, M, 9, 4, 3, 8};
  const int other_desc[DYNGRID_DESC_LENGTH(2, 2)] = {DYNGRID_DTYPE, -1, M, N, 2, 2, 0, 0, M, 8, 5, 3, 8};
  const int other_ranks[4] = {0, 1, 3, 2};
  const int none[2] = {0, 0}, lo[2] = {3, 0}, hi[2] = {0, 1};
  const double edge = 1.5;
  static double u[M + 2][N + 2], next[M + 2][N + 2];
  dyngrid_layout *layout = NULL, *other = NULL;
  dyngrid_halo* halo = NULL;
  int64_t rows, cols, i_glo, i_ghosted, size, j_glo, j_ghosted, width;
  int row_stretches, col_stretches, rank, i, j, sweep, all;
  double *v, *w;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT(dyngrid_layout_create(desc, 2, 2, NULL, &layout) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, layout, 1, 5, 0, 0, sizeof(double), &halo) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, rank == 2 ? NULL : layout, 1, 4, 0, 0, sizeof(double), &halo) ==
         DYNGRID_ERR_NULL);
  EXPECT(dyngrid_halo_create_sides(MPI_COMM_WORLD, layout, none, none, NULL, 4, sizeof(double), &halo) ==
         DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_halo_create_sides(MPI_COMM_WORLD, layout, rank == 1 ? NULL : lo, hi, NULL, 4, sizeof(double), &halo) ==
         DYNGRID_ERR_NULL);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, layout, rank == 3 ? 2 : 1, 4, 0, 0, sizeof(double), &halo) ==
         DYNGRID_ERR_MISMATCH);
  EXPECT(dyngrid_layout_create(desc, 2, 2, other_ranks, &other) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, rank == 1 ? other : layout, 1, 4, 0, 0, sizeof(double), &halo) ==
         DYNGRID_ERR_MISMATCH);
  dyngrid_layout_destroy(&other);
  EXPECT(dyngrid_layout_create(other_desc, 2, 2, NULL, &other) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, rank == 1 ? other : layout, 1, 4, 0, 0, sizeof(double), &halo) ==
         DYNGRID_ERR_MISMATCH);
  dyngrid_layout_destroy(&other);
  EXPECT(halo == NULL);
  EXPECT(dyngrid_halo_create_sides(MPI_COMM_WORLD, layout, lo, hi, NULL, 8, sizeof(double), &halo) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_shape(halo, &rows, &cols, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(rows == (rank / 2 == 0 ? 9 : 4) + 3 && cols == (rank % 2 == 0 ? 3 : 8) + 1);
  EXPECT(dyngrid_halo_destroy(&halo) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_create(MPI_COMM_WORLD, layout, 1, DYNGRID_NEIGHBOURS_FOUR, 0, 0, sizeof(double), &halo) ==
         DYNGRID_SUCCESS);
  EXPECT(dyngrid_layout_destroy(&layout) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_shape(halo, &rows, &cols, &row_stretches, &col_stretches) == DYNGRID_SUCCESS);
  EXPECT(row_stretches == 1 && col_stretches == 1 && rows == (rank / 2 == 0 ? 9 : 4) + 2 &&
         cols == (rank % 2 == 0 ? 3 : 8) + 2);
  EXPECT(dyngrid_halo_stretch(halo, 'R', 0, &i_glo, NULL, &i_ghosted, &size) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_stretch(halo, 'C', 0, &j_glo, NULL, &j_ghosted, &width) == DYNGRID_SUCCESS);
  EXPECT(dyngrid_halo_stretch(halo, 'C', 1, &j_glo, NULL, NULL, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(i_ghosted == 1 && size == rows - 2 && j_ghosted == 1 && width == cols - 2);

  for (i = 0; i < M + 2; ++i)
    for (j = 0; j < N + 2; ++j) u[i][j] = i == 0 || j == 0 || i == M + 1 || j == N + 1 ? edge : first(i - 1, j - 1);
  v = malloc((size_t)(rows * cols) * sizeof *v);
  w = malloc((size_t)(rows * cols) * sizeof *w);
  EXPECT(dyngrid_halo_fill(halo, v, 0, &edge) == DYNGRID_SUCCESS);
  for (j = 0; j < width; ++j)
    for (i = 0; i < size; ++i) v[i + 1 + (j + 1) * rows] = first((int)i_glo + i, (int)j_glo + j);
  for (sweep = 0; sweep < SWEEPS; ++sweep) {
    for (i = 1; i <= M; ++i)
      for (j = 1; j <= N; ++j) next[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
    for (i = 1; i <= M; ++i)
      for (j = 1; j <= N; ++j) u[i][j] = next[i][j];
    if (sweep % 2 == 0) {
      EXPECT(dyngrid_halo_exchange(halo, v, 0) == DYNGRID_SUCCESS);
    } else {
      EXPECT(dyngrid_halo_start(halo, v, rows) == DYNGRID_SUCCESS);
      EXPECT(dyngrid_halo_finish(halo) == DYNGRID_SUCCESS);
    }
    for (j = 1; j <= width; ++j)
      for (i = 1; i <= size; ++i)
        w[i + j * rows] =
            (v[i - 1 + j * rows] + v[i + 1 + j * rows] + v[i + (j - 1) * rows] + v[i + (j + 1) * rows]) / 4;
    for (j = 1; j <= width; ++j)
      for (i = 1; i <= size; ++i) v[i + j * rows] = w[i + j * rows];
  }
  for (j = 0; j < width; ++j)
    for (i = 0; i < size; ++i) EXPECT(v[i + 1 + (j + 1) * rows] == u[i_glo + i + 1][j_glo + j + 1]);
  /* the local array: 0 is for its rows, fewer are refused */
  EXPECT(dyngrid_halo_from_ghosted(halo, v, 0, w, size - 1) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_halo_to_ghosted(halo, w, -size, v, 0) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_halo_from_ghosted(halo, v, 0, w, 0) == DYNGRID_SUCCESS);
  for (j = 0; j < width; ++j)
    for (i = 0; i < size; ++i) EXPECT(w[i + j * size] == v[i + 1 + (j + 1) * rows]);
  EXPECT(dyngrid_halo_finish(halo) == DYNGRID_ERR_STATE);
  EXPECT(dyngrid_halo_destroy(&halo) == DYNGRID_SUCCESS && halo == NULL);
  free(v);
  free(w);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
