// SPDX-License-Identifier: BSD-3-Clause
// One matrix from one grid to another on simulated hosts, in several ways: `scale` runs it under smpirun.
//
//   exchange_in_simulation N GRIDS BLOCKS GBIT WAY...      e.g. 8000 8x8-8x16 37-80 10 circulant alltoallv
//
// A line of each way: its name, simulated seconds, seconds of the bound, and their quotient. The exit status is 1 when
// an element did not arrive, or when a time is below its bound.
#include <fmt/format.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "scale/stock.hpp"
#include "scale/traffic.hpp"

namespace {

using scale::Change;
using scale::Share;

struct Settings {
  Change change;
  double bytes_per_s = 0; ///< of a host's link, each way
  std::vector<std::string> ways;
};

/// "37-80" @throws Error{bad_argument}
std::pair<std::int64_t, std::int64_t> blocks_from(const std::string& text) {
  long long from = 0, to = 0;
  if (std::sscanf(text.c_str(), "%lld-%lld", &from, &to) != 2 || from < 1 || to < 1)
    throw base::Error(base::Status::bad_argument, "blocks are \"{}\", expected two sizes as in 37-80", text);
  return {from, to};
}

Settings settings_from(int argc, char** argv) {
  if (argc < 6)
    throw base::Error(base::Status::bad_argument, "{} words, expected N GRIDS BLOCKS GBIT WAY...", argc - 1);
  Settings settings;
  Change& change = settings.change;
  change.n = std::atoll(argv[1]);
  std::tie(change.from.grid, change.to.grid) = base::parse_grid_change(argv[2], "grids");
  std::tie(change.from.nb, change.to.nb) = blocks_from(argv[3]);
  settings.bytes_per_s = std::atof(argv[4]) * 1e9 / 8;
  settings.ways.assign(argv + 5, argv + argc);
  return settings;
}

redist::Layout layout_of(std::int64_t n, const scale::Side& side) {
  const auto axis = [&](int nprocs) { return gridmap::Axis::block_cyclic(n, side.nb, nprocs); };
  return redist::Layout::row_major(axis(side.grid.nprow), axis(side.grid.npcol));
}

/// Everything to everybody in one call of MPI. Both ends go through a pair's elements in the order of the matrix.
class AllToAll {
public:
  AllToAll(const Change& change, const Share& source, const Share& target)
      : change_(change), source_(source), target_(target), out_(change.ranks()), in_(change.ranks()) {
    each_source([&](int owner, std::size_t) { ++out_.counts[static_cast<std::size_t>(owner)]; });
    each_target([&](int owner, std::size_t) { ++in_.counts[static_cast<std::size_t>(owner)]; });
    out_.place();
    in_.place();
  }

  void run(const double* from, double* to) {
    std::vector<int> at = out_.begins;
    each_source([&](int owner, std::size_t place) { out_.next(at, owner) = from[place]; });
    MPI_Alltoallv(out_.packed.data(), out_.counts.data(), out_.begins.data(), MPI_DOUBLE, in_.packed.data(),
                  in_.counts.data(), in_.begins.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    at = in_.begins;
    each_target([&](int owner, std::size_t place) { to[place] = in_.next(at, owner); });
  }

private:
  struct Packed {
    explicit Packed(int ranks) : counts(static_cast<std::size_t>(ranks)), begins(counts.size()) {}
    void place() {
      int before = 0;
      for (std::size_t r = 0; r < counts.size(); ++r) {
        begins[r] = before;
        before += counts[r];
      }
      packed.resize(static_cast<std::size_t>(before) + 1);
    }
    double& next(std::vector<int>& at, int rank) {
      return packed[static_cast<std::size_t>(at[static_cast<std::size_t>(rank)]++)];
    }
    std::vector<int> counts, begins;
    std::vector<double> packed;
  };

  template <class Take> static void each(const Share& share, const scale::Side& other, Take&& take) {
    std::size_t place = 0;
    for (const std::int64_t j : share.cols)
      for (const std::int64_t i : share.rows) take(scale::owner_of(other, i, j), place++);
  }
  template <class Take> void each_source(Take&& take) const { each(source_, change_.to, take); }
  template <class Take> void each_target(Take&& take) const { each(target_, change_.from, take); }

  const Change& change_;
  const Share &source_, &target_;
  Packed out_, in_;
};

class Simulation {
public:
  Simulation(Settings settings, int rank)
      : settings_(std::move(settings)), rank_(rank), source_(change().n, change().from, rank),
        target_(change().n, change().to, rank), from_(source_.elements()), to_(target_.elements()) {
    std::size_t at = 0;
    for (const std::int64_t j : source_.cols)
      for (const std::int64_t i : source_.rows) from_[at++] = value(i, j);
    scale::set_link_rate(settings_.bytes_per_s);
    redist::ExecuteOptions options;
    options.transport = redist::Transport::mpi;
    options.is_comm_lent = true;
    executor_ = std::make_unique<redist::Executor>(MPI_COMM_WORLD, options);
  }

