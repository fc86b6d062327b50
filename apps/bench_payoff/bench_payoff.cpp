// SPDX-License-Identifier: BSD-3-Clause
// Is a change of the grid worth it? Runs the applications on chains of grids and says how long a step takes on each,
// how long a change takes under each placement, after how many steps it has paid for itself, and how many steps it
// cost. The tables are those of [Chinnusamy 2004, chapter 5] at the size of this machine.
//
// Nothing is measured here: the applications run under mpirun as a user would run them, and their --csv is read.
// Placements and repetitions take turns, so that a machine that gets slower or faster meets all of them alike; every
// figure is a median.
//
// A machine with fewer cores than processes cannot show that a larger grid is worth it. So one chain runs on emulated
// processors (common/slow_processor.c): every process sleeps for as long as a slow processor of its own would go on
// computing. Start of processes, communicators and exchange take what they take here.
#include "base/command_line.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"

#include <dyngrid.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

namespace {

struct Settings {
  std::vector<std::string> apps{"life", "pdgemv", "pdgemm", "pdgetrf"};
  std::map<std::string, std::vector<std::int64_t>> sizes{
      {"life", {1000, 2000}}, {"pdgemv", {2000, 4000}}, {"pdgemm", {800, 1600}}, {"pdgetrf", {800, 1600}}};
  std::vector<std::int64_t> all_sizes;
  std::vector<std::string> grids{"1x1", "1x2", "2x2", "3x3"};
  std::vector<std::string> topologies{"2x2", "1x4", "4x1", "2x3", "3x2"};
  std::vector<std::string> placements{"global", "local2", "optimal"};
  std::string nb = "64", mpirun = "mpirun --oversubscribe", folder = "bench_payoff";
  int steps = 3, reps = 3;
  bool is_quick = false, is_checked = false;
  std::vector<std::string> slow_grids{"2x2", "3x3", "4x4"};
  std::int64_t slow_n = 768; // twelve blocks of 64: equal shares on all three grids
  double slow_gflops = 0.15; // far below the share of a core that sixteen processes have here
};

using Times = std::map<std::string, std::vector<double>>; // by grid or by change of the grid

struct ChangeTimes {
  std::vector<double> total, start, merge, exchange;
  double moved_mb = 0;
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

// What [Chinnusamy 2004] prints, on a cluster of its time: seconds are those of another machine, ratios can be
// compared.
namespace thesis {
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr int p[] = {5, 6, 7, 8}; // the grids are p x p
constexpr std::int64_t n[] = {21000, 42000};
struct App {
  const char *name, *tables;
  double step_s[4][2]; // Tables 5.4, 5.7, 5.10
  int payoff[3][2][2]; // [change][size][global, local]; Tables 5.5, 5.8, 5.11; below 0: never
  int cost[3][2][2];   // Tables 5.6, 5.9, 5.12
};
const App applications[] = {
    {"life",
     "Tables 5.4 to 5.6",
     {{1.624, 6.453}, {1.130, 4.473}, {0.833, 3.302}, {0.640, 2.532}},
     {{{100, 84}, {97, 78}}, {{180, 124}, {183, 122}}, {{259, 220}, {260, 211}}},
     {{{44, 37}, {43, 35}}, {{64, 44}, {65, 44}}, {{79, 67}, {79, 65}}}},
    {"pdgemv",
     "Tables 5.7 to 5.9",
     {{2.1, 8.7}, {1.5, 5.7}, {1.1, 4.2}, {1.8, 3.3}},
     {{{80, 68}, {64, 51}}, {{144, 99}, {148, 99}}, {{-68, -58}, {203, 165}}},
     {{{34, 29}, {34, 27}}, {{50, 34}, {51, 34}}, {{28, 24}, {62, 51}}}},
    {"pdgemm",
     "Tables 5.10 to 5.12",
     {{1146, 6778}, {1000, 5307}, {1048, 4891}, {1116, none}},
     {{{1, 1}, {1, 1}}, {{-2, -1}, {1, 1}}, {{-1, -1}, {1, 1}}},
     {{{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}, {{1, 1}, {1, 1}}}},
};
constexpr double exchange_s[3][2][2] = {{{48.94, 41.271}, {190.90, 152.696}},
                                        {{53.25, 36.652}, {213.45, 142.351}},
                                        {{49.98, 42.410}, {199.93, 163.122}}}; // Table 5.3

struct Shapes { // a tall grid and the same lying, smallest and largest ratio of their times over all sizes
  const char *app, *tall, *flat;
  double lowest, highest;
};
const Shapes shapes[] = {
    // Tables 5.1 (9000 to 36000) and 5.2 (9000 to 24000), 12 processes
    {"pdgetrf", "12x1", "1x12", 6688.0 / 3173, 369.0 / 105},
    {"pdgetrf", "4x3", "3x4", 2494.0 / 2651, 88.0 / 77},
    {"pdgemm", "12x1", "1x12", 197.0 / 297, 3452.0 / 3137},
    {"pdgemm", "4x3", "3x4", 297.0 / 332, 897.0 / 953},
};
} // namespace thesis

std::string times_as_long(double slow, double fast) {
  return fmt::format("{} times as long", apps::Cell(slow / fast, 2).shown);
}

class Bench {
public:
  explicit Bench(Settings settings) : settings_(std::move(settings)), launcher_(settings_.mpirun, 300) {
    launcher_.preload("libdyngrid-yield.so");
  }

