// SPDX-License-Identifier: BSD-3-Clause
// first_process FILE PLACEMENT PxQ PxQ ...: prints one line a step at (0,0), also into a file opened at the start, on
// one grid after the other; then back by dyngrid_pop. The process is rank 0 of mpirun at every step, and every line is
// there.
#include <array>
#include <fstream>

#include "dyngrid/control.h"
#include "follow.hpp"

int main(int argc, char** argv) {
  using follow::expect;
  const std::string name = argv[1];
  const int placement = std::atoi(argv[2]), steps = argc - 3;
  const auto shape = [&](int step) {
    std::array<int, 2> s{};
    if (std::sscanf(argv[3 + step], "%dx%d", &s[0], &s[1]) != 2)
      follow::fail("no grid: " + std::string(argv[3 + step]));
    return s;
  };
  expect(dyngrid_is_first() == 0, "nobody is first before dyngrid_init");
  expect(dyngrid_init_grid(shape(0)[0], shape(0)[1]) == DYNGRID_SUCCESS, "init");
  int rank = -1, step = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_process_0 = rank == 0 && dyngrid_is_newcomer() == 0;
  expect((dyngrid_is_first() != 0) == is_process_0, "rank 0 of mpirun is first, a new process is not yet");
  dyngrid_matrix* a = follow::create("a", 'd', 100, 100, 3, 3);
  expect(dyngrid_share("step", &step, sizeof step) == DYNGRID_SUCCESS, "share");
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 1);
  std::FILE* file = dyngrid_is_first() ? std::fopen(name.c_str(), "w") : nullptr;

  // one line from (0,0); false on a process that has left
  const auto say = [&](int outcome) {
    if (outcome == DYNGRID_LEAVE) return false;
    expect(outcome == DYNGRID_SAME || outcome == DYNGRID_RESIZED, "change of the grid");
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    expect((dyngrid_is_first() != 0) == (myrow == 0 && mycol == 0), "the first process is at (0,0)");
    expect((dyngrid_is_first() != 0) == is_process_0, "(0,0) is process 0");
    expect(follow::wrong(a, 'd', 1) == 0, "the matrix");
    if (file && dyngrid_is_first()) std::fprintf(file, "line %d on %dx%d\n", step, nprow, npcol);
    if (dyngrid_is_first()) std::printf("line %d on %dx%d\n", step, nprow, npcol);
    ++step;
    return true;
  };
  bool is_here = true;
  // the first call of a new process is its resize point, whatever grid it names
  while (is_here && step < steps) is_here = say(dyngrid_resize(shape(step)[0], shape(step)[1], placement));
  while (is_here && dyngrid_depth() > 1) is_here = say(dyngrid_pop());
  if (!is_here) expect(dyngrid_is_first() == 0, "a process that has left is not first");
  const int lines = step;
  expect(dyngrid_finalize() == DYNGRID_SUCCESS && dyngrid_is_first() == 0, "finalize");
  if (!file) return 0;
  std::fclose(file);
  std::ifstream written(name);
  int found = 0;
  for (std::string line; std::getline(written, line); ++found)
    expect(line.rfind("line " + std::to_string(found) + " on ", 0) == 0,
           "line " + std::to_string(found) + " is \"" + line + '"');
  if (found != lines) {
    std::fprintf(stderr, "FAILED: %d of %d lines are there\n", found, lines);
    return 1;
  }
  return 0;
}
