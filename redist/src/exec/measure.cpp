// SPDX-License-Identifier: BSD-3-Clause
#include "redist/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/mpi/agree.hpp"
#include "exec/mpi_check.hpp"
#include "exec/pages.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"

namespace redist {
namespace {

using advise::Machine;
using detail::check;
using gridmap::Axis;

constexpr int rounds = 5;             // after one that warms up; a disturbance only makes one longer: the least counts
constexpr double longest_s = 0.003;   // in all rounds: no new one after it, since all processes wait meanwhile
constexpr std::int64_t n_small = 64;  // rows and columns of a matrix that shows what a partner costs: 32 KB
constexpr std::int64_t n_large = 600; // of one that shows what a byte costs: 3 MB, past the caches of a core

/// One exchange that is timed: a square matrix, its columns dealt out in turn, from some processes to others. As in a
/// change of the grid, its target is fresh memory.
class TimedExchange {
public:
  TimedExchange(std::int64_t n, const Grid& from, const Grid& to, int rank) : rank_(rank) {
    const auto layout = [n](const Grid& grid) {
      return Layout{Axis::block_cyclic(n, n, 1), Axis::block_cyclic(n, 1, grid.npcol), grid};
    };
    PlanOptions options;
    options.schedule = Schedule::async;
    const Plan plan(layout(from), layout(to), options);
    totals_ = plan.totals();
    mine_ = plan.for_rank(rank);
    source_ = SharedArray(bytes(mine_.m_loc_from, mine_.n_loc_from));
    if (source_.bytes() > 0) std::memset(source_.data(), 1, source_.bytes());
    target_ = SharedArray(bytes(mine_.m_loc_to, mine_.n_loc_to));
  }
  TimedExchange(const TimedExchange&) = delete;
  TimedExchange& operator=(const TimedExchange&) = delete;

  /// Seconds until the last process is ready, as process 0 sees them. Collective over the executor's ranks; the same on
  /// all of them.
  double seconds(Executor& executor) {
    double least = 0, all = 0;
    for (int round = -1; round < rounds && all < longest_s; ++round) {
      detail::release_pages(target_.data(), static_cast<char*>(target_.data()) + target_.bytes());
      executor.minimum({});
      const double begin = MPI_Wtime();
      executor.execute({&mine_}, {{source_.data(), std::max<std::int64_t>(1, mine_.m_loc_from), target_.data(),
                                   std::max<std::int64_t>(1, mine_.m_loc_to)}});
      executor.minimum({});
      if (round < 0) continue;
      const auto ns = std::max<std::int64_t>(1, std::llround(1e9 * (MPI_Wtime() - begin)));
      const double took = 1e-9 * static_cast<double>(executor.minimum({rank_ == 0 ? ns : INT64_MAX, 0, 0, 0})[0]);
      least = round == 0 ? took : std::min(least, took);
      all += took;
    }
    return least;
  }
  const PlanTotals& totals() const { return totals_; }
  double copied_bytes() const { return static_cast<double>(2 * totals_.moved_elements + totals_.kept_elements) * 8; }

private:
  static std::size_t bytes(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols) * sizeof(double);
  }

  const int rank_;
  PlanTotals totals_;
  RankPlan mine_;
  SharedArray source_, target_;
};

/// Cores of all processes together. Processes of one host share its cores: each counts for its part of them.
int cores_of(MPI_Comm comm, const Executor& executor) {
  if (executor.is_on_one_host()) return std::max(1, executor.cores_on_host());
  const double part = static_cast<double>(executor.cores_on_host()) / executor.ranks_on_host();
  double cores = 0;
  check(MPI_Allreduce(&part, &cores, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  return std::max(1, static_cast<int>(std::lround(cores)));
}

/// The last rank that shares no memory with rank 0; -1 when all do. The same on all ranks.
int rank_on_another_host(MPI_Comm comm, const Executor& executor, int size) {
  if (executor.is_on_one_host()) return -1;
  int other = size - 1;
  while (other >= 0 && executor.shares_memory_with(other)) --other;
  check(MPI_Bcast(&other, 1, MPI_INT, 0, comm), "MPI_Bcast");
  return other;
}

} // namespace

Machine measure_machine(MPI_Comm comm, Executor& executor) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const int far = rank_on_another_host(comm, executor, size);
  const Grid all = Grid::row_major(1, size), half = Grid::row_major(1, (size + 1) / 2);
  std::vector<std::unique_ptr<TimedExchange>> exchanges;
  base::together(comm, [&] {
    exchanges.push_back(std::make_unique<TimedExchange>(n_large, half, all, rank));
    if (size > 1) exchanges.push_back(std::make_unique<TimedExchange>(n_small, half, all, rank));
    if (far >= 0)
      exchanges.push_back(
          std::make_unique<TimedExchange>(n_large, Grid::row_major(1, 1), Grid::row_major(1, 1, far), rank));
  });
  TimedExchange& large = *exchanges[0];
  Machine machine;
  machine.cores = cores_of(comm, executor);
  machine.pack_bytes_per_s = large.copied_bytes() / large.seconds(executor) / std::min(machine.cores, size);
  if (size > 1) {
    TimedExchange& small = *exchanges[1];
    machine.latency_s = small.seconds(executor) / static_cast<double>(small.totals().max_partners);
    // through shared memory a message is two copies, which go on at once
    machine.bandwidth_bytes_per_s = machine.pack_bytes_per_s;
  }
  if (far >= 0)
    machine.bandwidth_bytes_per_s = static_cast<double>(n_large * n_large) * 8 / exchanges[2]->seconds(executor);
  // one result for all: each rank has rounded the cores
  check(MPI_Bcast(&machine, sizeof machine, MPI_BYTE, 0, comm), "MPI_Bcast");
  return machine;
}

} // namespace redist