  // One run through all grids.
  void chain(const apps::Launcher& launcher, const std::vector<std::string>& grids, const std::string& app,
             std::int64_t n, const std::string& placement, Results& results) {
    std::vector<std::string> arguments{"--n",    std::to_string(n), "--nb",        settings_.nb,
                                       "--grid", grids[0],          "--placement", placement};
    if (settings_.is_checked) arguments.emplace_back("--check");
    if (app == "life") arguments.insert(arguments.end(), {"--distribution", "block"});
    // a factorization has as many steps as panels: the changes come at equal distances
    const bool is_lu = app == "pdgetrf";
    const int panels = static_cast<int>((n + nb_number() - 1) / nb_number());
    const int every = is_lu ? std::max(1, panels / static_cast<int>(grids.size())) : settings_.steps;
    std::string changes;
    for (std::size_t g = 1; g < grids.size(); ++g)
      changes += fmt::format("{}{}:{}", g > 1 ? "," : "", static_cast<int>(g) * every, grids[g]);
    if (!is_lu) arguments.insert(arguments.end(), {"--steps", std::to_string(every * static_cast<int>(grids.size()))});
    if (!changes.empty()) arguments.insert(arguments.end(), {"--resize-at", changes});
    const apps::RunRecord record = launcher.run(app, apps::processes_of(grids[0]), arguments);
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
    report.text("Life lies in one block per process, the others in blocks of the size above dealt out in turn (as "
                "ScaLAPACK wants them). Of blocks dealt out in turn nearly "
                "everything moves whatever the placement; with one block per process the placement decides how much.");
    report.text(fmt::format("All times in seconds, medians; a step's time is that of the slowest process. This machine "
                            "has {} cores: on grids of more than {} processes a "
                            "step cannot get faster, and 'never' is the right answer there.",
                            cores, cores));
    topology(report);
    for (const std::string& app : settings_.apps)
      for (const std::int64_t n : sizes_of(app)) measure(app, n);
    report.heading("Time of a change of the grid by placement");
    changes(report);
    for (const std::string& app : settings_.apps) payoff(report, app);
    slow(report);
    return report.finish() ? 0 : 1;
  }

private:
  std::int64_t nb_number() const { return settings_.nb == "block" ? 1 : std::stoll(settings_.nb); }
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
        chain(launcher_, settings_.grids, app, n, placement, results);
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
      apps::Table table{std::string("topology-") + app,
                        fmt::format("{}: seconds of {} by shape of the grid", app, step_word(app)),
                        {"n"},
                        {}};
      apps::Picture picture{table.id,
                            fmt::format("{}: {} on grids of different shape", app, step_word(app)),
                            fmt::format("blocks of {}, medians of {} runs", settings_.nb, settings_.reps),
                            "grid, rows x columns of processes",
                            "seconds",
                            apps::Picture::Kind::bars};
      picture.categories = settings_.topologies;
      table.columns.insert(table.columns.end(), settings_.topologies.begin(), settings_.topologies.end());
      for (const std::int64_t n : sizes_of(app)) {
        std::vector<apps::Cell> row{n};
        std::vector<std::vector<double>> runs;
        for (const std::string& grid : settings_.topologies) {
          runs.push_back(by_size[n].step[grid]);
          row.emplace_back(apps::median(runs.back()), 3);
        }
        table.rows.push_back(std::move(row));
        picture.series.push_back(apps::series_of(fmt::format("n = {}", n), std::move(runs)));
      }
      const std::vector<double>& t = picture.series.back().values;
      const auto fast = std::min_element(t.begin(), t.end()) - t.begin(),
                 slow = std::max_element(t.begin(), t.end()) - t.begin();
      const auto at = [&](auto k) { return static_cast<std::size_t>(k); };
      picture.note = fmt::format("With n = {} the shape {} is the fastest, {}; {} takes {}.", sizes_of(app).back(),
                                 picture.categories[at(fast)], apps::in_words(t[at(fast)]),
                                 picture.categories[at(slow)], times_as_long(t[at(slow)], t[at(fast)]));
      table.note =
          app == std::string("pdgetrf") ? "as Table 5.1 of Chinnusamy 2004" : "as Table 5.2 of Chinnusamy 2004";
      report.add(std::move(table));
      report.add(picture);
      shapes(report, app, by_size);
    }
  }

