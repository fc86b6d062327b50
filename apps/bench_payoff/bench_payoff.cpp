// SPDX-License-Identifier: BSD-3-Clause
// Is a change of the grid worth it? Runs the applications on chains of grids and says how long a step takes on each, how long a change
// takes under each placement, after how many steps it has paid for itself, and how many steps it cost. The tables are those of
// [Chinnusamy 2004, chapter 5] at the size of this machine.
//
// Nothing is measured here: the applications run under mpirun as a user would run them, and their --csv is read. Placements and
// repetitions take turns, so that a machine that gets slower or faster meets all of them alike; every figure is a median.
#include "common/command_line.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"

#include <dyngrid.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

namespace {

struct Settings {
  std::vector<std::string> apps{"life", "pdgemv", "pdgemm", "pdgetrf"};
  std::map<std::string, std::vector<std::int64_t>> sizes{{"life", {1000, 2000}}, {"pdgemv", {2000, 4000}}, {"pdgemm", {800, 1600}}, {"pdgetrf", {800, 1600}}};
  std::vector<std::int64_t> all_sizes;
  std::vector<std::string> grids{"1x1", "1x2", "2x2", "3x3"};
  std::vector<std::string> topologies{"2x2", "1x4", "4x1", "2x3", "3x2"};
  std::vector<std::string> placements{"global", "local2", "optimal"};
  std::string nb = "64", mpirun = "mpirun --oversubscribe", folder = "bench_payoff";
  int steps = 3, reps = 3;
  bool is_quick = false, is_checked = false;
};

using Times = std::map<std::string, std::vector<double>>; // by grid or by change of the grid

struct ChangeTimes {
  std::vector<double> total, start, merge, exchange;
  double moved_mb = 0;
};

struct Results { // of one application and size
  Times step;    ///< seconds of a step by grid
  std::map<std::string, std::map<std::string, ChangeTimes>> change; ///< by "PxQ -> RxS", then by placement
};

std::string arrow(const std::string& from, const std::string& to) { return from + " -> " + to; }

std::string step_word(const std::string& app) {
  if (app == "life") return "10 generations";
  if (app == "pdgetrf") return "one factorization";
  return "one product";
}

class Bench {
public:
  explicit Bench(Settings settings) : settings_(std::move(settings)), launcher_(settings_.mpirun, 300) {}

  // One run through all grids.
  void chain(const std::string& app, std::int64_t n, const std::string& placement, Results& results) {
    std::vector<std::string> arguments{"--n", std::to_string(n), "--nb", settings_.nb, "--grid", settings_.grids[0], "--placement", placement};
    if (settings_.is_checked) arguments.emplace_back("--check");
    if (app == "life") arguments.insert(arguments.end(), {"--distribution", "block"});
    // a factorization has as many steps as panels: the changes come at equal distances
    const bool is_lu = app == "pdgetrf";
    const int panels = static_cast<int>((n + nb_number() - 1) / nb_number());
    const int every = is_lu ? std::max(1, panels / static_cast<int>(settings_.grids.size())) : settings_.steps;
    std::string changes;
    for (std::size_t g = 1; g < settings_.grids.size(); ++g)
      changes += fmt::format("{}{}:{}", g > 1 ? "," : "", static_cast<int>(g) * every, settings_.grids[g]);
    if (!is_lu) arguments.insert(arguments.end(), {"--steps", std::to_string(every * static_cast<int>(settings_.grids.size()))});
    if (!changes.empty()) arguments.insert(arguments.end(), {"--resize-at", changes});
    const apps::RunRecord record = launcher_.run(app, apps::processes_of(settings_.grids[0]), arguments);
    if (!record.is_right) throw std::runtime_error(app + ": a step was wrong");
    if (!is_lu)
      for (const auto& s : record.steps) // the first step on a grid touches its memory for the first time
        if (s.step % every != 0 || every == 1) results.step[s.grid].push_back(s.seconds);
    for (const auto& c : record.changes) {
      ChangeTimes& t = results.change[arrow(c.from, c.to)][placement];
      t.total.push_back(c.total_s);
      t.start.push_back(c.spawn_s);
      t.merge.push_back(c.merge_s);
      t.exchange.push_back(c.exchange_s);
      t.moved_mb = static_cast<double>(c.moved_bytes) / 1e6;
    }
  }

