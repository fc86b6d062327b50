// SPDX-License-Identifier: BSD-3-Clause
// Processors of different speed: uniform against weighted distribution, and which processors to take. The tables are
// those of [Chinnusamy 2004, section 6.4].
//
// The application is life, with processors simulated as there: a process of speed P works out each of its cells 1000/P
// times. A machine with fewer cores than processes cannot show such processors by the clock on the wall; but every
// process can say how long it computed on its core, and the slowest of them is what an iteration would take. That is
// the measured time here. The theoretical time is the largest rows * columns / speed; one factor, measured first, turns
// it into milliseconds of this machine.
#include "base/command_line.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"
#include "fitted_speeds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/selection.hpp"
#include "live.hpp"

namespace {

// The processors of the published experiments. The first grid's speeds are printed rounded; these values give its
// tables.
const std::vector<double> first_speeds{313.2, 278.6, 33.89, 24.78};
const std::vector<double> second_speeds{326, 275, 227, 175};
const std::vector<double> free_speeds{298, 95,  35,  11,  30, 28,  39,  218, 39,  91,  290, 279, 249, 315, 210,
                                      64,  209, 284, 131, 84, 176, 267, 66,  232, 114, 138, 157, 251, 250, 174};
constexpr double published_factor = 0.0962; ///< of rows * columns / speed

struct Settings {
  std::int64_t n = 2000, n_uniform = 1000;
  std::vector<double> tpp{1600, 1400, 1200, 1000, 800, 600, 400, 200};
  std::vector<std::string> strategies{"global", "local", "mixed", "best"};
  int generations = 3, steps = 5;
  std::string mpirun = "mpirun --oversubscribe", csv;
  bool is_quick = false, is_checked = false, is_live = false;
  std::vector<std::string> tables{"6.20"}, applications{"life", "pdgemm"}; ///< --live
  std::string published = "studies/papers/published.csv";
  int rounds = 3;
};

struct Layout { // which processor stands where, and what it gets
  int nprow = 1, npcol = 1;
  std::vector<double> speeds; ///< row-major
  std::vector<std::int64_t> rows, cols;

  double theory() const { // largest rows * columns / speed
    double t = 0;
    for (int k = 0; k < nprow * npcol; ++k) t = std::max(t, of(k));
    return t;
  }
  double of(int k) const {
    return static_cast<double>(rows[static_cast<std::size_t>(k / npcol)] * cols[static_cast<std::size_t>(k % npcol)]) /
           speeds[static_cast<std::size_t>(k)];
  }
  std::string grid() const { return fmt::format("{}x{}", nprow, npcol); }
};

std::vector<std::int64_t> equal_parts(std::int64_t n, int parts) {
  std::vector<std::int64_t> sizes;
  for (int p = 0; p < parts; ++p) sizes.push_back(n * (p + 1) / parts - n * p / parts);
  return sizes;
}

Layout layout_of(const gridmap::Mapping& m) {
  return {m.nprow, m.npcol, m.speeds, m.rows, m.cols};
}

class Bench {
public:
  explicit Bench(Settings settings) : settings_(std::move(settings)), launcher_(settings_.mpirun, 300) {
    launcher_.preload("libdyngrid-yield.so");
  }

  int run() {
    apps::Report report("bench_hetero", settings_.csv);
    report.text(fmt::format("{} x {} cells, {} generations in each of {} measurements.", settings_.n, settings_.n,
                            settings_.generations, settings_.steps));
    report.text("The application is the Game of Life. A process of speed P works out each of its cells 1000/P times "
                "and says how long it computed on its core; the slowest process is what an iteration takes on such "
                "processors. Theory is rows * columns / speed, times one factor that is measured first.");
    calibrate();
    report.text(fmt::format("Factor: {:.3g} ms per 1000 cells of speed 1", factor_ms_ * 1000));
    uniform(report);
    one_grid(report);
    choice(report, "choice-first", "Choice of processors for a grid of 313, 279; 34, 25", first_speeds); // Table 6.7
    choice(report, "choice-second", "Choice of processors for a grid of 326, 275; 227, 175",
           second_speeds); // Table 6.17
    return report.finish() ? 0 : 1;
  }

private:
  void say(const std::string& what) const {
    if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }

