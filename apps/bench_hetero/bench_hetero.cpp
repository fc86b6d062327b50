// SPDX-License-Identifier: BSD-3-Clause
// Processors of different power: uniform against weighted distribution, and which processors to take. The tables are
// those of [Chinnusamy 2004, section 6.4].
//
// The application is life, with processors simulated as there: a process of power P works out each of its cells 1000/P
// times. A machine with fewer cores than processes cannot show such processors by the clock on the wall; but every
// process can say how long it computed on its core, and the slowest of them is what an iteration would take. That is
// the measured time here. The theoretical time is the largest rows * columns / power; one factor, measured first, turns
// it into milliseconds of this machine.
#include "base/command_line.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/selection.hpp"

namespace {

// The processors of the published experiments. The first grid's powers are printed rounded; these values give its
// tables.
const std::vector<double> first_powers{313.2, 278.6, 33.89, 24.78};
const std::vector<double> second_powers{326, 275, 227, 175};
const std::vector<double> free_powers{298, 95,  35,  11,  30, 28,  39,  218, 39,  91,  290, 279, 249, 315, 210,
                                      64,  209, 284, 131, 84, 176, 267, 66,  232, 114, 138, 157, 251, 250, 174};
constexpr double published_factor = 0.0962; ///< of rows * columns / power

struct Settings {
  std::int64_t n = 2000, n_uniform = 1000;
  std::vector<double> tpp{1600, 1400, 1200, 1000, 800, 600, 400, 200};
  std::vector<std::string> strategies{"global", "local", "mixed", "best"};
  int generations = 3, steps = 5;
  std::string mpirun = "mpirun --oversubscribe", folder = "bench_hetero";
  bool is_quick = false, is_checked = false;
};

struct Layout { // which processor stands where, and what it gets
  int nprow = 1, npcol = 1;
  std::vector<double> powers; ///< row-major
  std::vector<std::int64_t> rows, cols;

  double theory() const { // largest rows * columns / power
    double t = 0;
    for (int k = 0; k < nprow * npcol; ++k) t = std::max(t, of(k));
    return t;
  }
  double of(int k) const {
    return static_cast<double>(rows[static_cast<std::size_t>(k / npcol)] * cols[static_cast<std::size_t>(k % npcol)]) /
           powers[static_cast<std::size_t>(k)];
  }
  std::string grid() const { return fmt::format("{}x{}", nprow, npcol); }
};

std::vector<std::int64_t> equal_parts(std::int64_t n, int parts) {
  std::vector<std::int64_t> sizes;
  for (int p = 0; p < parts; ++p) sizes.push_back(n * (p + 1) / parts - n * p / parts);
  return sizes;
}

Layout layout_of(const gridmap::Mapping& m) {
  return {m.nprow, m.npcol, m.powers, m.rows, m.cols};
}

gridmap::Strategy strategy_of(const std::string& name) {
  if (name == "global") return gridmap::Strategy::global;
  if (name == "local") return gridmap::Strategy::local;
  if (name == "mixed") return gridmap::Strategy::mixed;
  return gridmap::Strategy::best;
}

class Bench {
public:
  explicit Bench(Settings settings) : settings_(std::move(settings)), launcher_(settings_.mpirun, 300) {
    launcher_.preload("libdyngrid-yield.so");
  }

  int run() {
    apps::Report report("bench_hetero", "Processors of different power", settings_.folder);
    report.setting("cells", fmt::format("{} x {}", settings_.n, settings_.n));
    report.setting("generations in a measurement", std::to_string(settings_.generations));
    report.setting("measurements", fmt::format("{}, medians", settings_.steps));
    report.text("The application is the Game of Life. A process of power P works out each of its cells 1000/P times "
                "and says how long it computed on its core; the slowest process is what an iteration takes on such "
                "processors. Theory is rows * columns / power, times one factor that is measured first.");
    calibrate();
    report.setting("factor", fmt::format("{:.3g} ms per 1000 cells of power 1", factor_ms_ * 1000));
    uniform(report);
    one_grid(report);
    // Table 6.7; published theoretical times of global, local and mixed by total power
    const std::map<double, std::vector<double>> actual{{1600, {201.1, 178.6, 179.8}}, {1400, {266.9, 229.9, 220.5}},
                                                       {1200, {243.8, 215.6, 215.5}}, {1000, {289.8, 272.6, 270.5}},
                                                       {800, {299.6, 277.0, 277}},    {600, {393.6, 330.7, 330}},
                                                       {400, {468.9, 384.2, 384.2}},  {200, {499.2, 491.4, 491.8}}};
    const std::map<double, std::vector<double>> published{{1600, {188.2, 184.0, 183.3}}, {1400, {264.9, 215.9, 214.9}},
                                                          {1200, {250.5, 217.8, 215.9}}, {1000, {274.3, 273.5, 272.7}},
                                                          {800, {309.6, 282.1, 282.1}},  {600, {357.4, 326.0, 326.2}},
                                                          {400, {488.2, 396.3, 396.3}},  {200, {508.5, 487.3, 487.3}}};
    choice(report, "choice-first", "Choice of processors for a grid of 313, 279; 34, 25", first_powers, published,
           actual,
           "as Table 6.7; 'published' is its theoretical time, and the last column its measured time over that. Its "
           "global 1400, and local and mixed 200, cannot be had by the published rules");
    choice(report, "choice-second", "Choice of processors for a grid of 326, 275; 227, 175", second_powers, {}, {},
           "as Table 6.17, whose own figures come from another list of free processors than the one printed, so they "
           "are not set beside ours");
    return report.finish() ? 0 : 1;
  }

private:
  void say(const std::string& what) const {
    if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }

