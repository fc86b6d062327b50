// SPDX-License-Identifier: BSD-3-Clause
// Do heterogeneous distributions move bytes as fast as uniform ones? Pairs of cases with the same grids, the
// same order of the matrix and the same mean block, one uniform, one with unequal blocks; interleaved runs in
// one mpirun, medians of the time from the first rank's start to the last one's end. Two rates: bytes moved per second,
// and bytes moved or kept, which are the same number, all of the matrix, in both cases of a pair.
//
//   mpirun --oversubscribe -np 9 bench_rate --n 4000

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/statistics.hpp"
#include "common/timing.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

namespace {

using base::median;
using base::monotonic_ns;
using bench::quiet_barrier;

using gridmap::Axis;
using redist::Grid;
using redist::Layout;

enum class Kind { uniform, listed, block, variable };

std::int64_t align = 8; ///< unequal blocks are multiples of this many elements, as uniform ones usually are

/// 2 : 3 : 4 : ... shares, as of processors of unequal speed, with about the mean of the uniform block.
std::vector<std::int64_t> unequal(int count, std::int64_t mean, int turn) {
  std::vector<std::int64_t> sizes;
  for (int k = 0; k < count; ++k)
    sizes.push_back(std::max(align, (2 * mean * (2 + (k + turn) % count) / (3 + count) + align / 2) / align * align));
  return sizes;
}

Axis axis(Kind kind, std::int64_t n, std::int64_t nb, int nprocs, int turn) {
  switch (kind) {
  case Kind::uniform:
    return Axis::block_cyclic(n, nb, nprocs);
  case Kind::listed:
    return Axis::heterogeneous(n, unequal(nprocs, nb, turn), nprocs);
  case Kind::block:
    return Axis::block(n, nprocs);
  case Kind::variable: {
    std::vector<std::int64_t> sizes = unequal(nprocs, n / nprocs, turn);
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) sum += size;
    sizes.back() += n - sum;
    return Axis::variable(sizes);
  }
  }
  return {};
}

/// One redistribution, ready to run any number of times.
struct Case {
  redist::RankPlan plan;
  redist::PlanTotals totals;
  std::unique_ptr<redist::SharedArray> from, to;
  std::vector<double> seconds;

  Case(Kind kind, std::int64_t n, std::int64_t nb, std::int64_t nb_to, const int (&g)[4], int rank) {
    const Layout a{axis(kind, n, nb, g[0], 0), axis(kind, n, nb, g[1], 1), Grid::row_major(g[0], g[1])};
    const Layout b{axis(kind, n, nb_to, g[2], 1), axis(kind, n, nb_to, g[3], 0), Grid::row_major(g[2], g[3])};
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    const redist::Plan whole(a, b, options);
    totals = whole.totals();
    plan = whole.for_rank(rank);
    from = std::make_unique<redist::SharedArray>(static_cast<std::size_t>(plan.m_loc_from * plan.n_loc_from * 8),
                                                 redist::Sharing::no);
    to = std::make_unique<redist::SharedArray>(static_cast<std::size_t>(plan.m_loc_to * plan.n_loc_to * 8),
                                               redist::Sharing::no);
    if (from->data() != nullptr) std::memset(from->data(), 1, from->bytes());
    if (to->data() != nullptr) std::memset(to->data(), 2, to->bytes());
  }
  void run(redist::Executor& executor, bool counts) {
    executor.minimum({});
    const std::int64_t begin = monotonic_ns();
    executor.execute({&plan}, {{from->data(), std::max<std::int64_t>(1, plan.m_loc_from), to->data(),
                                std::max<std::int64_t>(1, plan.m_loc_to)}});
    const std::int64_t end = monotonic_ns();
    const auto least = executor.minimum({begin, -end});
    const double t = static_cast<double>(-least[1] - least[0]) * 1e-9;
    if (counts) seconds.push_back(t);
  }
  double moved_rate() const { return 8.0 * static_cast<double>(totals.moved_elements) / median(seconds); }
  double rate() const {
    return 8.0 * static_cast<double>(totals.moved_elements + totals.kept_elements) / median(seconds);
  }
};