  // On one grid, without a change.
  void still(const std::string& app, std::int64_t n, const std::string& grid, Results& results) {
    std::vector<std::string> arguments{"--n", std::to_string(n), "--nb", settings_.nb, "--grid", grid};
    if (settings_.is_checked) arguments.emplace_back("--check");
    if (app == "life") arguments.insert(arguments.end(), {"--distribution", "block"});
    if (app != "pdgetrf") arguments.insert(arguments.end(), {"--steps", "3"});
    const apps::RunRecord record = launcher_.run(app, apps::processes_of(grid), arguments);
    if (!record.is_right) throw std::runtime_error(app + ": a step was wrong");
    if (app == "pdgetrf") {
      double sum = 0;
      for (const auto& s : record.steps) sum += s.seconds;
      results.step[grid].push_back(sum);
      return;
    }
    for (const auto& s : record.steps)
      if (s.step > 0) results.step[grid].push_back(s.seconds);
  }

  int run() {
    apps::Report report("bench_payoff", "Is a change of the grid worth it?", settings_.folder);
    report.setting("block size", settings_.nb);
    report.setting("chain of grids", fmt::format("{}", fmt::join(settings_.grids, " -> ")));
    report.setting("steps on each grid", std::to_string(settings_.steps));
    report.setting("repetitions", std::to_string(settings_.reps));
    const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    report.text("Life lies in one block per process, the others in blocks of the size above dealt out in turn (as ScaLAPACK wants them). Of blocks dealt out in turn nearly "
                "everything moves whatever the placement; with one block per process the placement decides how much.");
    report.text(fmt::format("All times in seconds, medians; a step's time is that of the slowest process. This machine has {} cores: on grids of more than {} processes a "
                            "step cannot get faster, and 'never' is the right answer there.",
                            cores, cores));
    topology(report);
    for (const std::string& app : settings_.apps)
      for (const std::int64_t n : sizes_of(app)) measure(app, n);
    report.heading("Time of a change of the grid by placement");
    changes(report);
    for (const std::string& app : settings_.apps) payoff(report, app);
    return report.finish() ? 0 : 1;
  }

private:
  std::int64_t nb_number() const { return settings_.nb == "block" ? 1 : std::stoll(settings_.nb); }
  const std::vector<std::int64_t>& sizes_of(const std::string& app) const { return settings_.all_sizes.empty() ? settings_.sizes.at(app) : settings_.all_sizes; }

  void say(const std::string& what) const {
    if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }

  void measure(const std::string& app, std::int64_t n) {
    Results& results = results_[{app, n}];
    for (int rep = 0; rep < settings_.reps; ++rep)
      for (const std::string& placement : settings_.placements) {
        say(fmt::format("bench_payoff: {}, n {}, placement {}, repetition {} of {} ...", app, n, placement, rep + 1, settings_.reps));
        chain(app, n, placement, results);
      }
    if (app == "pdgetrf")
      for (int rep = 0; rep < settings_.reps; ++rep)
        for (const std::string& grid : settings_.grids) still(app, n, grid, results);
    say("");
  }

  void topology(apps::Report& report) {
    if (settings_.topologies.empty()) return;
    report.heading("Time by shape of the grid");
    for (const char* app : {"pdgetrf", "pdgemm"}) {
      if (std::find(settings_.apps.begin(), settings_.apps.end(), app) == settings_.apps.end()) continue;
      std::map<std::int64_t, Results> by_size;
      for (int rep = 0; rep < settings_.reps; ++rep)
        for (const std::int64_t n : sizes_of(app))
          for (const std::string& grid : settings_.topologies) {
            say(fmt::format("bench_payoff: {}, n {}, grid {} ...", app, n, grid));
            still(app, n, grid, by_size[n]);
          }
      say("");
      apps::Table table{std::string("topology-") + app, fmt::format("{}: seconds of {} by shape of the grid", app, step_word(app)), {"n"}, {}};
      apps::Picture picture{table.id, fmt::format("{}: {} on grids of different shape", app, step_word(app)), fmt::format("blocks of {}, medians of {} runs", settings_.nb, settings_.reps),
                            "grid, rows x columns of processes", "seconds", apps::Picture::Kind::bars};
      picture.categories = settings_.topologies;
      table.columns.insert(table.columns.end(), settings_.topologies.begin(), settings_.topologies.end());
      for (const std::int64_t n : sizes_of(app)) {
        std::vector<apps::Cell> row{n};
        apps::Series series{fmt::format("n = {}", n), {}};
        for (const std::string& grid : settings_.topologies) {
          const double t = apps::median(by_size[n].step[grid]);
          row.emplace_back(t, 3);
          series.values.push_back(t);
        }
        table.rows.push_back(std::move(row));
        picture.series.push_back(std::move(series));
      }
      table.note = app == std::string("pdgetrf") ? "as Table 5.1 of Chinnusamy 2004" : "as Table 5.2 of Chinnusamy 2004";
      report.add(std::move(table));
      report.add(picture);
    }
  }

  double t_step(const std::string& app, std::int64_t n, const std::string& grid) { return apps::median(results_[{app, n}].step[grid]); }

