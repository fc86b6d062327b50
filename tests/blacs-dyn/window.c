/* SPDX-License-Identifier: BSD-3-Clause */
/* window: a one-sided window over 1x2, and over 2x2 after a growth. Each process writes its rank into the next one.
 * Then the others add to process 0, which waits in a barrier. */
#define TEST_NAME "window"
#include "expect.h"

static void use_window(void) {
  enum { additions = 100 };
  const int one = 1;
  int rank, size, before, *mine;
  MPI_Win window;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  MPI_Comm_size(dyngrid_comm(), &size);
  MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, dyngrid_comm(), &mine, &window);
  *mine = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  expect(*mine == (rank + size - 1) % size, "the rank before mine", *mine);
  *mine = 0;
  MPI_Win_lock_all(0, window);
  MPI_Barrier(dyngrid_comm());
  for (int k = 0; k < additions && rank != 0; ++k) {
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  MPI_Barrier(dyngrid_comm());
  MPI_Win_unlock_all(window);
  expect(*mine == (rank == 0 ? additions * (size - 1) : 0), "the additions", *mine);
  MPI_Win_free(&window);
}

int main(void) {
  int outcome;
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid", 0);
  if (!dyngrid_is_newcomer()) use_window();
  outcome = dyngrid_resize_point();
  expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
  if (outcome != DYNGRID_RESIZED) return 1;
  use_window();
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
