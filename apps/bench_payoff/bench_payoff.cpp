// SPDX-License-Identifier: BSD-3-Clause
// Is a change of the grid worthwhile? Runs the applications on chains of grids. Reports the time of a step on each grid
// and the time of a change under each placement. Also reports after how many steps a change has paid for itself, and
// how many steps it cost.
//
// Nothing is measured here: the applications run under mpirun as a user would run them, and their --csv is read.
// Placements and repetitions take turns, so that a machine that becomes slower or faster affects all of them alike.
// Every figure is a median.
#include "base/command_line.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"

#include <dyngrid.h>
#include <dyngrid/gridmap.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace {

struct Settings {
  std::vector<std::string> apps{"life", "pdgemv", "pdgemm", "pdgetrf"};
  std::map<std::string, std::vector<std::int64_t>> sizes{
      {"life", {1000, 2000}}, {"pdgemv", {2000, 4000}}, {"pdgemm", {800, 1600}}, {"pdgetrf", {800, 1600}}};
  std::vector<std::int64_t> all_sizes;
  std::vector<std::string> grids{"1x1", "1x2", "2x2", "3x3"};
  std::vector<std::string> placements{"global", "local2", "optimal"};
  std::string nb = "64", mpirun = "mpirun --oversubscribe", csv;
  int steps = 3, reps = 3;
  bool is_quick = false, is_checked = false;
};

using Times = std::map<std::string, std::vector<double>>; // by grid or by change of the grid

struct ChangeTimes {
  std::vector<double> total, start, merge, exchange; ///< start: new processes, and agreements
  std::int64_t moved_bytes = 0;
};

struct Results {                                                    // of one application and size
  Times step;                                                       ///< seconds of a step by grid
  std::map<std::string, std::map<std::string, ChangeTimes>> change; ///< by "PxQ -> RxS", then by placement
};

std::string arrow(const std::string& from, const std::string& to) {
  return from + " -> " + to;
}

std::string step_word(const std::string& app) {
  if (app == "life") return "10 generations";
  if (app == "pdgetrf") return "one factorization";
  return "one product";
}

class Bench {
public:
  explicit Bench(Settings settings) : settings_(std::move(settings)), launcher_(settings_.mpirun, 300) {
    launcher_.preload("libdyngrid-yield.so");
  }

  // One run through all grids.
  void chain(const std::string& app, std::int64_t n, const std::string& placement, Results& results) {
    const std::vector<std::string>& grids = settings_.grids;
    std::vector<std::string> more{"--placement", placement};
    // a factorization has as many steps as panels: the changes happen at equal distances
    const bool is_lu = app == "pdgetrf";
    const int panels = is_lu ? static_cast<int>((n + nb_number() - 1) / nb_number()) : 0;
    const int every = is_lu ? std::max(1, panels / static_cast<int>(grids.size())) : settings_.steps;
    std::string changes;
    for (std::size_t g = 1; g < grids.size(); ++g)
      changes += fmt::format("{}{}:{}", g > 1 ? "," : "", static_cast<int>(g) * every, grids[g]);
    if (!is_lu) more.insert(more.end(), {"--steps", std::to_string(every * static_cast<int>(grids.size()))});
    if (!changes.empty()) more.insert(more.end(), {"--resize-at", changes});
    const apps::RunRecord record = record_of(app, n, grids[0], more);
    if (!is_lu)
      for (const auto& s : record.steps) // the first step on a grid touches its memory for the first time
        if (s.step % every != 0 || every == 1) results.step[s.grid].push_back(s.seconds);
    for (const auto& c : record.changes) {
      ChangeTimes& t = results.change[arrow(c.from, c.to)][placement];
      t.total.push_back(c.total_s);
      t.start.push_back(c.total_s - c.merge_s - c.plan_s - c.exchange_s); // these runs wait at the resize point
      t.merge.push_back(c.merge_s);
      t.exchange.push_back(c.exchange_s);
      t.moved_bytes = c.moved_bytes;
    }
  }

