// SPDX-License-Identifier: BSD-3-Clause
// The tables of [Chinnusamy 2004, chapter 6] as they would be seen by a user: a program on unequal processors, or a
// running one that is offered free processors, and what a step takes.
#include "live.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse_json.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "common/launch.hpp"
#include "common/own_work.hpp"
#include "control/client.hpp"
#include "emulation.hpp"
#include "gridmap/mapping.hpp"

namespace bench {
namespace {

using base::Json;

constexpr int generations = 4;                                       ///< of life, in a step
constexpr double least_ratio = 0.95, most_ratio = 1.10;              ///< bars: measured over theoretical time
constexpr double published_n = 2000, published_factor_s = 0.0962e-3; ///< seconds of rows * columns / speed = 1

/// GFLOP/s of a processor of speed 1: a step takes about a second at first, and its real work fits into two cores.
double gflops_of(const std::string& application, const std::vector<double>& speeds) {
  const double all = application == "life" ? 7.4e-3 : 0.2; // of the first grid
  return all / std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

/// Operations on each element in a step.
double flops_per_element(const std::string& application, std::int64_t n) {
  return application == "life" ? apps::life_flops_per_cell * generations : 2.0 * static_cast<double>(n);
}

void say(const std::string& what) {
  if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

/// Figures of studies/papers/published.csv, in seconds.
class Published {
public:
  explicit Published(const std::string& path) {
    if (!std::filesystem::exists(path)) return;
    const auto lines = apps::read_csv(path);
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const auto& f = lines[k];
      figures_[{f.at(0).substr(f.at(0).find("Table ") + 6), f.at(8), f.at(9), f.at(10)}] = std::stod(f.at(11));
    }
  }
  /// phase: measured, theory. Not a number where none was published.
  double operator()(const std::string& table, const std::string& method, const std::string& phase,
                    const std::string& process) const {
    const auto found = figures_.find({table, method, phase, process});
    return found == figures_.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  }

private:
  std::map<std::tuple<std::string, std::string, std::string, std::string>, double> figures_;
};

/// One grid of a run.
struct Stage {
  std::string grid, why;       ///< why: nothing was taken
  double power = 0;            ///< of the processors that were added
  double theory_s = 0;         ///< largest rows * columns / speed, as seconds of these processors
  double published_unit_s = 0; ///< the same as the published tables have it
  double change_s = 0;
  std::vector<double> seconds; ///< of its steps, without the first
};

/// One run of an application through all growths.
class Run {
public:
  Run(const LiveSettings& settings, const LiveSeries& series, const std::vector<double>& offers,
      const std::string& application, const std::string& strategy)
      : settings_(settings), series_(series), offers_(offers), gflops_(gflops_of(application, series.first)),
        application_(application), strategy_(strategy), free_(processors_of(series.free_ones)),
        emulation_(fmt::format("{} by {}", application, strategy), series.first, free_, gflops_) {}

  std::vector<Stage> go() {
    start();
    emulation_.until("the application answers", [&] { return connect(); });
    wait_for_steps(); // before them it may not have said how fast its processors are
    look();
    for (const double tpp : offers_) {
      wait_for_steps();
      grow(tpp);
    }
    job_.reset();
    read_times(emulation_.end());
    return std::move(stages_);
  }

private:
  static std::vector<Processor> processors_of(const std::vector<double>& speeds) {
    std::vector<Processor> list;
    for (const double speed : speeds) list.push_back({fmt::format("p{}", list.size() + 1), speed});
    return list;
  }

  void start() {
    const auto steps = (offers_.size() + 1) * static_cast<std::size_t>(settings_.steps + settings_.spare_steps);
    std::vector<std::string> arguments{"--n",           std::to_string(settings_.n),
                                       "--nb",          "1",
                                       "--grid",        "2x2",
                                       "--steps",       std::to_string(steps),
                                       "--host-speeds", fmt::format("{}", fmt::join(series_.first, ","))};
    if (application_ == "life") arguments.insert(arguments.end(), {"--generations", std::to_string(generations)});
    emulation_.start({"--processes", "join", "--mpirun", settings_.mpirun, "-np", std::to_string(series_.first.size())},
                     application_, arguments);
  }

  bool connect() {
    try {
      job_ = std::make_unique<control::Client>(control::Client::to_socket(emulation_.path("run/job-live.sock"), 1));
      return true;
    } catch (const base::Error&) { // not yet
      return false;
    }
  }

  /// Asks which processors are in the grid, and works out what its steps should take.
  void look() {
    const Json status = job_->call("status", {{"processes", true}});
    const int nprow = status.at("grid")[0].get<int>(), npcol = status.at("grid")[1].get<int>();
    gridmap::MappingRequest request;
    request.nprow = nprow;
    request.npcol = npcol;
    request.m = request.n = settings_.n;
    request.speeds.assign(static_cast<std::size_t>(nprow * npcol), 0);
    for (const Json& process : status.at("processes"))
      if (process.value("place", Json()).is_array())
        request.speeds.at(
            static_cast<std::size_t>(process.at("place")[0].get<int>() * npcol + process.at("place")[1].get<int>())) =
            process.at("speed").get<double>();
    Stage stage;
    stage.grid = fmt::format("{}x{}", nprow, npcol);
    const double t_theory = gridmap::map_in_place(request).t_theory;
    stage.theory_s = t_theory * flops_per_element(application_, settings_.n) / (gflops_ * 1e9);
    const double larger = published_n / static_cast<double>(settings_.n);
    stage.published_unit_s = t_theory * larger * larger * published_factor_s;
    stages_.push_back(stage);
  }

  void wait_for_steps() {
    emulation_.until("its steps are done",
                     [&] { return job_->call("status", Json::object()).value("steps_on_grid", 0) >= settings_.steps; });
  }

  void grow(double tpp) {
    Json hosts = Json::array();
    for (const Processor& processor : free_)
      hosts.push_back({{"name", processor.host}, {"slots", 1}, {"speed", processor.speed}});
    const Json answer = job_->call(
        "grow", {{"hosts", hosts}, {"tpp", tpp}, {"form", strategy_}, {"force", true}, {"undo", false}, {"wait", true}},
        2 * Emulation::patience_s);
    const std::string outcome = answer.value("outcome", "");
    if (outcome == "declined") {
      Stage same = stages_.back();
      same.power = 0;
      same.why = answer.value("reason", "");
      stages_.push_back(same);
      return;
    }
    if (outcome != "done") emulation_.fail(fmt::format("a growth is not done: {}", base::json_text(answer)));
    look();
    for (const Json& host : answer.at("chosen").at("hosts")) {
      const auto at = std::find_if(free_.begin(), free_.end(),
                                   [&](const Processor& p) { return p.host == host.at("name").get<std::string>(); });
      if (at == free_.end()) emulation_.fail("it has taken what was not offered");
      stages_.back().power += at->speed;
      free_.erase(at);
    }
  }

  void read_times(const apps::RunRecord& record) {
    std::size_t stage = 0, change = 0;
    bool is_first = true;
    for (const apps::RunStep& step : record.steps) {
      if (change < record.changes.size() && record.changes[change].before_step == step.step) {
        do ++stage;
        while (stage < stages_.size() && !stages_[stage].why.empty());
        if (stage == stages_.size()) emulation_.fail("it has changed its grid more often than it was asked to");
        stages_[stage].change_s = record.changes[change++].total_s;
        is_first = true;
      }
      if (step.grid != stages_[stage].grid) emulation_.fail(fmt::format("step {} was on {}", step.step, step.grid));
      if (!is_first) stages_[stage].seconds.push_back(step.seconds);
      is_first = false;
    }
    for (std::size_t k = 1; k < stages_.size(); ++k)
      if (!stages_[k].why.empty()) stages_[k].seconds = stages_[k - 1].seconds;
  }

  const LiveSettings& settings_;
  const LiveSeries& series_;
  const std::vector<double>& offers_;
  const double gflops_; ///< of speed 1
  const std::string application_, strategy_;
  std::vector<Processor> free_;
  std::vector<Stage> stages_;
  Emulation emulation_;
  std::unique_ptr<control::Client> job_;
};

/// All rounds of one strategy: of each stage all steps.
using Series = std::vector<Stage>;

void add_to(Series& all, const Series& one) {
  if (all.empty()) {
    all = one;
    return;
  }
  for (std::size_t k = 0; k < one.size(); ++k) {
    if (all.at(k).grid != one[k].grid || all[k].power != one[k].power)
      throw std::runtime_error(fmt::format("the same offer was answered by {} and by {}", all[k].grid, one[k].grid));
    all[k].seconds.insert(all[k].seconds.end(), one[k].seconds.begin(), one[k].seconds.end());
  }
}

/// What the rounds of one application have shown.
class Shown {
public:
  Shown(const LiveSettings& settings, const LiveSeries& series, std::string application)
      : settings_(settings), series_(series), application_(std::move(application)) {}

  void add(const std::string& strategy, std::size_t run, const Series& series) {
    add_to(by_name_[strategy].try_emplace(run).first->second, series);
  }

  void tell(apps::Report& report, const Published& published) {
    report.heading(fmt::format("{} of {}", series_.title, application_));
    apps::Table table{
        fmt::format("Steps of {}, n = {}: theory is the largest rows * columns / speed", application_, settings_.n),
        {"growth", "total speed", "strategy", "grid", "speed used"},
        {},
        ""};
    const bool has_published = !series_.table.empty();
    if (has_published)
      table.columns.insert(table.columns.end(),
                           {"published theory ms", "published ms", "theory ms (that unit)", "published / theory"});
    table.columns.insert(table.columns.end(), {"theory s", "measured s", "measured / theory", "change s"});
    for (std::size_t run = 0; run < series_.offers.size(); ++run)
      for (std::size_t k = run == 0 ? 0 : 1; k <= series_.offers[run].size(); ++k) // all begin on the same grid
        for (const std::string& strategy : settings_.strategies) {
          const Stage& stage = by_name_.at(strategy).at(run).at(k);
          const double measured_s = apps::median(stage.seconds), ratio = measured_s / stage.theory_s;
          const std::string total = k == 0 ? "-" : fmt::format("{:g}", series_.offers[run][k - 1]);
          least_ = std::min(least_, ratio);
          most_ = std::max(most_, ratio);
          std::vector<apps::Cell> row{static_cast<int>(k), total, strategy, stage.grid,
                                      fmt::format("{:.1f}", stage.power)};
          if (has_published) {
            const double theory_s = published(series_.table, strategy, "theory", total),
                         seconds = published(series_.table, strategy, "measured", total);
            row.insert(
                row.end(),
                {{1e3 * theory_s, 4}, {1e3 * seconds, 4}, {1e3 * stage.published_unit_s, 4}, {seconds / theory_s, 3}});
          }
          row.insert(row.end(), {{stage.theory_s, 4}, {measured_s, 4}, {ratio, 3}, {stage.change_s, 3}});
          table.rows.push_back(std::move(row));
          samples(report, strategy, run, k);
        }
    table.note = note();
    report.add(table);
  }

private:
  std::string note() const {
    std::string text = fmt::format("measured / theory {:.3f} to {:.3f} (bar {:.2f} to {:.2f})", least_, most_,
                                   least_ratio, most_ratio);
    const auto best = by_name_.find("best");
    if (best == by_name_.end() || by_name_.size() == 1) return text;
    std::string ratios;
    for (std::size_t run = 0; run < series_.offers.size(); ++run)
      for (std::size_t k = 1; k <= series_.offers[run].size(); ++k) {
        double other_s = std::numeric_limits<double>::infinity();
        for (const auto& [name, runs] : by_name_)
          if (name != "best") other_s = std::min(other_s, apps::median(runs.at(run).at(k).seconds));
        const double best_s = apps::median(best->second.at(run).at(k).seconds);
        ratios += fmt::format("{}{:.3f}", ratios.empty() ? "" : ", ", best_s / other_s);
      }
    return text + fmt::format("; a step of best over that of the best of the others, after each growth: {}", ratios);
  }

  void samples(apps::Report& report, const std::string& strategy, std::size_t run, std::size_t k) const {
    const Series& stages = by_name_.at(strategy).at(run);
    const Stage& stage = stages.at(k);
    const bool is_alone = series_.offers[run].size() == 1; // as the published figures are named
    apps::Sample sample;
    sample.part = series_.part;
    sample.application = application_;
    sample.n = settings_.n;
    sample.nb = "block";
    sample.from = stages[k == 0 ? 0 : k - 1].grid;
    sample.to = stage.grid;
    sample.ranks = apps::processes_of(stage.grid);
    sample.method = strategy;
    sample.process = k == 0     ? "before"
                     : is_alone ? fmt::format("{:g}", series_.offers[run][0])
                                : fmt::format("{}: {:g}", k, series_.offers[run][k - 1]);
    sample.is_checked = true;
    sample.phase = "measured";
    report.add(sample, stage.seconds);
    sample.phase = "theory";
    report.add(sample, {stage.theory_s});
    sample.phase = "change";
    if (k > 0 && stage.why.empty()) report.add(sample, {stage.change_s});
  }

  const LiveSettings& settings_;
  const LiveSeries& series_;
  const std::string application_;
  std::map<std::string, std::map<std::size_t, Series>> by_name_; ///< by strategy, then by run of series_.offers
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
};

void run_series(const LiveSettings& settings, const LiveSeries& series, const std::string& application,
                const Published& published, apps::Report& report) {
  Shown shown(settings, series, application);
  for (int round = 0; round < settings.rounds; ++round)
    for (std::size_t run = 0; run < series.offers.size(); ++run)
      for (std::size_t k = 0; k < settings.strategies.size(); ++k) {
        const std::size_t turn = (k + static_cast<std::size_t>(round)) % settings.strategies.size();
        const std::string& strategy = settings.strategies[turn];
        say(fmt::format("bench_hetero: {} {} of {} by {} ...", series.title, run + 1, application, strategy));
        shown.add(strategy, run, Run(settings, series, series.offers[run], application, strategy).go());
      }
  say("");
  shown.tell(report, published);
  std::fflush(stdout); // what there is stays, should the next one take too long
}

// ---- grids that stay

/// What every process of life took for a step, by the clock on the wall, and what the slowest did.
struct GridTimes {
  std::vector<std::vector<double>> each; ///< row-major, of its own work
  std::vector<double> step;
};

GridTimes times_on(const LiveSettings& settings, const LiveGrid& grid, double gflops) {
  const int procs = grid.nprow * grid.npcol;
  say(fmt::format("bench_hetero: {} ...", grid.method));
  Emulation emulation(grid.method, grid.speeds, {}, gflops);
  const auto list = [](const std::vector<std::int64_t>& sizes) { return fmt::format("{}", fmt::join(sizes, ",")); };
  emulation.start({"--mpirun", settings.mpirun, "-np", std::to_string(procs)}, "life",
                  {"--n", std::to_string(settings.n), "--grid", fmt::format("{}x{}", grid.nprow, grid.npcol), "--steps",
                   std::to_string(settings.steps + 1), "--generations", std::to_string(generations), "--distribution",
                   "weighted", "--rows", list(grid.rows), "--columns", list(grid.cols), "--loads",
                   emulation.path("loads.csv")});
  GridTimes times{std::vector<std::vector<double>>(static_cast<std::size_t>(procs)), {}};
  for (const apps::RunStep& step : emulation.end().steps)
    if (step.step > 0) times.step.push_back(step.seconds);
  const auto lines = apps::read_csv(emulation.path("loads.csv"));
  for (std::size_t k = 1; k < lines.size(); ++k)
    if (lines[k].at(0) != "0")
      times.each.at(static_cast<std::size_t>(std::stoi(lines[k].at(3)) * grid.npcol + std::stoi(lines[k].at(4))))
          .push_back(std::stod(lines[k].at(9)));
  say("");
  return times;
}

void run_grids(const LiveSettings& settings, const LiveGrids& grids, const Published& published, apps::Report& report) {
  report.heading(grids.title);
  apps::Table table{
      fmt::format("Seconds of life for each processor, n = {}: theory is rows * columns / speed", settings.n),
      {"shares", "speed", "rows x columns", "published theory s", "published s", "theory s", "measured s",
       "measured / theory"},
      {},
      ""};
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const LiveGrid& grid : grids.grids) {
    const double gflops = gflops_of("life", grids.speeds),
                 unit_s = flops_per_element("life", settings.n) / (gflops * 1e9);
    const GridTimes times = times_on(settings, grid, gflops);
    const auto add = [&](const std::string& speed, const std::string& shape, const std::string& process,
                         double theory_s, const std::vector<double>& seconds) {
      const double measured_s = apps::median(seconds), ratio = measured_s / theory_s;
      least = std::min(least, ratio);
      most = std::max(most, ratio);
      table.rows.push_back({grid.method,
                            speed,
                            shape,
                            {published(grids.table, grid.method, "theory", process), 4},
                            {published(grids.table, grid.method, "measured", process), 4},
                            {theory_s, 4},
                            {measured_s, 4},
                            {ratio, 3}});
      apps::Sample sample;
      sample.part = grids.part;
      sample.application = "life";
      sample.n = settings.n;
      sample.nb = "block";
      sample.from = sample.to = fmt::format("{}x{}", grid.nprow, grid.npcol);
      sample.ranks = grid.nprow * grid.npcol;
      sample.method = grid.method;
      sample.process = process;
      sample.is_checked = true;
      sample.phase = "measured";
      report.add(sample, seconds);
      sample.phase = "theory";
      report.add(sample, {theory_s});
    };
    double slowest_s = 0;
    for (std::size_t k = 0; k < grid.speeds.size(); ++k) {
      const auto columns = static_cast<std::size_t>(grid.npcol);
      const std::int64_t rows = grid.rows[k / columns], cols = grid.cols[k % columns];
      const double theory_s = static_cast<double>(rows * cols) / grid.speeds[k] * unit_s;
      slowest_s = std::max(slowest_s, theory_s);
      add(fmt::format("{:g}", grid.speeds[k]), fmt::format("{} x {}", rows, cols), grid.processes.at(k), theory_s,
          times.each[k]);
    }
    add("step", "-", "step", slowest_s, times.step);
  }
  table.note = fmt::format("measured / theory {:.3f} to {:.3f} (bar {:.2f} to {:.2f}); a step is of all processes",
                           least, most, least_ratio, most_ratio);
  report.add(table);
  std::fflush(stdout);
}

} // namespace

std::string why_not_live(bool has_growths) {
  if (const std::string what = Emulation::what_is_missing(); !what.empty()) return what;
  return has_growths && base::search_path("ompi-server").empty()
             ? "new processes join by an ompi-server, which is not here"
             : "";
}

LiveSeries four_growths() {
  return {"live",
          "",
          "Four growths",
          {9.5, 8.4, 5.2, 2.5},
          {4.3, 6.4, 2.1, 2.3, 4.5, 2.7, 6.9, 4.5, 4.1, 3.1, 2.6, 7.3, 9.1, 3.8, 8.1, 3.5},
          {{17, 11, 15, 13}}};
}

void run_live(const LiveSettings& settings, apps::Report& report) {
  const Published published(settings.published);
  report.text(fmt::format("Processors are emulated, each process has one of its own, and every element is compared "
                          "after every step. Seconds by the clock on the wall, medians of {} steps, without the first "
                          "on a grid.",
                          settings.steps));
  for (const LiveGrids& grids : settings.grids) run_grids(settings, grids, published, report);
  if (settings.series.empty()) return;
  report.text(fmt::format("A running program on a 2 x 2 grid of unequal processors is offered free processors. It "
                          "chooses, and new processes come to exactly those; {} rounds of all strategies in turn.",
                          settings.rounds));
  for (const LiveSeries& series : settings.series) {
    report.text(fmt::format("{}: speeds {}; free {}", series.title, fmt::join(series.first, ", "),
                            fmt::join(series.free_ones, ", ")));
    for (const std::string& application : settings.applications)
      run_series(settings, series, application, published, report);
  }
}

} // namespace bench
