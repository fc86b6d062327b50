// SPDX-License-Identifier: BSD-3-Clause
// need_outside: two processes, of which process 0 leaves the grid and sleeps; the other, alone in it, needs four.
#include <cstdio>

#include "dyngrid.hpp"

int main() try {
  const auto value = [](std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j); };
  dyngrid::Application app;
  dyngrid::Matrix<double> a("A", 50, 40, 3, 4);
  if (!app.is_newcomer()) {
    dyngrid::for_each(a, [&](auto i, auto j, double& x) { x = value(i, j); });
    app.resize_without(1, 1, "0"); // process 0 comes back from it when it is woken
    if (app.grid().nprow * app.grid().npcol == 1) std::printf("process %d alone\n", app.process_id()), fflush(stdout);
  }
  if (app.grid().nprow * app.grid().npcol != 4 && app.need("4") == dyngrid::Outcome::leave) return 0;
  int wrong = 0, all = 0;
  dyngrid::for_each(a, [&](auto i, auto j, double x) { wrong += x != value(i, j); });
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, app.comm());
  const dyngrid::Grid grid = app.grid();
  if (app.is_first()) std::printf("on %d x %d: %d wrong\n", grid.nprow, grid.npcol, all);
  return all == 0 ? 0 : 1;
} catch (const dyngrid::Error& error) {
  std::fprintf(stderr, "need_outside: %s\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