  /// Milliseconds of every process for one generation, row-major, in every measurement.
  const std::vector<std::vector<double>>& runs_of(const Layout& layout, std::int64_t n, double repeats = 1000) {
    const std::string key = fmt::format("{} {} {} {} {} {}", layout.grid(), n, repeats, fmt::join(layout.powers, ","),
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
                                       "--powers",
                                       fmt::format("{}", fmt::join(layout.powers, ",")),
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
    std::vector<std::vector<double>> times(layout.powers.size());
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

  /// Milliseconds for rows * columns / power = 1, on as many processes as the machine has cores, at most 2, with shares
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
    report.heading("Equal shares against shares by power");
    gridmap::MappingRequest request;
    request.powers = {1, 2, 2, 4};
    request.nprow = request.npcol = 2;
    request.m = request.n = n;
    const Layout weighted = layout_of(gridmap::map_processors(request));
    const Layout equal{2, 2, weighted.powers, equal_parts(n, 2), equal_parts(n, 2)};
    const Layout alone{1, 1, {4}, {n}, {n}};
    const double repeats = settings_.is_quick ? 8 : 200; // the published 1000 only take longer
    const std::vector<double> equal_ms = measure(equal, n, repeats), weighted_ms = measure(weighted, n, repeats),
                              alone_ms = measure(alone, n, repeats);
    const double factor = factor_ms_ * repeats / 1000;
    apps::Table table{"uniform",
                      fmt::format("Milliseconds of an iteration for each processor, {} x {} cells", n, n),
                      {"power", "processor 4 alone", "equal: cells", "equal ms", "equal theory ms", "weighted: cells",
                       "weighted ms", "weighted theory ms", "published: 4 alone", "published: equal",
                       "published: weighted"},
                      {}};
    const char* const published[][3] = {{"94.12", "23.32", "41.548"},
                                        {"-", "46.48", "41.256"},
                                        {"-", "46.68", "41.556"},
                                        {"-", "92.30", "41.356"}}; // Table 6.3, in the order below
    apps::Picture picture{
        "uniform",
        "Equal shares wait for the slowest processor, shares by power do not",
        fmt::format("{} x {} cells on a 2x2 grid, {} repeats; one iteration, each processor's own time", n, n, repeats),
        "power of the processor",
        "milliseconds",
        apps::Picture::Kind::bars};
    std::vector<std::vector<double>> equal_runs, weighted_runs;
    std::vector<int> order{0, 1, 2, 3};
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return weighted.powers[static_cast<std::size_t>(a)] > weighted.powers[static_cast<std::size_t>(b)];
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto k = static_cast<std::size_t>(order[i]);
      const auto cells = [&](const Layout& l) { return fmt::format("{} x {}", l.rows[k / 2], l.cols[k % 2]); };
      table.rows.push_back({{weighted.powers[k], 1},
                            i == 0 ? apps::Cell(alone_ms[0], 4) : apps::Cell("-"),
                            cells(equal),
                            {equal_ms[k], 4},
                            {equal.of(order[i]) * factor, 4},
                            cells(weighted),
                            {weighted_ms[k], 4},
                            {weighted.of(order[i]) * factor, 4},
                            published[i][0],
                            published[i][1],
                            published[i][2]});
      picture.categories.push_back(fmt::format("{}", weighted.powers[k]));
      equal_runs.push_back(runs_of(equal, n, repeats)[k]);
      weighted_runs.push_back(runs_of(weighted, n, repeats)[k]);
    }
    picture.series = {apps::series_of("equal shares", std::move(equal_runs)),
                      apps::series_of("shares by power", std::move(weighted_runs))};
    const double slowest_equal = *std::max_element(equal_ms.begin(), equal_ms.end()),
                 slowest_weighted = *std::max_element(weighted_ms.begin(), weighted_ms.end());
    picture.note = fmt::format(
        "An iteration lasts until the slowest processor is done: {:.3g} ms with equal shares, where the others wait "
        "for it, and {:.3g} ms with shares by power, where all are done at about the same time.",
        slowest_equal, slowest_weighted);
    table.note = fmt::format("as Table 6.3: the slowest processor takes {:.2f} times as long with equal shares as with "
                             "weighted ones (theory: {:.2f}; published: 92.30 / 41.56 = 2.22). The published "
                             "milliseconds are of another machine, 2000 x 2000 cells",
                             slowest_equal / slowest_weighted, equal.theory() / weighted.theory());
    report.add(std::move(table));
    report.add(picture);
  }