  std::vector<std::string> moves() const {
    std::vector<std::string> out;
    for (std::size_t g = 1; g < settings_.grids.size(); ++g) out.push_back(arrow(settings_.grids[g - 1], settings_.grids[g]));
    return out;
  }

  void changes(apps::Report& report) {
    apps::Table table{"changes", "Seconds of a change of the grid, and what they went into", {"application", "n", "change", "placement", "moved MB", "exchange s", "new processes s", "communicators s", "whole s"}, {}};
    for (const std::string& app : settings_.apps)
      for (const std::int64_t n : sizes_of(app))
        for (const std::string& move : moves())
          for (const std::string& placement : settings_.placements) {
            const ChangeTimes& t = results_[{app, n}].change[move][placement];
            table.rows.push_back({app, n, move, placement, {t.moved_mb, 3}, {apps::median(t.exchange), 3}, {apps::median(t.start), 3}, {apps::median(t.merge), 3}, {apps::median(t.total), 3}});
          }
    table.note = "as Table 5.3, which has the exchange alone";
    report.add(std::move(table));
    for (const std::string& app : settings_.apps) {
      const std::int64_t n = sizes_of(app).back();
      apps::Picture picture{"exchange-" + app, fmt::format("{}: moving the data to another grid, by placement of the processes", app), fmt::format("n = {}, {}, medians of {} runs", n, app == "life" ? "one block per process" : "blocks of " + settings_.nb, settings_.reps),
                            "change of the grid", "seconds of the exchange", apps::Picture::Kind::bars};
      picture.categories = moves();
      for (const std::string& placement : settings_.placements) {
        apps::Series series{placement, {}};
        for (const std::string& move : picture.categories) series.values.push_back(apps::median(results_[{app, n}].change[move][placement].exchange));
        picture.series.push_back(std::move(series));
      }
      report.add(picture);
    }
  }

  static std::string point(double t_change, double t_old, double t_new) {
    if (!std::isfinite(t_change) || !std::isfinite(t_old) || !std::isfinite(t_new)) return "-";
    const auto steps = dyngrid_payoff_point(t_change, t_old, t_new);
    return steps < 0 ? "never" : std::to_string(steps);
  }
  static std::string cost(double t_change, double t_new) {
    return std::isfinite(t_change) && std::isfinite(t_new) && t_new > 0 ? std::to_string(dyngrid_resize_cost(t_change, t_new)) : "-";
  }

  void payoff(apps::Report& report, const std::string& app) {
    report.heading(app);
    apps::Table times{app + "-times", fmt::format("{}: seconds of a step ({}) by grid", app, step_word(app)), {"grid"}, {}};
    apps::Picture picture{app + "-times", fmt::format("{}: one step ({}) on each grid", app, step_word(app)), fmt::format("{}, medians", app == "life" ? "one block per process" : "blocks of " + settings_.nb), "grid, rows x columns of processes", "seconds", apps::Picture::Kind::bars};
    picture.categories = settings_.grids;
    for (const std::int64_t n : sizes_of(app)) {
      times.columns.push_back(fmt::format("n = {}", n));
      apps::Series series{times.columns.back(), {}};
      for (const std::string& grid : settings_.grids) series.values.push_back(t_step(app, n, grid));
      picture.series.push_back(std::move(series));
    }
    for (const std::string& grid : settings_.grids) {
      std::vector<apps::Cell> row{grid};
      for (const std::int64_t n : sizes_of(app)) row.emplace_back(t_step(app, n, grid), 3);
      times.rows.push_back(std::move(row));
    }
    times.note = app == "life" ? "as Table 5.4" : app == "pdgemv" ? "as Table 5.7" : app == "pdgemm" ? "as Table 5.10" : "the whole factorization and the solution";
    report.add(std::move(times));
    report.add(picture);

    apps::Table table{app + "-payoff", fmt::format("{}: payoff point and resize cost, in steps ({})", app, step_word(app)), {"n", "change", "placement", "t_old s", "t_new s", "change s", "payoff point", "resize cost", "exchange s", "payoff of the exchange", "cost of the exchange"}, {}};
    for (const std::int64_t n : sizes_of(app))
      for (std::size_t g = 1; g < settings_.grids.size(); ++g) {
        const double t_old = t_step(app, n, settings_.grids[g - 1]), t_new = t_step(app, n, settings_.grids[g]);
        for (const std::string& placement : settings_.placements) {
          const ChangeTimes& t = results_[{app, n}].change[arrow(settings_.grids[g - 1], settings_.grids[g])][placement];
          const double whole = apps::median(t.total), exchange = apps::median(t.exchange);
          table.rows.push_back({n, arrow(settings_.grids[g - 1], settings_.grids[g]), placement, {t_old, 3}, {t_new, 3}, {whole, 3}, point(whole, t_old, t_new), cost(whole, t_new), {exchange, 3}, point(exchange, t_old, t_new), cost(exchange, t_new)});
        }
      }
    table.note = "payoff point = ceil(t / (t_old - t_new)), 'never' when a step did not get shorter; resize cost = ceil(t / t_new). "
                 "Once for the whole change, most of which is starting processes, and once for moving the data alone, as the published tables have it";
    report.add(std::move(table));

    const std::int64_t n = sizes_of(app).back();
    apps::Picture costs{app + "-cost", fmt::format("{}: how many steps a change of the grid costs", app), fmt::format("n = {}; a step is {}; medians", n, step_word(app)), "change of the grid", "steps of the new grid that the change took", apps::Picture::Kind::bars};
    costs.categories = moves();
    for (const bool is_whole : {true, false})
      for (const std::string& placement : settings_.placements) {
        if (is_whole && placement != settings_.placements.back()) continue;
        apps::Series series{is_whole ? fmt::format("whole change ({})", placement) : fmt::format("exchange alone, {}", placement), {}};
        for (std::size_t g = 1; g < settings_.grids.size(); ++g) {
          const ChangeTimes& t = results_[{app, n}].change[costs.categories[g - 1]][placement];
          series.values.push_back(apps::median(is_whole ? t.total : t.exchange) / t_step(app, n, settings_.grids[g]));
        }
        costs.series.push_back(std::move(series));
      }
    costs.is_logarithmic = true;
    report.add(costs);
  }