  /// Milliseconds of every process for one generation, row-major, in every measurement.
  const std::vector<std::vector<double>>& runs_of(const Layout& layout, std::int64_t n, double repeats = 1000) {
    const std::string key = fmt::format("{} {} {} {} {} {}", layout.grid(), n, repeats, fmt::join(layout.speeds, ","),
                                        fmt::join(layout.rows, ","), fmt::join(layout.cols, ","));
    const auto known = measured_.find(key);
    if (known != measured_.end()) return known->second;
    say(fmt::format("bench_hetero: grid {} ...", layout.grid()));
    const std::string file =
        (std::filesystem::temp_directory_path() / fmt::format("dyngrid-hetero-{}.csv", getpid())).string();
    std::vector<std::string> arguments{"--n",
                                       std::to_string(n),
                                       "--grid",
                                       layout.grid(),
                                       "--steps",
                                       std::to_string(settings_.steps),
                                       "--generations",
                                       std::to_string(settings_.generations),
                                       "--distribution",
                                       "weighted",
                                       "--speeds",
                                       fmt::format("{}", fmt::join(layout.speeds, ",")),
                                       "--rows",
                                       fmt::format("{}", fmt::join(layout.rows, ",")),
                                       "--columns",
                                       fmt::format("{}", fmt::join(layout.cols, ",")),
                                       "--repeats",
                                       fmt::format("{}", repeats),
                                       "--loads",
                                       file};
    if (settings_.is_checked) arguments.emplace_back("--check");
    launcher_.output_of("life", layout.nprow * layout.npcol, arguments);
    const auto lines = apps::read_csv(file);
    std::filesystem::remove(file);
    std::vector<std::vector<double>> times(layout.speeds.size());
    for (std::size_t k = 1; k < lines.size(); ++k)
      times.at(static_cast<std::size_t>(std::stoi(lines[k].at(3)) * layout.npcol + std::stoi(lines[k].at(4))))
          .push_back(1000 * std::stod(lines[k].at(8)) / settings_.generations);
    say("");
    return measured_[key] = std::move(times);
  }

  /// The same, medians.
  std::vector<double> measure(const Layout& layout, std::int64_t n, double repeats = 1000) {
    std::vector<double> out;
    for (const auto& list : runs_of(layout, n, repeats)) out.push_back(apps::median(list));
    return out;
  }

  /// Milliseconds for rows * columns / speed = 1, on as many processes as the machine has cores, at most 2, with shares
  /// as large as most of those below: cells that do not fit into the cache take longer.
  void calibrate() {
    const int procs = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
    const std::int64_t n = settings_.n / 2;
    const Layout even{1, procs, std::vector<double>(static_cast<std::size_t>(procs), 100), {n}, equal_parts(n, procs)};
    std::vector<double> ms = measure(even, n);
    factor_ms_ = apps::median(ms) / even.theory();
  }

  /// Of every measurement the time of its slowest process.
  static std::vector<double> slowest_of(const std::vector<std::vector<double>>& runs) {
    std::vector<double> out;
    for (const auto& list : runs)
      for (std::size_t r = 0; r < list.size(); ++r) {
        if (r == out.size()) out.push_back(0);
        out[r] = std::max(out[r], list[r]);
      }
    return out;
  }

  void uniform(apps::Report& report) { // Tables 6.2, 6.3
    const std::int64_t n = settings_.n_uniform;
    report.heading("Equal shares against shares by speed");
    const Layout weighted = layout_of(gridmap::map_processors({{1, 2, 2, 4}, 2, 2, n, n}));
    const Layout equal{2, 2, weighted.speeds, equal_parts(n, 2), equal_parts(n, 2)};
    const Layout alone{1, 1, {4}, {n}, {n}};
    const double repeats = settings_.is_quick ? 8 : 200; // the published 1000 only take longer
    const std::vector<double> equal_ms = measure(equal, n, repeats), weighted_ms = measure(weighted, n, repeats),
                              alone_ms = measure(alone, n, repeats);
    const double factor = factor_ms_ * repeats / 1000;
    apps::Table table{
        fmt::format("Milliseconds of an iteration for each processor, {} x {} cells; speed 4 alone: {:.4g}", n, n,
                    alone_ms[0]),
        {"speed", "equal: cells", "equal ms", "equal theory ms", "weighted: cells", "weighted ms",
         "weighted theory ms"},
        {}};
    for (std::size_t k = 0; k < 4; ++k) {
      const auto cells = [&](const Layout& l) { return fmt::format("{} x {}", l.rows[k / 2], l.cols[k % 2]); };
      const int which = static_cast<int>(k);
      table.rows.push_back({{weighted.speeds[k], 1},
                            cells(equal),
                            {equal_ms[k], 4},
                            {equal.of(which) * factor, 4},
                            cells(weighted),
                            {weighted_ms[k], 4},
                            {weighted.of(which) * factor, 4}});
      const std::string process = fmt::format("speed {} ({})", weighted.speeds[k], k);
      samples(report, "uniform", "equal shares", process, n, equal, runs_of(equal, n, repeats)[k],
              equal.of(which) * factor);
      samples(report, "uniform", "shares by speed", process, n, weighted, runs_of(weighted, n, repeats)[k],
              weighted.of(which) * factor);
    }
    table.note = fmt::format(
        "the slowest processor takes {:.2f} times as long with equal shares as with weighted ones (theory: {:.2f})",
        *std::max_element(equal_ms.begin(), equal_ms.end()) / *std::max_element(weighted_ms.begin(), weighted_ms.end()),
        equal.theory() / weighted.theory());
    report.add(table);
  }

