// SPDX-License-Identifier: BSD-3-Clause
// One matrix from one grid to another under every placement of the processes and every schedule of the messages:
// seconds, and what each process spent them on. The tables are those of [Chinnusamy 2004, section 4.6], which had the
// caterpillar schedule only.
//
//   mpirun --oversubscribe -np 9 bench_schedule                              one host: memory has no ports, schedules
//   hardly matter scripts/netlab --hosts 9 --rate 200mbit -- -np 9 bench_schedule          nine hosts: they do
//
// Between hosts every result is set against the one-port bound: the bytes into or out of the busiest process at the
// rate of a link, which is measured first. Methods take turns within each repetition; figures are medians.
#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/grid_shape.hpp"
#include "common/report.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "base/status.hpp"
#include "gridmap/placement.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/schedule.hpp"
#include "redist/shared_array.hpp"

namespace {

/// All but the choice among them.
std::vector<std::string> fixed_schedules() {
  const base::Names& names = redist::schedule_names();
  return {names.begin() + 1, names.end()};
}

struct Settings {
  std::vector<std::int64_t> sizes{1200, 2400};
  std::vector<std::string> grids{"2x2-3x3", "2x2-2x3", "2x3-3x3"};
  std::vector<std::string> placements{"global", "local1", "local2", "optimal"};
  std::vector<std::string> schedules = fixed_schedules();
  std::string nb = "block", transport = "auto", csv, split = "2x2-3x3";
  int reps = 5;
  bool is_quick = false, is_checked = false;
};

std::string arrow(const std::string& grids) {
  const auto dash = grids.find('-');
  return grids.substr(0, dash) + " -> " + grids.substr(dash + 1);
}

enum { whole, pack, copy, wire, wait, parts }; // of a process' time

struct Method { // a placement and a schedule, on this process
  std::string placement, schedule;
  std::unique_ptr<redist::Plan> plan;
  redist::RankPlan mine;
  redist::SharedArray target;
  std::vector<double> seconds; ///< on the first process, by repetition: the slowest process'
  std::vector<std::vector<std::vector<double>>> of_processes; ///< on the first process: [process][part], by repetition
};

struct Outcome {
  std::string grids, placement, schedule;
  std::int64_t n = 0, steps = 0;
  double moved_mb = 0, busiest_mb = 0, seconds = 0, bound_s = 0, longest_mb = 0;
  std::vector<double> runs;               ///< seconds of each repetition
  std::vector<std::vector<double>> split; ///< [process][part], medians
};

class Bench {
public:
  Bench(Settings settings, MPI_Comm comm) : settings_(std::move(settings)), comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  int run() {
    const char* place = std::getenv("NETLAB");
    const double rate = link_rate();
    std::unique_ptr<apps::Report> report;
    if (rank_ == 0) {
      report = std::make_unique<apps::Report>(hosts_ > 1 ? "bench_schedule_hosts" : "bench_schedule", settings_.csv);
      report->text(
          fmt::format("{}, {} repetitions; hosts: {}",
                      settings_.nb == "block" ? "One block per process" : "Block-cyclic, blocks of " + settings_.nb,
                      settings_.reps, place != nullptr ? std::string("emulated, ") + place : std::to_string(hosts_)));
      if (rate > 0) report->text(fmt::format("Measured rate of a link: {:.1f} MB/s", rate / 1e6));
      if (hosts_ > 1) {
        report->text("The bound is the one-port bound: what the busiest process must send or receive, at the measured "
                     "rate of a link. No schedule can be faster.");
      } else {
        report->text("All processes are on one host and move the data through shared memory, which has no ports: what "
                     "counts is how much is moved in all and how many cores there are to "
                     "move it. So there is no bound to compare with, and the library takes the schedule async here.");
      }
    }
    for (const std::int64_t n : settings_.sizes)
      for (const std::string& grids : settings_.grids) measure(grids, n, rate);
    int status = 0;
    if (rank_ == 0) {
      try {
        tables(*report);
        samples(*report);
        status = report->finish() ? 0 : 1;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_schedule: %s\n", error.what());
        status = 1;
      }
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, comm_);
    return status != 0 || !is_right_ ? 1 : 0;
  }

private:
  redist::ExecuteOptions execute_options() const {
    redist::ExecuteOptions options;
    if (settings_.transport == "mpi") options.transport = redist::Transport::mpi;
    if (settings_.transport == "shared") options.transport = redist::Transport::shared;
    return options;
  }

