// SPDX-License-Identifier: BSD-3-Clause
// A matrix gets other blocks on its grid (dyngrid_matrix_reblock), there and back. The reference is a copy between two
// matrices of these blocks whose memory and plan exist (PDGEMR2D of the library), in turns. A new layout also allocates
// the array, plans, agrees and frees the old array. Time from the first process's start to the last one's end.
//
//   mpirun --oversubscribe -np 16 bench_relayout --grid 4x4 --n 8000 --nb 64,128

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "common/mpi_main.hpp"
#include "common/need.hpp"
#include "common/report.hpp"
#include "dyngrid.hpp"
#include "dyngrid/layout.h"

extern "C" void Cpdgemr2d(int m, int n, const void* a, int ia, int ja, const int* desc_a, void* b, int ib, int jb,
                          const int* desc_b, int ctxt);

namespace {

using bench::need;

struct Settings {
  std::string grid = "2x2", csv;
  int n = 8000, reps = 7;
  std::vector<int> blocks{64, 128};
  bool check = false;
};

dyngrid_matrix* matrix(const char* name, const Settings& s, int nb) {
  dyngrid_matrix* made = nullptr;
  need(dyngrid_matrix_create(name, 'd', s.n, s.n, nb, nb, &made) == 0, "dyngrid_matrix_create");
  return made;
}

/// Every element is its place in the matrix; `write` sets them, else they are compared.
bool each_is_its_place(dyngrid_matrix* a, bool write) {
  const std::int64_t n = dyngrid_desc(a)[2];
  std::int64_t wrong = 0;
  dyngrid::for_each<double>(a, [&](std::int64_t i, std::int64_t j, double& here) {
    const auto place = static_cast<double>(j * n + i);
    if (write) here = place;
    wrong += here == place ? 0 : 1;
  });
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, dyngrid_comm());
  return wrong == 0;
}

template <class Act> double seconds_of(Act&& act) {
  MPI_Barrier(dyngrid_comm());
  double span[2] = {-MPI_Wtime(), 0};
  act();
  span[1] = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, span, 2, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  return span[1] + span[0];
}

/// Of both directions, all runs.
struct Times {
  std::vector<double> relayout, copy;
};

Times measure(const Settings& s) {
  dyngrid_matrix* const moved = matrix("moved", s, s.blocks[0]);
  dyngrid_matrix* const fixed[] = {matrix("fixed0", s, s.blocks[0]), matrix("fixed1", s, s.blocks[1])};
  each_is_its_place(moved, true);
  each_is_its_place(fixed[0], true);
  Times times;
  for (int run = -1; run < s.reps; ++run)
    for (const int from : {0, 1}) {
      const int to = 1 - from;
      const double relayout_s = seconds_of([&] {
        need(dyngrid_matrix_reblock(moved, s.blocks[to], s.blocks[to]) == DYNGRID_RESIZED, "dyngrid_matrix_reblock");
      });
      const double copy_s = seconds_of([&] {
        Cpdgemr2d(s.n, s.n, dyngrid_local(fixed[from]), 1, 1, dyngrid_desc(fixed[from]), dyngrid_local(fixed[to]), 1, 1,
                  dyngrid_desc(fixed[to]), dyngrid_context());
      });
      if (s.check) need(each_is_its_place(moved, false) && each_is_its_place(fixed[to], false), "comparing elements");
      if (run < 0) continue; // memory is touched and plans are made
      times.relayout.push_back(relayout_s);
      times.copy.push_back(copy_s);
    }
  return times;
}

int run(int argc, char** argv) {
  Settings s;
  base::CommandLine app("New blocks on the same grid, beside a copy between matrices that are there", "bench_relayout");
  app.add_option("--grid", s.grid, "process grid, PxQ; as many processes as mpirun starts").show_default();
  app.add_option("--n", s.n, "order of the matrix").check(base::positive_number()).show_default();
  app.add_option("--nb", s.blocks, "block sizes before and after")
      .separated_by(',')
      .check(base::positive_number())
      .show_default();
  app.add_option("--reps", s.reps, "runs in each direction").check(base::positive_number()).show_default();
  app.add_flag("--check", s.check, "compare every element after every run");
  app.add_option("--csv", s.csv, "a line for every single run");
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (const auto status = base::read_command_line(app, argc, argv, rank == 0)) return *status;
  const base::GridShape grid = base::parse_grid_shape(s.grid, "--grid");
  if (grid.size() != size)
    throw base::CommandLineError("--grid is " + s.grid + " with " + std::to_string(size) +
                                 " processes, expected as many; start mpirun -np " + std::to_string(grid.size()));
  if (s.blocks.size() != 2 || s.blocks[0] == s.blocks[1])
    throw base::CommandLineError("--nb: expected two different block sizes, such as 64,128");
  need(dyngrid_init_grid(grid.nprow, grid.npcol) == 0, "dyngrid_init_grid");

  const Times times = measure(s);
  apps::Report report("bench_relayout", rank == 0 ? s.csv : "");
  const double relayout = apps::median(times.relayout), copy = apps::median(times.copy);
  const std::string blocks = std::to_string(s.blocks[0]) + "-" + std::to_string(s.blocks[1]);
  if (rank == 0) {
    report.add({"Seconds of a new layout of one matrix, medians of both directions",
                {"grid", "n", "nb", "relayout", "copy", "relayout over copy"},
                {{s.grid, s.n, blocks, apps::Cell(relayout, 3), apps::Cell(copy, 3), apps::Cell(relayout / copy, 3)}}});
    apps::Sample sample;
    sample.part = "relayout";
    sample.n = s.n;
    sample.nb = blocks;
    sample.from = sample.to = s.grid;
    sample.phase = "exchange";
    sample.ranks = size;
    sample.is_checked = s.check;
    sample.method = "relayout";
    report.add(sample, times.relayout);
    sample.method = "copy";
    report.add(sample, times.copy);
  }
  const bool is_written = report.finish();
  need(dyngrid_finalize() == 0, "dyngrid_finalize");
  return is_written ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  return apps::mpi_main("bench_relayout", argc, argv, run);
}