  /// Measured and theoretical milliseconds of a process, or of the slowest one.
  void samples(apps::Report& report, const std::string& part, const std::string& strategy, const std::string& process,
               std::int64_t n, const Layout& layout, std::vector<double> ms, double theory_ms) const {
    apps::Sample sample;
    sample.part = part;
    sample.application = "life";
    sample.n = n;
    sample.nb = "block";
    sample.from = sample.to = layout.grid();
    sample.ranks = layout.nprow * layout.npcol;
    sample.method = strategy;
    sample.process = process;
    sample.is_checked = settings_.is_checked;
    sample.phase = "measured";
    for (double& run : ms) run /= 1000;
    report.add(sample, ms);
    sample.phase = "theory";
    report.add(sample, {theory_ms / 1000});
  }

  void one_grid(apps::Report& report) { // Table 6.6
    report.heading("Theory and measurement on one grid");
    const Layout layout =
        layout_of(gridmap::map_processors({first_speeds, 2, 2, settings_.n, settings_.n, gridmap::MapMethod::svd}));
    const std::vector<double> ms = measure(layout, settings_.n);
    apps::Table table{"Theoretical and measured milliseconds of each processor of the first grid",
                      {"speed", "cells", "theory (published unit)", "theory ms", "measured ms", "measured / theory"},
                      {},
                      "the published heuristic (svd); the published unit is 0.0962 rows * columns / speed"};
    for (int k = 0; k < 4; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double theory_ms = layout.of(k) * factor_ms_;
      table.rows.push_back({{layout.speeds[i], 4},
                            fmt::format("{} x {}", layout.rows[i / 2], layout.cols[i % 2]),
                            {layout.of(k) * published_factor, 4},
                            {theory_ms, 4},
                            {ms[i], 4},
                            {ms[i] / theory_ms, 3}});
      samples(report, "one-grid", "svd", fmt::format("speed {}", layout.speeds[i]), settings_.n, layout,
              runs_of(layout, settings_.n)[i], theory_ms);
    }
    report.add(table);
  }

  void choice(apps::Report& report, const std::string& part, const std::string& title,
              const std::vector<double>& speeds) {
    report.heading(title);
    apps::Table table{fmt::format("{}, from the list of {} free ones", title, free_speeds.size()),
                      {"total speed", "strategy", "grid", "speed used", "theory (published unit)", "theory ms",
                       "measured ms", "measured / theory"},
                      {}};
    for (const double tpp : settings_.tpp)
      for (const std::string& strategy : settings_.strategies) {
        gridmap::SelectionRequest request;
        request.nprow = request.npcol = 2;
        request.grid = speeds;
        request.available = free_speeds;
        request.tpp = tpp;
        request.m = request.n = settings_.n;
        request.strategy = gridmap::parse_strategy(strategy, "--strategies");
        const gridmap::Selection selection = gridmap::select_processors(request);
        const Layout layout = layout_of(selection.mapping);
        const std::vector<double> ms = measure(layout, settings_.n);
        const double slowest = *std::max_element(ms.begin(), ms.end()), theory = layout.theory();
        table.rows.push_back({fmt::format("{}", tpp),
                              strategy,
                              layout.grid(),
                              fmt::format("{:.0f}", selection.tpp_used),
                              {theory * published_factor, 4},
                              {theory * factor_ms_, 4},
                              {slowest, 4},
                              {slowest / (theory * factor_ms_), 3}});
        samples(report, part, strategy, fmt::format("{}", tpp), settings_.n, layout,
                slowest_of(runs_of(layout, settings_.n)), theory * factor_ms_);
      }
    report.add(table);
  }