  /// Bytes per second from one host to another: from the first process to the first on another host, 4 MB, the median
  /// of five. 0 on one host.
  double link_rate() {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    std::vector<char> names(static_cast<std::size_t>(size_) * sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, comm_);
    int other = -1;
    std::set<std::string> hosts;
    for (int r = 0; r < size_; ++r) {
      hosts.insert(&names[static_cast<std::size_t>(r) * sizeof name]);
      if (other < 0 && hosts.size() == 2) other = r;
    }
    hosts_ = static_cast<int>(hosts.size());
    if (other < 0) return 0;
    std::vector<char> buffer(settings_.is_quick ? 1 << 20 : 4 << 20);
    std::vector<double> rates;
    for (int rep = -1; rep < 5; ++rep) {
      MPI_Barrier(comm_);
      const double begin = base::monotonic_s();
      if (rank_ == 0) {
        MPI_Send(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, other, 1, comm_);
        MPI_Recv(buffer.data(), 1, MPI_CHAR, other, 2, comm_, MPI_STATUS_IGNORE);
        if (rep >= 0) rates.push_back(static_cast<double>(buffer.size()) / (base::monotonic_s() - begin));
      } else if (rank_ == other) {
        MPI_Recv(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, 0, 1, comm_, MPI_STATUS_IGNORE);
        MPI_Send(buffer.data(), 1, MPI_CHAR, 0, 2, comm_);
      }
    }
    double rate = rank_ == 0 ? apps::median(rates) : 0;
    MPI_Bcast(&rate, 1, MPI_DOUBLE, 0, comm_);
    return rate;
  }

  gridmap::Axis axis(std::int64_t n, int procs) const {
    return settings_.nb == "block" ? gridmap::Axis::block(n, procs)
                                   : gridmap::Axis::block_cyclic(n, std::stoll(settings_.nb), procs);
  }

  /// One change of the grid of a matrix of order n, by every placement and schedule.
  void measure(const std::string& grids, std::int64_t n, double rate) {
    const auto [from_shape, to_shape] = base::parse_grid_change(grids, "--grids");
    const int ranks = std::max(from_shape.size(), to_shape.size());
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank_ < ranks ? 0 : MPI_UNDEFINED, rank_, &part);
    if (part == MPI_COMM_NULL) return;
    const redist::Layout from{axis(n, from_shape.nprow), axis(n, from_shape.npcol),
                              redist::Grid::row_major(from_shape.nprow, from_shape.npcol)};
    redist::SharedArray source = numbered(from, n);
    std::vector<Method> methods = methods_of(from, to_shape, n, ranks);
    redist::Executor executor(part, execute_options());
    for (int rep = -1; rep < settings_.reps; ++rep)
      for (Method& method : methods) time(method, executor, source, part, rep >= 0);
    for (const Method& method : methods) {
      if (settings_.is_checked) check(method, n, part);
      if (rank_ == 0) outcomes_.push_back(outcome(method, grids, n, rate));
    }
    executor.close();
    MPI_Comm_free(&part);
  }

  /// The local part of a matrix whose elements are their own numbers, row by row.
  redist::SharedArray numbered(const redist::Layout& layout, std::int64_t n) const {
    const auto [p, q] = layout.grid.position_of(rank_);
    const std::int64_t m_loc = p < 0 ? 0 : layout.rows.local_size(p), n_loc = p < 0 ? 0 : layout.cols.local_size(q);
    redist::SharedArray array(static_cast<std::size_t>(std::max<std::int64_t>(1, m_loc * n_loc)) * sizeof(double));
    auto* a = static_cast<double*>(array.data());
    for (std::int64_t j = 0; j < n_loc; ++j)
      for (std::int64_t i = 0; i < m_loc; ++i)
        a[i + j * m_loc] = static_cast<double>(layout.rows.to_global(i, p) * n + layout.cols.to_global(j, q));
    return array;
  }

