/* SPDX-License-Identifier: BSD-3-Clause */
/* window: 1x2 -> 2x2, and a one-sided window over the grown grid: each process writes its rank into the next one. */
#define TEST_NAME "window"
#include "expect.h"

int main(void) {
  int outcome, rank, size, *mine;
  MPI_Win window;
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid", 0);
  outcome = dyngrid_resize_point();
  expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
  if (outcome != DYNGRID_RESIZED) return 1;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  MPI_Comm_size(dyngrid_comm(), &size);
  MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, dyngrid_comm(), &mine, &window);
  *mine = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(*mine == (rank + size - 1) % size, "the rank before mine", *mine);
  MPI_Win_free(&window);
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
