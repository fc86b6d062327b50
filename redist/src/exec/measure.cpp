// SPDX-License-Identifier: BSD-3-Clause
#include "redist/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/mpi/agree.hpp"
#include "base/mpi/comm.hpp"
#include "base/statistics.hpp"
#include "exec/mpi_check.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"

namespace redist {
namespace {

using advise::Machine;
using detail::check;
using gridmap::Axis;

constexpr int rounds = 3;             // after one that warms up; the median counts
constexpr double long_s = 0.002;      // a round that takes so long is the last one: all processes wait meanwhile
constexpr std::int64_t n_small = 64;  // rows and columns of a matrix that shows what a partner costs: 32 KB
constexpr std::int64_t n_large = 600; // of one that shows what a byte costs: 3 MB, past the caches of a core

/// One exchange that is timed: a square matrix, its columns dealt out in turn, from some processes to others.
class TimedExchange {
public:
  TimedExchange(std::int64_t n, const Grid& from, const Grid& to, int rank) {
    const auto layout = [n](const Grid& grid) {
      return Layout{Axis::block_cyclic(n, n, 1), Axis::block_cyclic(n, 1, grid.npcol), grid};
    };
    PlanOptions options;
    options.schedule = Schedule::async;
    const Plan plan(layout(from), layout(to), options);
    totals_ = plan.totals();
    mine_ = plan.for_rank(rank);
    source_.assign(static_cast<std::size_t>(mine_.m_loc_from * mine_.n_loc_from), 1.0);
    target_.assign(static_cast<std::size_t>(mine_.m_loc_to * mine_.n_loc_to), 0.0);
  }
  TimedExchange(const TimedExchange&) = delete;
  TimedExchange& operator=(const TimedExchange&) = delete;

  /// Seconds until the last process is ready, as process 0 sees them. Collective over comm; the same on all ranks.
  double median_s(Executor& executor, MPI_Comm comm) {
    std::vector<double> seconds;
    for (int round = -1; round < rounds; ++round) {
      executor.range(0);
      const double begin = MPI_Wtime();
      executor.execute({&mine_}, {{source_.data(), std::max<std::int64_t>(1, mine_.m_loc_from), target_.data(),
                                   std::max<std::int64_t>(1, mine_.m_loc_to)}});
      executor.range(0);
      if (round < 0) continue;
      double took = MPI_Wtime() - begin;
      check(MPI_Bcast(&took, 1, MPI_DOUBLE, 0, comm), "MPI_Bcast");
      seconds.push_back(took);
      if (took > long_s) break;
    }
    return base::median(std::move(seconds));
  }
  const PlanTotals& totals() const { return totals_; }
  double copied_bytes() const { return static_cast<double>(2 * totals_.moved_elements + totals_.kept_elements) * 8; }

private:
  PlanTotals totals_;
  RankPlan mine_;
  std::vector<double> source_, target_;
};

/// Cores of all processes together. Processes of one host share its cores: each counts for its part of them.
int cores_of(MPI_Comm comm, const Executor& executor) {
  const double part = static_cast<double>(executor.cores_on_host()) / executor.ranks_on_host();
  double cores = 0;
  check(MPI_Allreduce(&part, &cores, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  return std::max(1, static_cast<int>(std::lround(cores)));
}

} // namespace

Machine measure_machine(MPI_Comm comm) {
  const base::Comm own = base::Comm::duplicate(comm);
  int rank = 0, size = 1;
  check(MPI_Comm_rank(own.get(), &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(own.get(), &size), "MPI_Comm_size");
  ExecuteOptions options;
  options.is_comm_lent = true;
  Executor executor(own.get(), options);
  const Grid all = Grid::row_major(1, size), half = Grid::row_major(1, (size + 1) / 2), first = Grid::row_major(1, 1),
             last = Grid::row_major(1, 1, size - 1);
  std::vector<std::unique_ptr<TimedExchange>> exchanges;
  base::together(own.get(), [&] {
    exchanges.push_back(std::make_unique<TimedExchange>(n_large, half, all, rank));
    if (size == 1) return; // it has no partner
    exchanges.push_back(std::make_unique<TimedExchange>(n_small, half, all, rank));
    exchanges.push_back(std::make_unique<TimedExchange>(n_large, first, last, rank));
  });
  TimedExchange& large = *exchanges[0];
  Machine machine;
  machine.cores = cores_of(own.get(), executor);
  machine.pack_bytes_per_s = large.copied_bytes() / large.median_s(executor, own.get()) / std::min(machine.cores, size);
  if (size > 1) {
    TimedExchange &small = *exchanges[1], &one_message = *exchanges[2];
    machine.latency_s = small.median_s(executor, own.get()) / static_cast<double>(small.totals().max_partners);
    machine.bandwidth_bytes_per_s =
        static_cast<double>(n_large * n_large) * 8 / one_message.median_s(executor, own.get());
  }
  executor.close();
  // one result for all: each rank has rounded the cores
  check(MPI_Bcast(&machine, sizeof machine, MPI_BYTE, 0, own.get()), "MPI_Bcast");
  return machine;
}

} // namespace redist