  // A factorization on one grid, without a change.
  void still(std::int64_t n, const std::string& grid, Results& results) {
    const apps::RunRecord record = record_of("pdgetrf", n, grid, {});
    double sum = 0;
    for (const auto& s : record.steps) sum += s.seconds;
    results.step[grid].push_back(sum);
  }

  int run() {
    apps::Report report("bench_payoff", settings_.csv);
    report.text(fmt::format("Blocks of {}, {} steps on each of {}, {} repetitions.", settings_.nb, settings_.steps,
                            fmt::join(settings_.grids, " -> "), settings_.reps));
    const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    report.text("Life lies in one block per process, the others in blocks of the size above dealt out in turn (as "
                "ScaLAPACK wants them). Of blocks dealt out in turn nearly "
                "everything moves whatever the placement; with one block per process the placement decides how much.");
    report.text(fmt::format("All times in seconds, medians; a step's time is that of the slowest process. This machine "
                            "has {} cores: on grids of more than {} processes a "
                            "step cannot get faster, and 'never' is the right answer there.",
                            cores, cores));
    for (const std::string& app : settings_.apps)
      for (const std::int64_t n : sizes_of(app)) measure(app, n);
    report.heading("Time of a change of the grid by placement");
    changes(report);
    for (const std::string& app : settings_.apps) payoff(report, app);
    return report.finish() ? 0 : 1;
  }

private:
  /// One run, from `grid` on, with `more` arguments; all of its steps are right.
  apps::RunRecord record_of(const std::string& app, std::int64_t n, const std::string& grid,
                            const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"--n", std::to_string(n), "--nb", nb_of(app), "--grid", grid};
    if (settings_.is_checked) arguments.emplace_back("--check");
    if (app == "life") arguments.insert(arguments.end(), {"--distribution", "block"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    apps::RunRecord record = launcher_.run(app, apps::processes_of(grid), arguments);
    if (!record.is_right) throw std::runtime_error(app + ": a step was wrong");
    return record;
  }
  /// A factorization has panels, and life has another option for it.
  std::string nb_of(const std::string& app) const {
    return settings_.nb == "block" && app != "pdgemm" && app != "pdgemv" ? "64" : settings_.nb;
  }
  std::int64_t nb_number() const { return std::stoll(nb_of("pdgetrf")); }
  const std::vector<std::int64_t>& sizes_of(const std::string& app) const {
    return settings_.all_sizes.empty() ? settings_.sizes.at(app) : settings_.all_sizes;
  }

  void say(const std::string& what) const {
    if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }

  void measure(const std::string& app, std::int64_t n) {
    Results& results = results_[{app, n}];
    for (int rep = 0; rep < settings_.reps; ++rep)
      for (const std::string& placement : settings_.placements) {
        say(fmt::format("bench_payoff: {}, n {}, placement {}, repetition {} of {} ...", app, n, placement, rep + 1,
                        settings_.reps));
        chain(app, n, placement, results);
      }
    if (app == "pdgetrf")
      for (int rep = 0; rep < settings_.reps; ++rep)
        for (const std::string& grid : settings_.grids) still(n, grid, results);
    say("");
  }

  /// All measurements of one application and size.
  void samples(apps::Report& report, const std::string& app, std::int64_t n, const Results& results) const {
    apps::Sample sample;
    sample.part = "chain";
    sample.application = app;
    sample.n = n;
    sample.nb = app == "life" ? "block" : nb_of(app);
    sample.is_checked = settings_.is_checked;
    sample.phase = "step";
    for (const auto& [grid, seconds] : results.step) {
      sample.from = sample.to = grid;
      sample.ranks = apps::processes_of(grid);
      report.add(sample, seconds);
    }
    for (const auto& [move, by_placement] : results.change)
      for (const auto& [placement, t] : by_placement) {
        sample.from = move.substr(0, move.find(' '));
        sample.to = move.substr(move.rfind(' ') + 1);
        sample.ranks = std::max(apps::processes_of(sample.from), apps::processes_of(sample.to));
        sample.placement = placement;
        sample.bytes = t.moved_bytes;
        const std::pair<const char*, const std::vector<double>*> phases[] = {
            {"change", &t.total}, {"start", &t.start}, {"merge", &t.merge}, {"exchange", &t.exchange}};
        for (const auto& [phase, seconds] : phases) {
          sample.phase = phase;
          report.add(sample, *seconds);
        }
      }
  }

  double t_step(const std::string& app, std::int64_t n, const std::string& grid) {
    return apps::median(results_[{app, n}].step[grid]);
  }

  std::vector<std::string> moves() const {
    std::vector<std::string> out;
    for (std::size_t g = 1; g < settings_.grids.size(); ++g)
      out.push_back(arrow(settings_.grids[g - 1], settings_.grids[g]));
    return out;
  }

  void changes(apps::Report& report) {
    apps::Table table{"Seconds of a change of the grid, and what they went into",
                      {"application", "n", "change", "placement", "moved MB", "exchange s", "new processes s",
                       "communicators s", "whole s"},
                      {}};
    for (const std::string& app : settings_.apps)
      for (const std::int64_t n : sizes_of(app))
        for (const std::string& move : moves())
          for (const std::string& placement : settings_.placements) {
            const ChangeTimes& t = results_[{app, n}].change[move][placement];
            table.rows.push_back({app,
                                  n,
                                  move,
                                  placement,
                                  {1e-6 * static_cast<double>(t.moved_bytes), 3},
                                  {apps::median(t.exchange), 3},
                                  {apps::median(t.start), 3},
                                  {apps::median(t.merge), 3},
                                  {apps::median(t.total), 3}});
          }
    report.add(table);
  }

  static std::string point(double t_change, double t_old, double t_new) {
    if (!std::isfinite(t_change) || !std::isfinite(t_old) || !std::isfinite(t_new)) return "-";
    const auto steps = dyngrid_payoff_point(t_change, t_old, t_new);
    return steps < 0 ? "never" : std::to_string(steps);
  }
  static std::string cost(double t_change, double t_new) {
    return std::isfinite(t_change) && std::isfinite(t_new) && t_new > 0
               ? std::to_string(dyngrid_resize_cost(t_change, t_new))
               : "-";
  }

  void payoff(apps::Report& report, const std::string& app) {
    report.heading(app);
    apps::Table times{fmt::format("{}: seconds of a step ({}) by grid", app, step_word(app)), {"grid"}, {}};
    for (const std::int64_t n : sizes_of(app)) {
      times.columns.push_back(fmt::format("n = {}", n));
      samples(report, app, n, results_[{app, n}]);
    }
    for (const std::string& grid : settings_.grids) {
      std::vector<apps::Cell> row{grid};
      for (const std::int64_t n : sizes_of(app)) row.emplace_back(t_step(app, n, grid), 3);
      times.rows.push_back(std::move(row));
    }
    report.add(times);
    apps::Table table{fmt::format("{}: payoff point and resize cost, in steps ({})", app, step_word(app)),
                      {"n", "change", "placement", "t_old s", "t_new s", "change s", "payoff point", "resize cost",
                       "exchange s", "payoff of the exchange", "cost of the exchange"},
                      {}};
    for (const std::int64_t n : sizes_of(app)) payoff_rows(table, app, n);
    table.note = "payoff point = ceil(t / (t_old - t_new)), 'never' when a step did not get shorter; resize cost = "
                 "ceil(t / t_new). "
                 "Once for the whole change, most of which is starting processes, and once for moving the data alone, "
                 "as the published tables have it";
    report.add(table);
  }

  /// One row for each change of the grid and placement.
  void payoff_rows(apps::Table& table, const std::string& app, std::int64_t n) {
    const std::vector<std::string>& grids = settings_.grids;
    Results& results = results_[{app, n}];
    for (std::size_t g = 1; g < grids.size(); ++g) {
      const double t_old = apps::median(results.step[grids[g - 1]]), t_new = apps::median(results.step[grids[g]]);
      for (const std::string& placement : settings_.placements) {
        const ChangeTimes& t = results.change[arrow(grids[g - 1], grids[g])][placement];
        const double whole = apps::median(t.total), exchange = apps::median(t.exchange);
        table.rows.push_back({n,
                              arrow(grids[g - 1], grids[g]),
                              placement,
                              {t_old, 3},
                              {t_new, 3},
                              {whole, 3},
                              point(whole, t_old, t_new),
                              cost(whole, t_new),
                              {exchange, 3},
                              point(exchange, t_old, t_new),
                              cost(exchange, t_new)});
      }
    }
  }

  Settings settings_;
  apps::Launcher launcher_;
  std::map<std::pair<std::string, std::int64_t>, Results> results_;
};

void add_options(base::CommandLine& cli, Settings& settings) {
  cli.help_column(34);
  cli.add_option("--apps", settings.apps, "which applications")
      .separated_by(',')
      .check(base::one_of({"life", "pdgemv", "pdgemm", "pdgetrf"}))
      .type_name("NAME,...");
  cli.add_option(
         "--n", settings.all_sizes,
         "orders of the problem, for all applications; default: life 1000,2000, pdgemv 2000,4000, others 800,1600")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("N,...");
  cli.add_option("--grids", settings.grids, "chain of grids; mpirun starts the processes of the first one")
      .separated_by(',')
      .type_name("PxQ,...");
  cli.add_option("--placements", settings.placements, "global, local1, local2, optimal")
      .separated_by(',')
      .check(base::one_of({"global", "local1", "local2", "optimal"}))
      .type_name("NAME,...");
  cli.add_option("--nb", settings.nb, "block size; pdgemm and pdgemv take 'block' too, as the published tables")
      .type_name("NB")
      .show_default();
  cli.add_option("--steps", settings.steps, "steps on each grid; the first is left out")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--reps", settings.reps, "repetitions; figures are medians")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--check", settings.is_checked, "the applications check their results");
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works: figures mean nothing");
  cli.add_option("--mpirun", settings.mpirun, "words in front of -np, for the shell")
      .type_name("COMMAND")
      .show_default();
  cli.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
}