  /// Whether every way was right. The same on all ranks.
  bool run() {
    double bound_s = 0;
    if (rank_ == 0) bound_s = static_cast<double>(scale::traffic_of(change()).largest()) * 8 / settings_.bytes_per_s;
    MPI_Bcast(&bound_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    bool is_right = true;
    for (const std::string& way : settings_.ways) {
      std::fill(to_.begin(), to_.end(), -1.0);
      if (way == "pdgemr2d" && !scale::has_pdgemr2d()) {
        if (rank_ == 0) fmt::print("pdgemr2d absent\n");
        continue;
      }
      const double seconds = seconds_of(way);
      int arrived = has_all() ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &arrived, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      is_right = is_right && arrived == 1 && seconds >= bound_s;
      if (rank_ == 0)
        fmt::print("{} {:.6e} {:.6e} {:.3f} {}\n", way, seconds, bound_s, seconds / bound_s,
                   arrived == 1 ? "exact" : "WRONG");
      std::fflush(stdout);
    }
    executor_->close();
    return is_right;
  }

private:
  const Change& change() const { return settings_.change; }
  double value(std::int64_t i, std::int64_t j) const { return static_cast<double>(i * change().n + j); }

  bool has_all() const {
    std::size_t at = 0;
    for (const std::int64_t j : target_.cols)
      for (const std::int64_t i : target_.rows)
        if (to_[at++] != value(i, j)) return false;
    return true;
  }

  double seconds_of(const std::string& way) {
    if (way == "pdgemr2d") {
      if (!stock_) stock_ = std::make_unique<scale::StockCopy>(change());
      return timed([&] { stock_->run(from_.data(), to_.data()); });
    }
    if (way == "alltoallv") {
      AllToAll all(change(), source_, target_);
      return timed([&] { all.run(from_.data(), to_.data()); });
    }
    const std::shared_ptr<const redist::Plan> plan = shared_plan(redist::schedule_from(way));
    const redist::RankPlan mine = plan->for_rank(rank_);
    const auto lld = [](const Share& share) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(share.rows.size()));
    };
    return timed([&] { executor_->execute({&mine}, {{from_.data(), lld(source_), to_.data(), lld(target_)}}); });
  }

  /// A plan is the same on all ranks and does not change. Simulated ranks share an address space, so that one of them
  /// makes it for all.
  std::shared_ptr<const redist::Plan> shared_plan(redist::Schedule schedule) const {
    std::shared_ptr<const redist::Plan> plan;
    if (rank_ == 0) {
      redist::PlanOptions options;
      options.schedule = schedule;
      plan = std::make_shared<redist::Plan>(layout_of(change().n, change().from), layout_of(change().n, change().to),
                                            options);
    }
    const std::shared_ptr<const redist::Plan>* place = &plan;
    MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD);
    std::shared_ptr<const redist::Plan> mine = *place;
    MPI_Barrier(MPI_COMM_WORLD); // before the first rank's goes
    return mine;
  }

  /// From the first rank that begins to the last that is ready.
  double timed(const std::function<void()>& step) const {
    MPI_Barrier(MPI_COMM_WORLD);
    double times[] = {-MPI_Wtime(), 0};
    step();
    times[1] = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return times[0] + times[1];
  }

  Settings settings_;
  int rank_;
  Share source_, target_;
  std::vector<double> from_, to_;
  std::unique_ptr<redist::Executor> executor_;
  std::unique_ptr<scale::StockCopy> stock_;
};

int run(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    if (getpid() != syscall(SYS_getpid))
      throw base::Error(base::Status::bad_state, "getpid gives {}, expected the process {}; see under_smpi.h", getpid(),
                        syscall(SYS_getpid));
    Settings settings = settings_from(argc, argv);
    if (settings.change.ranks() != size)
      throw base::Error(base::Status::bad_argument, "{} simulated processes, expected {} for {}", size,
                        settings.change.ranks(), argv[2]);
    return Simulation(std::move(settings), rank).run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exchange_in_simulation: %s [rank %d of %d]\n", error.what(), rank, size);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
}

} // namespace

extern "C" __attribute__((visibility("default"))) int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
