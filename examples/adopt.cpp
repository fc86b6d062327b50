// SPDX-License-Identifier: BSD-3-Clause
// A matrix in a std::vector of the program: the vector follows the grid.
//
//   cmake -S examples -B b -DCMAKE_PREFIX_PATH=... && cmake --build b
//   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2,2:3x1 -- b/adopt_cpp
#include <algorithm>
#include <cstdio>
#include <dyngrid/scalapack.hpp>
#include <string>

namespace {

constexpr int n = 60, nb = 8;

// As a program of ScaLAPACK alone does it, or a library: how many of n this process has.
int numroc(int at, int procs) {
  const int blocks = n / nb, mine = blocks / procs * nb, extra = blocks % procs;
  return mine + (at < extra ? nb : at == extra ? n % nb : 0);
}

} // namespace

int main() try {
  dyngrid::Application app;
  const dyngrid::Grid grid = app.grid();
  std::vector<double> a; // stays empty on a new process, which has no part of the matrix yet
  int desc[9] = {1, app.context(), n, n, nb, nb, 0, 0, 1};
  if (grid.is_mine()) {
    desc[8] = std::max(1, numroc(grid.myrow, grid.nprow));
    a.resize(static_cast<std::size_t>(desc[8]) * static_cast<std::size_t>(numroc(grid.mycol, grid.npcol)));
  }
  dyngrid::Matrix<double> matrix = dyngrid::adopt("A", a, desc); // from here on `a` follows the grid
  const auto first = [](auto i, auto j) { return static_cast<double>(i * n + j); };
  if (!app.is_newcomer()) dyngrid::for_each(matrix, [&](auto i, auto j, double& x) { x = first(i, j); });
  dyngrid::Shared<int> step("step", 0);
  std::string refusal;
  for (; app.resize_point(refusal) != dyngrid::Outcome::leave && step < 4; step = step + 1) {
    if (!refusal.empty()) std::fprintf(stderr, "adopt: the grid stays as it is: %s\n", refusal.c_str());
    for (double& x : a) x += 1; // the vector that the program has always had
    int wrong = 0;
    dyngrid::for_each(matrix, [&](auto i, auto j, double x) { wrong += x != first(i, j) + step + 1; });
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, app.comm());
    const dyngrid::Grid now = app.grid();
    if (app.is_first())
      std::printf("step %d on %d x %d: %d elements of A are wrong\n", step.get(), now.nprow, now.npcol, wrong);
  }
  return 0;
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "adopt: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