/// The small sizes of --quick, where no other was given.
void make_quick(const base::CommandLine& cli, Settings& settings) {
  if (settings.all_sizes.empty()) settings.all_sizes = {128};
  if (cli.count("--grids") == 0) settings.grids = {"1x1", "1x2", "2x2"};
  if (cli.count("--placements") == 0) settings.placements = {"global", "optimal"};
  if (cli.count("--steps") == 0) settings.steps = 2;
  if (cli.count("--reps") == 0) settings.reps = 1;
  if (cli.count("--nb") == 0) settings.nb = "16";
}

/// @throws std::runtime_error that names the option
void check(const Settings& settings) {
  for (const std::string& grid : settings.grids) apps::processes_of(grid);
  const bool is_number = settings.nb.find_first_not_of("0123456789") == std::string::npos;
  if (settings.nb != "block" && (!is_number || std::atoll(settings.nb.c_str()) < 1))
    throw std::runtime_error(fmt::format("--nb is '{}', expected a number from 1 or block", settings.nb));
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  base::CommandLine cli(
      "Is a change of the grid worth it? Runs life, pdgemv, pdgemm and pdgetrf through a chain of grids, "
      "under mpirun, and prints the time of a step on each "
      "grid, the time of each change by placement, payoff point and resize cost.",
      "bench_payoff");
  add_options(cli, settings);
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  if (settings.is_quick) make_quick(cli, settings);
  try {
    check(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_payoff: %s (see --help)\n", error.what());
    return 2;
  }
  try {
    return Bench(std::move(settings)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_payoff: %s\n", error.what());
    return 1;
  }
}