  /// A tall grid against the same one lying, ours and the published ones.
  void shapes(apps::Report& report, const std::string& app, std::map<std::int64_t, Results>& by_size) {
    apps::Table table{
        "shapes-" + app,
        fmt::format("{}: how much longer {} takes on a tall grid than on the same one lying", app, step_word(app)),
        {"grids", "n", "tall / lying", "published grids", "published tall / lying"},
        {}};
    const std::vector<std::string>& ours = settings_.topologies;
    for (const std::string& tall : ours) {
      const auto x = tall.find('x');
      const std::string flat = tall.substr(x + 1) + "x" + tall.substr(0, x);
      if (std::stoi(tall) <= std::stoi(flat) || std::find(ours.begin(), ours.end(), flat) == ours.end()) continue;
      for (const thesis::Shapes& published : thesis::shapes) {
        if (published.app != app || (std::stoi(flat) == 1) != (std::string(published.flat) == "1x12")) continue;
        for (const std::int64_t n : sizes_of(app))
          table.rows.push_back({tall + " / " + flat,
                                n,
                                {apps::median(by_size[n].step[tall]) / apps::median(by_size[n].step[flat]), 2},
                                fmt::format("{} / {}", published.tall, published.flat),
                                fmt::format("{:.2f} to {:.2f}", published.lowest, published.highest)});
      }
    }
    table.note = fmt::format(
        "published: Chinnusamy 2004, Table {}, over its sizes from 9000, 12 processes on a machine of its own{}",
        app == "pdgetrf" ? "5.1" : "5.2",
        app == "pdgetrf" ? ". ScaLAPACK factors panels of columns, so that pdgetrf wants few rows of processes" : "");
    if (!table.rows.empty()) report.add(std::move(table));
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
    apps::Table table{"changes",
                      "Seconds of a change of the grid, and what they went into",
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
                                  {t.moved_mb, 3},
                                  {apps::median(t.exchange), 3},
                                  {apps::median(t.start), 3},
                                  {apps::median(t.merge), 3},
                                  {apps::median(t.total), 3}});
          }
    table.note = "as Table 5.3, which has the exchange alone";
    report.add(std::move(table));
    apps::Table beside{
        "changes-published",
        "How much longer the exchange takes with the placement global than with the best other one, ours and published",
        {"application", "n", "change", "global +%", "published change", "published n", "published +%"},
        {}};
    for (const std::string& app : settings_.apps) {
      if (app != "life" || settings_.placements.size() < 2 || settings_.placements[0] != "global")
        continue; // one block per process, as there
      const std::int64_t n = sizes_of(app).back();
      const auto all = moves();
      for (std::size_t k = 0; k < std::max<std::size_t>(3, all.size()); ++k) {
        std::vector<apps::Cell> row{"-", "-", "-", "-", "-", "-", "-"};
        if (k < all.size()) {
          double best = std::numeric_limits<double>::infinity();
          for (std::size_t other = 1; other < settings_.placements.size(); ++other)
            best =
                std::min(best, apps::median(results_[{app, n}].change[all[k]][settings_.placements[other]].exchange));
          row[0] = app, row[1] = n, row[2] = all[k];
          row[3] = {100 * (apps::median(results_[{app, n}].change[all[k]]["global"].exchange) / best - 1), 2};
        }
        if (k < 3) {
          row[4] = fmt::format("{0}x{0} -> {1}x{1}", thesis::p[k], thesis::p[k + 1]), row[5] = thesis::n[1];
          row[6] = {100 * (thesis::exchange_s[k][1][0] / thesis::exchange_s[k][1][1] - 1), 2};
        }
        beside.rows.push_back(std::move(row));
      }
    }
    beside.note = "published: Chinnusamy 2004, Table 5.3, against its local placement, on 25 to 64 hosts with one link "
                  "each; on one host the data goes through memory";
    if (!beside.rows.empty()) report.add(std::move(beside));
    for (const std::string& app : settings_.apps) {
      const std::int64_t n = sizes_of(app).back();
      apps::Picture picture{"exchange-" + app,
                            fmt::format("{}: moving the data to another grid, by placement of the processes", app),
                            fmt::format("n = {}, {}, medians of {} runs", n,
                                        app == "life" ? "one block per process" : "blocks of " + settings_.nb,
                                        settings_.reps),
                            "change of the grid",
                            "seconds of the exchange",
                            apps::Picture::Kind::bars};
      picture.categories = moves();
      for (const std::string& placement : settings_.placements) {
        std::vector<std::vector<double>> runs;
        for (const std::string& move : picture.categories)
          runs.push_back(results_[{app, n}].change[move][placement].exchange);
        picture.series.push_back(apps::series_of(placement, std::move(runs)));
      }
      std::vector<std::string> words;
      for (const apps::Series& series : picture.series)
        words.push_back(fmt::format("{} with {}",
                                    apps::in_words(std::accumulate(series.values.begin(), series.values.end(), 0.0)),
                                    series.name));
      picture.note = fmt::format("{} the data in {}{}.",
                                 picture.categories.size() == 1
                                     ? "The change moves"
                                     : fmt::format("All {} changes together move", picture.categories.size()),
                                 fmt::join(words, ", "),
                                 app == "life" ? ""
                                               : "; of blocks dealt out in turn nearly everything moves with any "
                                                 "placement, so that little can be seen between them");
      report.add(picture);
    }
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
    apps::Table times{
        app + "-times", fmt::format("{}: seconds of a step ({}) by grid", app, step_word(app)), {"grid"}, {}};
    apps::Picture picture{
        app + "-times",
        fmt::format("{}: one step ({}) on each grid", app, step_word(app)),
        fmt::format("{}, medians", app == "life" ? "one block per process" : "blocks of " + settings_.nb),
        "grid, rows x columns of processes",
        "seconds",
        apps::Picture::Kind::bars};
    picture.categories = settings_.grids;
    for (const std::int64_t n : sizes_of(app)) {
      times.columns.push_back(fmt::format("n = {}", n));
      std::vector<std::vector<double>> runs;
      for (const std::string& grid : settings_.grids) runs.push_back(results_[{app, n}].step[grid]);
      picture.series.push_back(apps::series_of(times.columns.back(), std::move(runs)));
    }
    picture.note = fmt::format("With n = {} a step takes {}.", sizes_of(app).back(),
                               on_grids(settings_.grids, picture.series.back().values));
    for (const std::string& grid : settings_.grids) {
      std::vector<apps::Cell> row{grid};
      for (const std::int64_t n : sizes_of(app)) row.emplace_back(t_step(app, n, grid), 3);
      times.rows.push_back(std::move(row));
    }
    times.note = app == "life"     ? "as Table 5.4"
                 : app == "pdgemv" ? "as Table 5.7"
                 : app == "pdgemm" ? "as Table 5.10"
                                   : "the whole factorization and the solution";
    report.add(std::move(times));
    report.add(picture);
    std::vector<std::pair<std::string, const Times*>> curves;
    for (const std::int64_t n : sizes_of(app)) curves.emplace_back(fmt::format("n = {}", n), &results_[{app, n}].step);
    const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    speed_up(report, app, app, settings_.grids, curves,
             fmt::format("This machine has {} cores, and more processes than that share them", cores));

