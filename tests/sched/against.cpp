// SPDX-License-Identifier: BSD-3-Clause
// against ROUNDS FILE: a job that needs three processors whenever it has fewer, and gives them back when the scheduler
// asks. Two of them on four processors shrink and grow against each other. All elements of a matrix are compared after
// each change. After ROUNDS growths, or when FILE is there, the job makes FILE and ends. The first process then holds
// as many files and communicators as after a quarter of them, and its memory has grown by what Open MPI and PMIx keep
// for every world that was ever spawned (some 80 kB each, two a round; at most 250 kB).
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <unistd.h>

#include "../blacs-dyn/figures.hpp"
#include "../blacs-dyn/follow.hpp"
#include "dyngrid/control.h"

int main(int argc, char** argv) {
  using follow::expect;
  expect(argc == 3, "against ROUNDS FILE");
  const int rounds = std::atoi(argv[1]);
  expect(dyngrid_init() == 0, "dyngrid_init");
  dyngrid_matrix* a = nullptr;
  int round = 0;
  expect(!dyngrid_matrix_create("a", 'd', 60, 40, 8, 8, &a), "create");
  expect(!dyngrid_share("round", &round, sizeof round), "share");
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 1);
  follow::Figures first{};
  for (bool is_new = dyngrid_is_newcomer() != 0;; is_new = false) {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    const bool is_short = is_new || nprow * npcol < 3;
    const int outcome = is_short ? dyngrid_need("3") : dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome >= 0, "a need is never refused: the other job has processors to give");
    if (outcome == DYNGRID_RESIZED) {
      expect(follow::wrong(a, 'd', 1) == 0, "elements in round " + std::to_string(round));
      if (is_short) ++round;
      if (dyngrid_is_first() && is_short && round == rounds / 4) first = follow::figures();
    }
    int is_over = round >= rounds || (dyngrid_is_first() && access(argv[2], F_OK) == 0) ? 1 : 0;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, dyngrid_comm());
    if (is_over != 0) break;
    usleep(2000); // the work
  }
  if (dyngrid_is_first()) {
    std::ofstream(argv[2]) << "over\n";
    const follow::Figures last = follow::figures();
    if (round >= rounds) follow::expect_flat(first, last, 250L * (round - rounds / 4));
    std::printf("%d rounds, %s\n", round, follow::in_words(first, last).c_str());
  }
  return dyngrid_finalize();
}
