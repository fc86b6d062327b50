// SPDX-License-Identifier: BSD-3-Clause
// Application(comm, name) in C++: two pools, of which the second grows, and a refusal.
#include <dyngrid.hpp>

#include <string>

#include "follow.hpp"

namespace {

using follow::expect;

void compute(MPI_Comm comm, const std::string& name) {
  dyngrid::Application app(comm, name);
  expect(app.pool() == name, "pool");
  for (int step = app.is_newcomer() ? 1 : 0; step < 2; ++step) {
    app.resize_point();
    const dyngrid::Grid grid = app.grid();
    expect(grid.nprow * grid.npcol == (step == 1 && name == "1" ? 4 : 2), "grid of pool " + name);
    if (step == 0 && name == "1") app.request(2, 2);
  }
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::string name = dyngrid::Application::pool();
  MPI_Comm comm = MPI_COMM_WORLD;
  if (name.empty()) {
    name = std::to_string(2 * rank / size);
    MPI_Comm_split(MPI_COMM_WORLD, 2 * rank / size, rank, &comm);
    bool is_refused = false;
    try {
      const dyngrid::Application app(comm, "a/b");
    } catch (const dyngrid::Error& error) {
      is_refused = error.status() == DYNGRID_ERR_ARGUMENT;
    }
    expect(is_refused, "a name with a slash is refused");
  }
  compute(comm, name);
  MPI_Finalize();
  return 0;
}