  void one_grid(apps::Report& report) { // Table 6.6
    report.heading("Theory and measurement on one grid");
    gridmap::MappingRequest request;
    request.powers = first_powers;
    request.nprow = request.npcol = 2;
    request.m = request.n = settings_.n;
    request.method = gridmap::MapMethod::svd;
    const Layout layout = layout_of(gridmap::map_processors(request));
    const std::vector<double> ms = measure(layout, settings_.n);
    apps::Table table{"one-grid",
                      "Theoretical and measured milliseconds of each processor of the first grid",
                      {"power", "cells", "theory (published unit)", "published", "theory ms", "measured ms",
                       "measured / theory", "published measured / theory"},
                      {}};
    const double published[] = {622.9, 555.8, 572.9, 621.9}, published_actual[] = {582.7, 463.2, 549.4, 600.4};
    for (int k = 0; k < 4; ++k) {
      const auto i = static_cast<std::size_t>(k);
      table.rows.push_back({{layout.powers[i], 4},
                            fmt::format("{} x {}", layout.rows[i / 2], layout.cols[i % 2]),
                            {layout.of(k) * published_factor, 4},
                            settings_.n == 2000 ? apps::Cell(published[i], 4) : apps::Cell("-"),
                            {layout.of(k) * factor_ms_, 4},
                            {ms[i], 4},
                            {ms[i] / (layout.of(k) * factor_ms_), 3},
                            {published_actual[i] / published[i], 3}});
    }
    table.note = "as Table 6.6; the published heuristic (svd). The published unit is 0.0962 rows * columns / power";
    report.add(std::move(table));
  }

