// SPDX-License-Identifier: BSD-3-Clause
// A program whose step on four processes is eight times as long as on two, by sleeping: nothing else on the machine
// makes it faster or hides the difference. Runs until it is ended. Process 0 writes a line when the grid changes, and
// for every status that is an error.
#include <thread>

#include "follow.hpp"

int main() {
  using follow::expect;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix* a = follow::create("a", 'd', 13, 13, 2, 2);
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 3);
  for (;;) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) break;
    int nprow = 0, npcol = 0, rank = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (rank == 0 && outcome == DYNGRID_RESIZED) std::printf("now %dx%d\n", nprow, npcol);
    if (rank == 0 && outcome < 0) std::printf("status %d: %s\n", outcome, dyngrid_last_message());
    std::fflush(stdout);
    expect(follow::wrong(a, 'd', 3) == 0, "the elements");
    const int processes = nprow * npcol;
    std::this_thread::sleep_for(std::chrono::milliseconds(4 * processes * processes * processes));
    MPI_Barrier(dyngrid_comm());
  }
  return dyngrid_finalize() == DYNGRID_SUCCESS ? 0 : 1;
}