  Settings settings_;
  apps::Launcher launcher_;
  std::map<std::pair<std::string, std::int64_t>, Results> results_;
};

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App cli("Is a change of the grid worth it? Runs life, pdgemv, pdgemm and pdgetrf through a chain of grids, under mpirun, and prints the time of a step on each "
               "grid, the time of each change by placement, payoff point and resize cost.",
               "bench_payoff");
  cli.get_formatter()->column_width(34);
  cli.add_option("--apps", settings.apps, "which applications")->delimiter(',')->check(CLI::IsMember({"life", "pdgemv", "pdgemm", "pdgetrf"}))->type_name("NAME,...");
  cli.add_option("--n", settings.all_sizes, "orders of the problem, for all applications; default: life 1000,2000, pdgemv 2000,4000, others 800,1600")->delimiter(',')->check(apps::positive_number())->type_name("N,...");
  cli.add_option("--grids", settings.grids, "chain of grids; mpirun starts the processes of the first one")->delimiter(',')->type_name("PxQ,...");
  cli.add_option("--topologies", settings.topologies, "shapes of the grid to compare for pdgetrf and pdgemm; 'none' for none")->delimiter(',')->type_name("PxQ,...");
  cli.add_option("--placements", settings.placements, "global, local1, local2, optimal")->delimiter(',')->check(CLI::IsMember({"global", "local1", "local2", "optimal"}))->type_name("NAME,...");
  cli.add_option("--nb", settings.nb, "block size")->type_name("NB")->capture_default_str();
  cli.add_option("--steps", settings.steps, "steps on each grid; the first is left out")->check(apps::positive_number())->capture_default_str();
  cli.add_option("--reps", settings.reps, "repetitions; figures are medians")->check(apps::positive_number())->capture_default_str();
  cli.add_flag("--check", settings.is_checked, "the applications check their results");
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works: figures mean nothing");
  cli.add_option("--mpirun", settings.mpirun, "words in front of -np, for the shell")->type_name("COMMAND")->capture_default_str();
  cli.add_option("--out", settings.folder, "folder for CSV, JSON, HTML, PNG and SVG")->type_name("FOLDER")->capture_default_str();
  if (const auto status = apps::read_command_line(cli, argc, argv)) return *status;
  if (settings.is_quick) {
    if (settings.all_sizes.empty()) settings.all_sizes = {128};
    if (cli.count("--grids") == 0) settings.grids = {"1x1", "1x2", "2x2"};
    if (cli.count("--topologies") == 0) settings.topologies = {"1x2", "2x1"};
    if (cli.count("--placements") == 0) settings.placements = {"global", "optimal"};
    if (cli.count("--steps") == 0) settings.steps = 2;
    if (cli.count("--reps") == 0) settings.reps = 1;
    if (cli.count("--nb") == 0) settings.nb = "16";
  }
  if (settings.topologies == std::vector<std::string>{"none"}) settings.topologies.clear();
  try {
    for (const auto* list : {&settings.grids, &settings.topologies})
      for (const std::string& grid : *list) apps::processes_of(grid);
    if (settings.nb.find_first_not_of("0123456789") != std::string::npos || std::atoll(settings.nb.c_str()) < 1)
      throw std::runtime_error(fmt::format("--nb is '{}', wanted a number from 1", settings.nb));
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