  std::vector<Method> methods_of(const redist::Layout& from, base::GridShape to_shape, std::int64_t n,
                                 int ranks) const {
    std::vector<Method> methods;
    for (const std::string& placement : settings_.placements) {
      gridmap::PlacementRequest request;
      request.rows_from = from.rows;
      request.cols_from = from.cols;
      request.rows_to = axis(n, to_shape.nprow);
      request.cols_to = axis(n, to_shape.npcol);
      request.method = gridmap::parse_placement(placement, "--placements");
      const redist::Layout to{request.rows_to, request.cols_to,
                              redist::Grid{to_shape.nprow, to_shape.npcol, gridmap::place(request).grid}};
      for (const std::string& schedule : settings_.schedules) {
        Method method;
        method.placement = placement;
        method.schedule = schedule;
        redist::PlanOptions options;
        options.schedule = redist::schedule_from(schedule);
        method.plan = std::make_unique<redist::Plan>(from, to, options);
        method.mine = method.plan->for_rank(rank_);
        method.target = redist::SharedArray(
            static_cast<std::size_t>(std::max<std::int64_t>(1, method.mine.m_loc_to * method.mine.n_loc_to)) *
            sizeof(double));
        method.of_processes.assign(static_cast<std::size_t>(ranks), std::vector<std::vector<double>>(parts));
        methods.push_back(std::move(method));
      }
    }
    return methods;
  }

  /// One exchange; its times are kept on the first process if it counts.
  void time(Method& method, redist::Executor& executor, redist::SharedArray& source, MPI_Comm part, bool counts) {
    MPI_Barrier(part);
    const double begin = base::monotonic_s();
    const redist::ExecuteReport r =
        executor.execute({&method.mine}, {{source.data(), std::max<std::int64_t>(1, method.mine.m_loc_from),
                                           method.target.data(), std::max<std::int64_t>(1, method.mine.m_loc_to)}});
    const double mine[parts] = {base::monotonic_s() - begin, r.pack_s, r.copy_s, r.wire_s, r.wait_s - r.wire_s};
    std::vector<double> all(method.of_processes.size() * parts);
    MPI_Gather(mine, parts, MPI_DOUBLE, all.data(), parts, MPI_DOUBLE, 0, part);
    if (rank_ != 0 || !counts) return;
    double slowest = 0;
    for (std::size_t k = 0; k < method.of_processes.size(); ++k) {
      for (std::size_t what = 0; what < parts; ++what) method.of_processes[k][what].push_back(all[k * parts + what]);
      slowest = std::max(slowest, all[k * parts]);
    }
    method.seconds.push_back(slowest);
  }

  static Outcome outcome(const Method& method, const std::string& grids, std::int64_t n, double rate) {
    const redist::PlanTotals totals = method.plan->totals();
    const redist::ScheduleFigures figures = method.plan->figures();
    Outcome o;
    o.grids = grids;
    o.placement = method.placement;
    o.schedule = method.schedule;
    o.n = n;
    o.steps = figures.steps;
    o.moved_mb = static_cast<double>(totals.moved_elements) * 8e-6;
    o.busiest_mb = static_cast<double>(totals.lower_bound()) * 8e-6;
    o.longest_mb = static_cast<double>(figures.sum_of_largest) * 8e-6;
    o.seconds = apps::median(method.seconds);
    o.runs = method.seconds;
    o.bound_s = rate > 0 ? static_cast<double>(totals.lower_bound()) * 8 / rate : std::nan("");
    for (const auto& process : method.of_processes) {
      o.split.emplace_back();
      for (const auto& list : process) o.split.back().push_back(apps::median(list));
    }
    return o;
  }