  Settings settings_;
  apps::Launcher launcher_;
  double factor_ms_ = 0;
  std::map<std::string, std::vector<std::vector<double>>> measured_;
};

void add_options(base::CommandLine& cli, Settings& settings) {
  cli.add_option("--n", settings.n, "cells in each direction; the published tables have 2000; 480 with --live")
      .check(base::in_range(8, 100000))
      .show_default();
  cli.add_option("--n-uniform", settings.n_uniform, "the same for equal against weighted shares")
      .check(base::in_range(8, 100000))
      .show_default();
  cli.add_option("--tpp", settings.tpp,
                 "total speeds that may be added; with --live one for each growth, of 6.7 and 6.17 those rows")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("SPEED,...");
  cli.add_option("--strategies", settings.strategies, "global, local, mixed, best")
      .separated_by(',')
      .check(base::one_of(gridmap::strategy_names()))
      .type_name("NAME,...");
  cli.add_option("--generations", settings.generations, "iterations in a measurement")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--steps", settings.steps, "measurements; figures are medians")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--check", settings.is_checked, "life checks every cell");
  cli.add_flag("--live", settings.is_live,
               "instead, by the clock on the wall, on emulated processors of unequal speed (libdyngrid-slow.so): a "
               "running program grows onto processors that it chooses; every element is checked. Needs ompi-server");
  cli.add_option("--tables", settings.tables,
                 "--live: 6.3 (equal shares and shares by speed of 6.2; 6.2 is the same), 6.6 (one grid), 6.18 (a grid "
                 "of twelve; 6.19 is the same), 6.7 and 6.17 (one growth for each total speed), 6.20 (four growths)")
      .separated_by(',')
      .check(base::one_of({"6.2", "6.3", "6.6", "6.7", "6.17", "6.18", "6.19", "6.20"}))
      .type_name("TABLE,...")
      .show_default();
  cli.add_option("--published", settings.published, "--live: what stands beside ours, where the file is there")
      .type_name("FILE")
      .show_default();
  cli.add_option("--apps", settings.applications, "--live: life, pdgemm; 6.3, 6.6 and 6.18 are of life")
      .separated_by(',')
      .check(base::one_of({"life", "pdgemm"}))
      .type_name("NAME,...");
  cli.add_option("--rounds", settings.rounds, "--live: of all strategies in turn")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works: figures mean nothing");
  cli.add_option("--mpirun", settings.mpirun, "words in front of -np, for the shell; with --live the launcher alone")
      .type_name("COMMAND")
      .show_default();
  cli.add_option("--csv", settings.csv, "file for one line per single run").type_name("FILE");
}

/// Table 6.3: the same four processors with equal shares and with shares by speed, and the fastest one alone.
bench::LiveGrids live_shares(std::int64_t n) {
  const gridmap::MappingRequest request{{1, 2, 2, 4}, 2, 2, n, n};
  const gridmap::Mapping mapping = gridmap::map_processors(request);
  const Layout weighted = layout_of(mapping);
  const Layout equal{2, 2, weighted.speeds, equal_parts(n, 2), equal_parts(n, 2)};
  std::vector<std::string> names; // as they stand in the list
  for (const int k : mapping.order)
    names.push_back(fmt::format("speed {:g} ({})", request.speeds[static_cast<std::size_t>(k)], k));
  return {"live-shares",
          "6.3",
          "Table 6.3: equal shares against shares by speed",
          request.speeds,
          {{"alone", 1, 1, {4}, {n}, {n}, {"speed 4"}},
           {"equal shares", 2, 2, equal.speeds, equal.rows, equal.cols, names},
           {"shares by speed", 2, 2, weighted.speeds, weighted.rows, weighted.cols, names}}};
}

/// `live` without its speeds and grids: one grid by the published heuristic.
bench::LiveGrids live_grid(bench::LiveGrids live, const gridmap::MappingRequest& request) {
  const Layout layout = layout_of(gridmap::map_processors(request));
  std::vector<std::string> names;
  for (const double speed : layout.speeds) names.push_back(fmt::format("speed {}", speed));
  live.speeds = request.speeds;
  live.grids.push_back({"svd", layout.nprow, layout.npcol, layout.speeds, layout.rows, layout.cols, names});
  return live;
}