  void choice(apps::Report& report, const std::string& id, const std::string& title, const std::vector<double>& powers,
              const std::map<double, std::vector<double>>& published,
              const std::map<double, std::vector<double>>& actual, const std::string& note) {
    report.heading(title);
    apps::Table table{id,
                      fmt::format("{}, from the list of {} free ones", title, free_powers.size()),
                      {"total power", "strategy", "grid", "power used", "theory (published unit)"},
                      {}};
    if (!published.empty()) table.columns.emplace_back("published");
    table.columns.insert(table.columns.end(), {"theory ms", "measured ms", "measured / theory"});
    if (!published.empty()) table.columns.emplace_back("published measured / theory");
    apps::Picture picture{id,
                          title + ": slowest processor by strategy",
                          fmt::format("Game of Life, {} x {} cells; bars are measured, medians of {}", settings_.n,
                                      settings_.n, settings_.steps),
                          "total power that may be added",
                          "milliseconds of an iteration",
                          apps::Picture::Kind::bars};
    std::vector<std::vector<std::vector<double>>> runs(settings_.strategies.size()); // by strategy and total power
    std::vector<double> ratios;
    for (const double tpp : settings_.tpp) {
      picture.categories.push_back(fmt::format("{}", tpp));
      for (std::size_t s = 0; s < settings_.strategies.size(); ++s) {
        gridmap::SelectionRequest request;
        request.nprow = request.npcol = 2;
        request.grid = powers;
        request.available = free_powers;
        request.tpp = tpp;
        request.m = request.n = settings_.n;
        request.strategy = strategy_of(settings_.strategies[s]);
        const gridmap::Selection selection = gridmap::select_processors(request);
        const Layout layout = layout_of(selection.mapping);
        const std::vector<double> ms = measure(layout, settings_.n);
        const double slowest = *std::max_element(ms.begin(), ms.end()), theory = layout.theory();
        std::vector<apps::Cell> row{fmt::format("{}", tpp),
                                    settings_.strategies[s],
                                    layout.grid(),
                                    fmt::format("{:.0f}", selection.tpp_used),
                                    {theory * published_factor, 4}};
        const std::size_t which = settings_.strategies[s] == "global"  ? 0
                                  : settings_.strategies[s] == "local" ? 1
                                  : settings_.strategies[s] == "mixed" ? 2
                                                                       : 3;
        const bool is_published = published.count(tpp) > 0 && which < 3 && settings_.n == 2000;
        if (!published.empty()) row.push_back(is_published ? apps::Cell(published.at(tpp)[which], 4) : apps::Cell("-"));
        row.insert(row.end(), {{theory * factor_ms_, 4}, {slowest, 4}, {slowest / (theory * factor_ms_), 3}});
        if (!published.empty())
          row.push_back(is_published ? apps::Cell(actual.at(tpp)[which] / published.at(tpp)[which], 3)
                                     : apps::Cell("-"));
        ratios.push_back(slowest / (theory * factor_ms_));
        table.rows.push_back(std::move(row));
        runs[s].push_back(slowest_of(runs_of(layout, settings_.n)));
      }
    }
    std::vector<std::string> words;
    for (std::size_t s = 0; s < settings_.strategies.size(); ++s) {
      picture.series.push_back(apps::series_of(settings_.strategies[s], std::move(runs[s])));
      words.push_back(
          fmt::format("{} {:.4g} ms", settings_.strategies[s],
                      std::accumulate(picture.series[s].values.begin(), picture.series[s].values.end(), 0.0) /
                          static_cast<double>(settings_.tpp.size())));
    }
    picture.note =
        fmt::format("Lower is better. Mean over the total powers: {}; measured over theory is {:.2f} in the median.",
                    fmt::join(words, ", "), apps::median(ratios));
    table.note = note + fmt::format(". Measured over theory: median {:.3f}, {:.3f} to {:.3f}", apps::median(ratios),
                                    *std::min_element(ratios.begin(), ratios.end()),
                                    *std::max_element(ratios.begin(), ratios.end()));
    report.add(std::move(table));
    report.add(picture);
  }

  Settings settings_;
  apps::Launcher launcher_;
  double factor_ms_ = 0;
  std::map<std::string, std::vector<std::vector<double>>> measured_;
};

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  base::CommandLine cli(
      "Processors of different power: equal shares against shares by power, and the choice of processors by "
      "global, local, mixed and best; theoretical and measured "
      "time. Runs the application life under mpirun.",
      "bench_hetero");
  cli.help_column(34);
  cli.add_option("--n", settings.n, "cells in each direction; the published tables have 2000")
      .check(base::in_range(8, 100000))
      .show_default();
  cli.add_option("--n-uniform", settings.n_uniform, "the same for equal against weighted shares")
      .check(base::in_range(8, 100000))
      .show_default();
  cli.add_option("--tpp", settings.tpp, "total powers that may be added")
      .separated_by(',')
      .check(base::positive_number())
      .type_name("POWER,...");
  cli.add_option("--strategies", settings.strategies, "global, local, mixed, best")
      .separated_by(',')
      .check(base::one_of({"global", "local", "mixed", "best"}))
      .type_name("NAME,...");
  cli.add_option("--generations", settings.generations, "iterations in a measurement")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--steps", settings.steps, "measurements; figures are medians")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--check", settings.is_checked, "life checks every cell");
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works: figures mean nothing");
  cli.add_option("--mpirun", settings.mpirun, "words in front of -np, for the shell")
      .type_name("COMMAND")
      .show_default();
  cli.add_option("--out", settings.folder, "folder for CSV, JSON, HTML, PNG and SVG")
      .type_name("FOLDER")
      .show_default();
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  if (settings.is_quick) {
    if (cli.count("--n") == 0) settings.n = 120;
    if (cli.count("--n-uniform") == 0) settings.n_uniform = 60;
    if (cli.count("--tpp") == 0) settings.tpp = {400};
    if (cli.count("--steps") == 0) settings.steps = 2;
    if (cli.count("--generations") == 0) settings.generations = 1;
  }
  try {
    return Bench(std::move(settings)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_hetero: %s\n", error.what());
    return 1;
  }
}