  void check(const Method& method, std::int64_t n, MPI_Comm part) {
    const auto& to = method.plan->to();
    const auto [p, q] = to.grid.position_of(rank_);
    int right = 1;
    const auto* b = static_cast<const double*>(method.target.data());
    for (std::int64_t j = 0; p >= 0 && j < method.mine.n_loc_to; ++j)
      for (std::int64_t i = 0; i < method.mine.m_loc_to; ++i)
        if (b[i + j * method.mine.m_loc_to] !=
            static_cast<double>(to.rows.to_global(i, p) * n + to.cols.to_global(j, q)))
          right = 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, part);
    if (right == 1) return;
    is_right_ = false;
    if (rank_ == 0)
      std::fprintf(stderr, "bench_schedule: placement %s, schedule %s: a WRONG element\n", method.placement.c_str(),
                   method.schedule.c_str());
  }

  const Outcome* find(const std::string& grids, std::int64_t n, const std::string& placement,
                      const std::string& schedule) const {
    for (const Outcome& o : outcomes_)
      if (o.grids == grids && o.n == n && o.placement == placement && o.schedule == schedule) return &o;
    return nullptr;
  }

  /// Every repetition; of the change --split what each process did, too, in medians.
  void samples(apps::Report& report) const {
    const char* const names[parts] = {"whole", "packing", "copying", "on the wire", "waiting for others"};
    for (const Outcome& o : outcomes_) {
      apps::Sample sample;
      sample.n = o.n;
      sample.nb = settings_.nb;
      sample.from = o.grids.substr(0, o.grids.find('-'));
      sample.to = o.grids.substr(o.grids.find('-') + 1);
      sample.placement = o.placement;
      sample.method = o.schedule;
      sample.ranks = static_cast<int>(o.split.size());
      sample.hosts = hosts_;
      sample.bytes = std::llround(1e6 * o.moved_mb);
      sample.is_checked = settings_.is_checked;
      sample.part = sample.phase = "exchange";
      report.add(sample, o.runs);
      if (std::isfinite(o.bound_s)) sample.phase = "one-port bound", report.add(sample, {o.bound_s});
      sample.phase = "busiest process";
      sample.bytes = std::llround(1e6 * o.busiest_mb);
      report.add(sample);
      if (o.grids != settings_.split || o.n != settings_.sizes.back()) continue;
      sample.part = "split";
      sample.bytes = -1;
      for (std::size_t k = 0; k < o.split.size(); ++k)
        for (int what = 0; what < parts; ++what) {
          sample.process = std::to_string(k);
          sample.phase = names[what];
          report.add(sample, {o.split[k][static_cast<std::size_t>(what)]});
        }
    }
  }

  void tables(apps::Report& report) const {
    const std::int64_t largest = settings_.sizes.back();
    apps::Table volumes{
        fmt::format("Elements of an n x n matrix of doubles that change their process, n = {}", largest),
        {"change", "placement", "moved MB", "moved % of the matrix", "busiest process MB"},
        {},
        "from the plans, nothing measured; between hosts the time follows the busiest process"};
    const double whole_mb = 8e-6 * static_cast<double>(largest) * static_cast<double>(largest);
    for (const std::string& grids : settings_.grids)
      for (const std::string& placement : settings_.placements)
        if (const Outcome* o = find(grids, largest, placement, settings_.schedules[0]))
          volumes.rows.push_back(
              {arrow(grids), placement, {o->moved_mb, 4}, {100 * o->moved_mb / whole_mb, 3}, {o->busiest_mb, 3}});
    report.add(volumes);
    apps::Table all{"Seconds of an exchange (slowest process)",
                    {"n", "change", "placement", "schedule", "steps", "seconds", "bound s", "over the bound"},
                    {}};
    for (const Outcome& o : outcomes_)
      all.rows.push_back({o.n,
                          arrow(o.grids),
                          o.placement,
                          o.schedule,
                          o.steps,
                          {o.seconds, 3},
                          {o.bound_s, 3},
                          {o.seconds / o.bound_s, 3}});
    report.add(all);
    split_table(report);
  }

  /// What each process spends its time on, in the change --split.
  void split_table(apps::Report& report) const {
    apps::Table split{
        fmt::format("Seconds of each process, {}, n = {}", arrow(settings_.split), settings_.sizes.back()),
        {"schedule", "placement", "process", "whole", "waiting for others", "on the wire", "packing", "copying",
         "waiting %"},
        {},
        "waiting for others: nothing of this process is under way and nothing is left to do"};
    for (const std::string& schedule : settings_.schedules)
      for (const std::string& placement : settings_.placements) {
        const Outcome* o = find(settings_.split, settings_.sizes.back(), placement, schedule);
        if (o == nullptr) continue;
        for (std::size_t k = 0; k < o->split.size(); ++k) {
          const auto& s = o->split[k];
          split.rows.push_back({schedule,
                                placement,
                                static_cast<int>(k),
                                {s[whole], 3},
                                {s[wait], 3},
                                {s[wire], 3},
                                {s[pack], 3},
                                {s[copy], 3},
                                {100 * s[wait] / s[whole], 3}});
        }
      }
    report.add(split);
  }

  Settings settings_;
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1, hosts_ = 1;
  bool is_right_ = true;
  std::vector<Outcome> outcomes_; ///< on the first process
};