/// Of rates, heterogeneous over uniform.
struct Mean {
  double log_sum = 0, worst = 1e9;
  int count = 0;
  void add(double ratio) {
    log_sum += std::log(ratio);
    worst = std::min(worst, ratio);
    ++count;
  }
  void print(const char* what) const {
    if (count > 0)
      std::printf("rate of heterogeneous over uniform, bytes %s: %.3f in the mean, %.3f at worst, %d cases\n", what,
                  std::exp(log_sum / count), worst, count);
  }
};

/// One line.
void compare(const Case& uniform, const Case& unequal, const int (&g)[4], int nb, Mean& of_moved, Mean& of_all) {
  const double moved = unequal.moved_rate() / uniform.moved_rate(), all = unequal.rate() / uniform.rate();
  if (uniform.totals.moved_elements > 0 && unequal.totals.moved_elements > 0) of_moved.add(moved);
  // nothing to compare where only one of the two moves anything at all
  if ((uniform.totals.moved_elements > 0) == (unequal.totals.moved_elements > 0)) of_all.add(all);
  const std::string pair =
      std::to_string(g[0]) + "x" + std::to_string(g[1]) + "-" + std::to_string(g[2]) + "x" + std::to_string(g[3]);
  std::printf("%-10s %-8s %-20s %9.1f %9.1f %9.2f %9.2f %8.3f %8.3f\n", pair.c_str(),
              nb > 0 ? (std::to_string(nb) + "-" + std::to_string(nb * 3 / 4)).c_str() : "one",
              nb > 0 ? "cyclic/heterogeneous" : "block/variable",
              8e-6 * static_cast<double>(uniform.totals.moved_elements),
              8e-6 * static_cast<double>(unequal.totals.moved_elements), 1e3 * median(uniform.seconds),
              1e3 * median(unequal.seconds), moved, all);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  std::int64_t n = 4000;
  int reps = 9;
  base::CommandLine app("Rate at which heterogeneous distributions move bytes, against uniform ones of the same volume",
                        "bench_rate");
  app.add_option("--n", n, "order of the matrix").check(base::positive_number()).show_default();
  app.add_option("--reps", reps, "runs of each case").check(base::positive_number()).show_default();
  app.add_option("--align", align,
                 "unequal blocks are multiples of this many elements; 1 costs what blocks that share cache lines cost")
      .check(base::positive_number())
      .show_default();
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const auto status = base::read_command_line(app, argc, argv, rank == 0)) return *status;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0)
    std::printf("%-10s %-8s %-20s %9s %9s %9s %9s %8s %8s\n", "grids", "blocks", "distributions", "MB unif.", "MB het.",
                "unif. ms", "het. ms", "moved", "all");
  Mean of_moved, of_all;
  const int grids[][4] = {{2, 2, 3, 3}, {2, 2, 2, 4}, {1, 2, 2, 2}, {2, 3, 3, 2}, {3, 3, 4, 4}, {4, 4, 4, 4}};
  for (const auto& g : grids) {
    const int needed = std::max(g[0] * g[1], g[2] * g[3]);
    if (needed > size) continue;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < needed ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
      redist::Executor executor(comm);
      for (const int nb : {32, 64, 256, 0}) {
        Case uniform(nb > 0 ? Kind::uniform : Kind::block, n, nb, nb > 0 ? nb * 3 / 4 : 0, g, rank);
        Case unequal(nb > 0 ? Kind::listed : Kind::variable, n, nb, nb > 0 ? nb * 3 / 4 : 0, g, rank);
        for (int rep = -1; rep < reps; ++rep) {
          uniform.run(executor, rep >= 0);
          unequal.run(executor, rep >= 0);
        }
        if (rank == 0) compare(uniform, unequal, g, nb, of_moved, of_all);
      }
      executor.close();
      MPI_Comm_free(&comm);
    }
    quiet_barrier(MPI_COMM_WORLD);
  }
  of_moved.print("moved");
  of_all.print("moved or kept");
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