    apps::Table table{app + "-payoff",
                      fmt::format("{}: payoff point and resize cost, in steps ({})", app, step_word(app)),
                      {"n", "change", "placement", "t_old s", "t_new s", "change s", "payoff point", "resize cost",
                       "exchange s", "payoff of the exchange", "cost of the exchange"},
                      {}};
    for (const std::int64_t n : sizes_of(app))
      payoff_rows(table, settings_.grids, settings_.placements, n, results_[{app, n}]);
    table.note = "payoff point = ceil(t / (t_old - t_new)), 'never' when a step did not get shorter; resize cost = "
                 "ceil(t / t_new). "
                 "Once for the whole change, most of which is starting processes, and once for moving the data alone, "
                 "as the published tables have it";
    report.add(std::move(table));
    published(report, app);

    const std::int64_t n = sizes_of(app).back();
    apps::Picture costs{app + "-cost",
                        fmt::format("{}: how many steps a change of the grid costs", app),
                        fmt::format("n = {}; a step is {}; medians", n, step_word(app)),
                        "change of the grid",
                        "steps of the new grid that the change took",
                        apps::Picture::Kind::bars};
    costs.categories = moves();
    for (const bool is_whole : {true, false})
      for (const std::string& placement : settings_.placements) {
        if (is_whole && placement != settings_.placements.back()) continue;
        std::vector<std::vector<double>> runs;
        for (std::size_t g = 1; g < settings_.grids.size(); ++g) {
          const ChangeTimes& t = results_[{app, n}].change[costs.categories[g - 1]][placement];
          runs.push_back(is_whole ? t.total : t.exchange);
          for (double& run : runs.back()) run /= t_step(app, n, settings_.grids[g]);
        }
        costs.series.push_back(apps::series_of(is_whole ? fmt::format("whole change ({})", placement)
                                                        : fmt::format("exchange alone, {}", placement),
                                               std::move(runs)));
      }
    costs.is_logarithmic = true;
    const auto span = [&](std::size_t first, std::size_t last) {
      double low = std::numeric_limits<double>::infinity(), high = 0;
      for (std::size_t k = first; k < last; ++k)
        for (const double value : costs.series[k].values) low = std::min(low, value), high = std::max(high, value);
      const std::string from = apps::Cell(low, 2).shown, to = apps::Cell(high, 2).shown;
      return from == to ? from : from + " to " + to;
    };
    costs.note = fmt::format("A whole change takes as long as {} steps of the new grid, moving the data alone as long "
                             "as {}; the difference is the start of processes.",
                             span(0, 1), span(1, costs.series.size()));
    report.add(costs);
  }

  static std::string on_grids(const std::vector<std::string>& grids, const std::vector<double>& seconds) {
    std::vector<std::string> words;
    for (std::size_t g = 0; g < grids.size(); ++g)
      words.push_back(fmt::format("{} on {}", apps::in_words(seconds[g]), grids[g]));
    return fmt::format("{}", fmt::join(words, ", "));
  }

  /// One row for each change of the grid and placement.
  static void payoff_rows(apps::Table& table, const std::vector<std::string>& grids,
                          const std::vector<std::string>& placements, std::int64_t n, Results& results) {
    for (std::size_t g = 1; g < grids.size(); ++g) {
      const double t_old = apps::median(results.step[grids[g - 1]]), t_new = apps::median(results.step[grids[g]]);
      for (const std::string& placement : placements) {
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

  /// How many times as fast as on the first grid, against the number of processes, with the ideal; also of every single
  /// run.
  static void speed_up(apps::Report& report, const std::string& id, const std::string& what,
                       const std::vector<std::string>& grids,
                       const std::vector<std::pair<std::string, const Times*>>& curves, const std::string& why) {
    const int first = apps::processes_of(grids[0]);
    apps::Table table{id + "-speed-up",
                      fmt::format("{}: speed-up over {} by the number of processes", what, grids[0]),
                      {"grid", "processes", "ideal"},
                      {}};
    apps::Picture picture{table.id,
                          fmt::format("{}: how many times as fast as on {}", what, grids[0]),
                          "medians, and every single run against the median on the first grid",
                          "processes",
                          "speed-up",
                          apps::Picture::Kind::lines};
    apps::Series ideal{"ideal", {}, true};
    for (const std::string& grid : grids) {
      picture.categories.push_back(std::to_string(apps::processes_of(grid)));
      picture.places.push_back(apps::processes_of(grid));
      ideal.values.push_back(static_cast<double>(apps::processes_of(grid)) / first);
      table.rows.push_back({grid, apps::processes_of(grid), {ideal.values.back(), 3}});
    }
    std::string words;
    for (const auto& [name, times] : curves) {
      const double t_first = apps::median(times->at(grids[0]));
      std::vector<std::vector<double>> runs;
      for (std::size_t g = 0; g < grids.size(); ++g) {
        runs.push_back(times->at(grids[g]));
        for (double& run : runs.back()) run = t_first / run;
      }
      picture.series.push_back(apps::series_of(name, std::move(runs)));
      const std::vector<double>& values = picture.series.back().values;
      table.columns.insert(table.columns.end(), {name, name + ": % of the ideal"});
      for (std::size_t g = 0; g < grids.size(); ++g)
        table.rows[g].insert(table.rows[g].end(), {{values[g], 3}, {100 * values[g] / ideal.values[g], 3}});
      const auto best = static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
      words += fmt::format("{} {}", words.empty() ? "" : ";", name);
      words += best == 0 ? " is fastest there"
                         : fmt::format(" is {} times as fast on {} processes, {:.0f} % of the ideal",
                                       apps::Cell(values[best], 3).shown, picture.categories[best],
                                       100 * values[best] / ideal.values[best]);
    }
    picture.series.push_back(std::move(ideal));
    picture.note = fmt::format("Against {}:{}. {}.", grids[0], words, why);
    report.add(std::move(table));
    report.add(picture);
  }

  /// What the thesis prints for the same application, beside ours.
  static void published(apps::Report& report, const std::string& name) {
    for (const thesis::App& app : thesis::applications) {
      if (app.name != name) continue;
      apps::Table table{name + "-published",
                        fmt::format("{}: the published figures", name),
                        {"n", "change", "t_old s", "t_new s", "speed-up", "ideal", "% of the ideal", "payoff, global",
                         "payoff, local", "cost, global", "cost, local"},
                        {}};
      for (std::size_t size = 0; size < 2; ++size)
        for (std::size_t k = 0; k < 3; ++k) {
          const double t_old = app.step_s[k][size], t_new = app.step_s[k + 1][size],
                       ideal = static_cast<double>(thesis::p[k + 1] * thesis::p[k + 1]) / (thesis::p[k] * thesis::p[k]);
          const auto steps = [](int number) { return number < 0 ? std::string("never") : std::to_string(number); };
          table.rows.push_back({thesis::n[size],
                                fmt::format("{0}x{0} -> {1}x{1}", thesis::p[k], thesis::p[k + 1]),
                                {t_old, 4},
                                {t_new, 4},
                                {t_old / t_new, 3},
                                {ideal, 3},
                                {100 * t_old / t_new / ideal, 3},
                                steps(app.payoff[k][size][0]),
                                steps(app.payoff[k][size][1]),
                                std::to_string(app.cost[k][size][0]),
                                std::to_string(app.cost[k][size][1])});
        }
      table.note = fmt::format(
          "Chinnusamy 2004, {}; its changes are the exchange alone. The seconds are of another machine, with as many "
          "processors as processes; ratios, payoff points and costs can be set beside ours, best beside "
          "those of the emulated processors below",
          app.tables);
      report.add(std::move(table));
    }
  }

  /// A chain that pays off on any machine: on emulated processors, one for each process.
  void slow(apps::Report& report) {
    if (settings_.slow_grids.empty()) return;
    report.heading("pdgemm on slow processors that are emulated");
    apps::Launcher launcher(settings_.mpirun, 300);
    launcher.preload("libdyngrid-yield.so");
    if (!launcher.preload("libdyngrid-slow.so")) {
      report.text("Left out: libdyngrid-slow.so was not built (it is not with sanitizers).");
      return;
    }
    launcher.set("SLOWLAB_SPEED", fmt::format("{}", settings_.slow_gflops));
    launcher.set("DYNGRID_CORES", "16"); // those of the emulation
    const std::vector<std::string>& grids = settings_.slow_grids;
    const std::int64_t n = settings_.slow_n;
    report.text(fmt::format(
        "Every process has a processor of {} GFLOP/s of its own, whatever this machine has: after each BLAS routine it "
        "sleeps for as long as such a processor would go on computing. Steps are emulated so; starting processes, "
        "communicators and moving the data take what they take on this machine. It shows what a larger grid is worth "
        "where every process has a processor.",
        settings_.slow_gflops));
    Results results;
    std::vector<std::string> placements{settings_.placements.front()};
    if (settings_.placements.size() > 1) placements.push_back(settings_.placements.back());
    for (int rep = 0; rep < settings_.reps; ++rep)
      for (const std::string& placement : placements) {
        say(fmt::format("bench_payoff: emulated processors, placement {}, repetition {} of {} ...", placement, rep + 1,
                        settings_.reps));
        chain(launcher, grids, "pdgemm", n, placement, results);
      }
    say("");
    speed_up(report, "slow", "pdgemm, emulated", grids, {{fmt::format("n = {}", n), &results.step}},
             "Every process has a processor of its own; what is missing to the ideal is messages, and processes of "
             "this machine that wait for a core");
    apps::Table table{
        "slow-payoff",
        fmt::format("pdgemm on emulated processors of {} GFLOP/s: payoff point and resize cost, in steps ({})",
                    settings_.slow_gflops, step_word("pdgemm")),
        {"n", "change", "placement", "t_old s", "t_new s", "change s", "payoff point", "resize cost", "exchange s",
         "payoff of the exchange", "cost of the exchange"},
        {}};
    payoff_rows(table, grids, placements, n, results);
    table.note = "emulated, see above. Published for PDGEMM, of the exchange alone (Chinnusamy 2004, Tables 5.11 and "
                 "5.12, 5x5 -> 6x6): payoff point 1, resize cost 1";
    report.add(std::move(table));
    apps::Picture picture{
        "slow-times",
        "pdgemm on emulated processors: a step on each grid, and the change to it",
        fmt::format("n = {}, blocks of {}, {} GFLOP/s for each process", n, settings_.nb, settings_.slow_gflops),
        "grid, rows x columns of processes",
        "seconds",
        apps::Picture::Kind::bars};
    picture.categories = grids;
    std::vector<std::vector<double>> steps, changes(1);
    for (const std::string& grid : grids) steps.push_back(results.step[grid]);
    const std::string& placement = placements.back();
    std::vector<std::string> words;
    for (std::size_t g = 1; g < grids.size(); ++g) {
      changes.push_back(results.change[arrow(grids[g - 1], grids[g])][placement].total);
      const std::string after = point(apps::median(changes.back()), apps::median(steps[g - 1]), apps::median(steps[g]));
      words.push_back(
          fmt::format("{} -> {} takes {} and {}", grids[g - 1], grids[g], apps::in_words(apps::median(changes.back())),
                      after == "never" ? "does not pay off"
                                       : fmt::format("has paid off after {} step{}", after, after == "1" ? "" : "s")));
    }
    picture.series = {apps::series_of("one product", std::move(steps)),
                      apps::series_of(fmt::format("change to this grid ({})", placement), std::move(changes))};
    picture.note =
        fmt::format("A product takes {}; {}.", on_grids(grids, picture.series[0].values), fmt::join(words, ", "));
    report.add(picture);
  }

  Settings settings_;
  apps::Launcher launcher_;
  std::map<std::pair<std::string, std::int64_t>, Results> results_;
};

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  base::CommandLine cli(
      "Is a change of the grid worth it? Runs life, pdgemv, pdgemm and pdgetrf through a chain of grids, "
      "under mpirun, and prints the time of a step on each "
      "grid, the time of each change by placement, payoff point and resize cost.",
      "bench_payoff");
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
  cli.add_option("--topologies", settings.topologies,
                 "shapes of the grid to compare for pdgetrf and pdgemm; 'none' for none")
      .separated_by(',')
      .type_name("PxQ,...");
  cli.add_option("--placements", settings.placements, "global, local1, local2, optimal")
      .separated_by(',')
      .check(base::one_of({"global", "local1", "local2", "optimal"}))
      .type_name("NAME,...");
  cli.add_option("--nb", settings.nb, "block size").type_name("NB").show_default();
  cli.add_option("--steps", settings.steps, "steps on each grid; the first is left out")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--reps", settings.reps, "repetitions; figures are medians")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--slow-grids", settings.slow_grids,
                 "chain of grids for pdgemm on emulated slow processors; 'none' for none")
      .separated_by(',')
      .type_name("PxQ,...");
  cli.add_option("--slow-n", settings.slow_n, "order of its matrices").check(base::positive_number()).show_default();
  cli.add_option("--slow-gflops", settings.slow_gflops,
                 "speed of each emulated processor; low enough that this machine can do the work of all")
      .check(base::positive_number())
      .show_default();
  cli.add_flag("--check", settings.is_checked, "the applications check their results");
  cli.add_flag("--quick", settings.is_quick, "small and short, to see that it works: figures mean nothing");
  cli.add_option("--mpirun", settings.mpirun, "words in front of -np, for the shell")
      .type_name("COMMAND")
      .show_default();
  cli.add_option("--out", settings.folder, "folder for CSV, JSON, HTML, PNG and SVG")
      .type_name("FOLDER")
      .show_default();
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  if (settings.is_quick) {
    if (settings.all_sizes.empty()) settings.all_sizes = {128};
    if (cli.count("--grids") == 0) settings.grids = {"1x1", "1x2", "2x2"};
    if (cli.count("--topologies") == 0) settings.topologies = {"1x2", "2x1"};
    if (cli.count("--placements") == 0) settings.placements = {"global", "optimal"};
    if (cli.count("--steps") == 0) settings.steps = 2;
    if (cli.count("--reps") == 0) settings.reps = 1;
    if (cli.count("--nb") == 0) settings.nb = "16";
    if (cli.count("--slow-grids") == 0) settings.slow_grids = {"1x1", "1x2", "2x2"};
    if (cli.count("--slow-n") == 0) settings.slow_n = 128;
    if (cli.count("--slow-gflops") == 0) settings.slow_gflops = 0.003; // 1.4 s, 0.7 s, 0.35 s
  }
  if (settings.topologies == std::vector<std::string>{"none"}) settings.topologies.clear();
  if (settings.slow_grids == std::vector<std::string>{"none"}) settings.slow_grids.clear();
  try {
    for (const auto* list : {&settings.grids, &settings.topologies, &settings.slow_grids})
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