/// @throws std::runtime_error, base::Error
void check(const Settings& settings, int processes) {
  int needed = 1;
  for (const std::string& grids : settings.grids) {
    const auto [from, to] = base::parse_grid_change(grids, "--grids");
    needed = std::max({needed, from.size(), to.size()});
  }
  if (settings.nb != "block" &&
      (settings.nb.find_first_not_of("0123456789") != std::string::npos || std::atoll(settings.nb.c_str()) < 1))
    throw std::runtime_error(fmt::format("--nb is '{}', expected a number from 1, or block", settings.nb));
  if (needed > processes)
    throw std::runtime_error(fmt::format("the grids need {} processes, mpirun started {}", needed, processes));
}

// The command line; on the first process it speaks. Returns -1 to go on.
int read(int argc, char** argv, int size, bool speaks, Settings& settings) {
  base::CommandLine cli(
      "Moves a matrix from one grid to another under every placement and schedule: seconds, the one-port "
      "bound between hosts, and what each process "
      "spent its time on (waiting, on the wire, packing, copying). Start it with mpirun on as many processes "
      "as the largest grid has.",
      "bench_schedule");
  cli.help_column(34);
  cli.add_option("--n", settings.sizes, "orders of the matrix")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("N,...");
  cli.add_option("--grids", settings.grids, "changes of the grid, e.g. 2x2-3x3,2x3-3x3")
      .separated_by(',')
      .type_name("PxQ-RxS,...");
  cli.add_option("--nb", settings.nb, "block size, or 'block' for one block per process")
      .type_name("NB")
      .show_default();
  cli.add_option("--placements", settings.placements, "global, local1, local2, optimal")
      .separated_by(',')
      .check(base::one_of(gridmap::placement_names()))
      .type_name("NAME,...");
  cli.add_option("--schedules", settings.schedules, "caterpillar, circulant, matching, async")
      .separated_by(',')
      .check(base::one_of(fixed_schedules()))
      .type_name("NAME,...");
  cli.add_option("--split", settings.split, "the change whose time is split by process; one of --grids, else the first")
      .type_name("PxQ-RxS")
      .show_default();
  cli.add_option("--transport", settings.transport, "auto, mpi (no shared memory), shared")
      .check(base::one_of({"auto", "mpi", "shared"}))
      .type_name("NAME")
      .show_default();
  cli.add_option("--reps", settings.reps, "repetitions; figures are medians")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--check", settings.is_checked, "compare every element");
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works");
  cli.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
  if (const auto status = base::read_command_line(cli, argc, argv, speaks)) return *status;
  if (settings.is_quick) {
    if (cli.count("--n") == 0) settings.sizes = {240};
    if (cli.count("--grids") == 0) settings.grids = {"2x2-2x3"};
    if (cli.count("--reps") == 0) settings.reps = 2;
  }
  try {
    check(settings, size);
    if (std::count(settings.grids.begin(), settings.grids.end(), settings.split) == 0)
      settings.split = settings.grids[0];
    return -1;
  } catch (const std::exception& error) {
    if (speaks) std::fprintf(stderr, "bench_schedule: %s (see --help)\n", error.what());
    return 2;
  }
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Settings settings;
  int status = read(argc, argv, size, rank == 0, settings);
  if (status < 0) {
    try {
      status = Bench(std::move(settings), MPI_COMM_WORLD).run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_schedule: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