bench::LiveSeries live_choices(const std::string& table, std::vector<double> tpp) {
  const bool is_first = table == "6.7";
  bench::LiveSeries series{is_first ? "live-choice-first" : "live-choice-second",
                           table,
                           fmt::format("Table {}: a growth for each total speed", table),
                           is_first ? first_speeds : second_speeds,
                           free_speeds,
                           {}};
  for (const double one : tpp) series.offers.push_back({one});
  return series;
}

/// What is quick of `live` stays where the command line says something else.
void take_options(const base::CommandLine& cli, const Settings& settings, bench::LiveSettings& live) {
  if (cli.count("--n") > 0) live.n = settings.n;
  if (cli.count("--strategies") > 0) live.strategies = settings.strategies;
  if (cli.count("--apps") > 0) live.applications = settings.applications;
  if (cli.count("--steps") > 0) live.steps = settings.steps;
  if (cli.count("--rounds") > 0) live.rounds = settings.rounds;
  live.mpirun = settings.mpirun.substr(0, settings.mpirun.find(' '));
  live.published = settings.published;
}

/// --live. @return exit status; 77 where this machine cannot do it
int run_live(const base::CommandLine& cli, const Settings& settings) {
  bench::LiveSettings live;
  if (settings.is_quick) {
    live.n = 120;
    live.strategies = {"best"};
    live.applications = {"life"};
    live.steps = 2;
    live.spare_steps = 8; // these steps are short: on a busy machine the request takes longer than a few of them
    live.rounds = 1;
  }
  take_options(cli, settings, live);
  const auto has = [&](const char* table) {
    return std::find(settings.tables.begin(), settings.tables.end(), table) != settings.tables.end();
  };
  const bool has_tpp = cli.count("--tpp") > 0;
  if (has("6.2") || has("6.3")) live.grids.push_back(live_shares(live.n));
  const auto svd = gridmap::MapMethod::svd;
  if (has("6.6"))
    live.grids.push_back(live_grid({"live-one-grid", "6.6", "Table 6.6: theory and measurement on one grid", {}, {}},
                                   {first_speeds, 2, 2, live.n, live.n, svd}));
  if (has("6.18") || has("6.19"))
    live.grids.push_back(live_grid({"live-twelve", "6.18", "Tables 6.18 and 6.19: a grid of twelve", {}, {}},
                                   {apps::fitted_twelve, 4, 3, live.n, live.n, svd}));
  for (const char* table : {"6.7", "6.17"}) {
    std::vector<double> tpp = settings.tpp;
    if (!has_tpp && settings.is_quick) tpp = {400};
    if (!has_tpp && !settings.is_quick && std::string(table) == "6.17") tpp.insert(tpp.begin(), 2000);
    if (has(table)) live.series.push_back(live_choices(table, std::move(tpp)));
  }
  if (has("6.20")) {
    bench::LiveSeries four = bench::four_growths();
    if (has_tpp) four.offers[0] = settings.tpp;
    if (!has_tpp && settings.is_quick) four.offers[0].resize(2);
    live.series.push_back(four);
  }
  if (const std::string why = bench::why_not_live(!live.series.empty()); !why.empty()) {
    std::fprintf(stderr, "bench_hetero: --live: %s\n", why.c_str());
    return 77;
  }
  apps::Report report("bench_hetero_live", settings.csv);
  bench::run_live(live, report);
  return report.finish() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  base::CommandLine cli(
      "Processors of different speed: equal shares against shares by speed, and the choice of processors by "
      "global, local, mixed and best; theoretical and measured "
      "time. Runs the application life under mpirun.",
      "bench_hetero");
  cli.help_column(34);
  add_options(cli, settings);
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  try {
    if (settings.is_live) return run_live(cli, settings);
    if (settings.is_quick) {
      if (cli.count("--n") == 0) settings.n = 120;
      if (cli.count("--n-uniform") == 0) settings.n_uniform = 60;
      if (cli.count("--tpp") == 0) settings.tpp = {400};
      if (cli.count("--steps") == 0) settings.steps = 2;
      if (cli.count("--generations") == 0) settings.generations = 1;
    }
    return Bench(std::move(settings)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_hetero: %s\n", error.what());
    return 1;
  }
}
