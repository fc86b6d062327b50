// SPDX-License-Identifier: BSD-3-Clause
// [Chinnusamy 2004, table 6.20] as it would be seen by a user: a running program, four offers of free processors, and
// what a step takes after each. The processors are emulated (common/slow_processor.c): each process has one of its own
// and sleeps for the rest of the time that it would need, so that sixteen unequal ones show their step times on two
// cores.
#include "live.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "common/launch.hpp"
#include "common/own_work.hpp"
#include "control/client.hpp"
#include "gridmap/mapping.hpp"

namespace bench {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr int generations = 4; ///< of life, in a step
constexpr double limit_s = 300, patience_s = 60, look_every_s = 0.05;
constexpr double least_ratio = 0.95, most_ratio = 1.10; ///< bars: measured over theoretical time

/// GFLOP/s of a processor of speed 1: a step takes about a second at first, and its real work fits into two cores.
double gflops_of(const std::string& application, const LiveSeries& series) {
  const double all = application == "life" ? 7.4e-3 : 0.2; // of the first grid
  return all / std::accumulate(series.first.begin(), series.first.end(), 0.0);
}

struct Processor {
  std::string host; ///< its own
  double speed;
};

/// One grid of a run.
struct Stage {
  std::string grid, why; ///< why: nothing was taken
  double power = 0;      ///< of the processors that were added
  double theory_s = 0;   ///< largest rows * columns / speed, as seconds of these processors
  double change_s = 0;
  std::vector<double> seconds; ///< of its steps, without the first
};

void write_script(const fs::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  fs::permissions(path, fs::perms::owner_all);
}

/// One run of an application through all growths.
class Run {
public:
  Run(const LiveSettings& settings, const LiveSeries& series, std::string application, std::string strategy)
      : settings_(settings), series_(series), gflops_(gflops_of(application, series)),
        application_(std::move(application)), strategy_(std::move(strategy)),
        folder_(fs::temp_directory_path() / fmt::format("dghl-{}", getpid())),
        apps_(fs::read_symlink("/proc/self/exe").parent_path()) {
    for (const double speed : series.free_ones) free_.push_back({fmt::format("p{}", free_.size() + 1), speed});
    fs::create_directories(folder_);
    write_emulation();
  }
  ~Run() {
    if (pid_ > 0) base::end_group(pid_, 5);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::vector<Stage> go() {
    start();
    until("the application answers", [&] { return connect(); });
    look();
    for (const double tpp : series_.tpp) {
      wait_for_steps();
      grow(tpp);
    }
    job_.reset();
    const std::optional<int> status = base::wait_for(pid_, limit_s);
    if (!status) fail("it does not end");
    pid_ = -1;
    if (*status != 0) fail(fmt::format("it ended with status {}", *status));
    read_times();
    return std::move(stages_);
  }

private:
  [[noreturn]] void fail(const std::string& what) {
    const std::string said = base::content_of((folder_ / "out").string());
    throw std::runtime_error(fmt::format("{} by {}: {}\n{}", application_, strategy_, what,
                                         said.size() > 2000 ? said.substr(said.size() - 2000) : said));
  }
  template <class Done> void until(const char* what, Done&& is_done) {
    const base::Deadline end(patience_s);
    while (!is_done()) {
      if (base::wait_for(pid_, 0)) {
        pid_ = -1;
        fail(fmt::format("it ended before {}", what));
      }
      if (end.is_over()) fail(fmt::format("waited {:g} s until {}", patience_s, what));
      std::this_thread::sleep_for(std::chrono::duration<double>(look_every_s));
    }
  }

  /// Speeds of processors: of mpirun's processes by rank, of those that come by the name of their host.
  void write_emulation() const {
    std::ofstream hosts(folder_ / "hosts");
    for (std::size_t k = 0; k < series_.first.size(); ++k)
      hosts << fmt::format("rank{} {}\n", k, gflops_ * series_.first[k]);
    for (const Processor& processor : free_) hosts << fmt::format("{} {}\n", processor.host, gflops_ * processor.speed);
    const auto speed_of = [&](const char* name) {
      return fmt::format("SLOWLAB_SPEED=$(sed -n \"s/^{} //p\" {}/hosts)\nexport SLOWLAB_SPEED\n", name,
                         folder_.string());
    };
    write_script(folder_ / "agent", "host=$1\nshift\n" + speed_of("$host") + "exec sh -c \"$*\"\n");
    const fs::path slow = apps_.parent_path() / "lib" / "dyngrid" / "libdyngrid-slow.so";
    write_script(folder_ / "first",
                 speed_of("rank$OMPI_COMM_WORLD_RANK") +
                     fmt::format("export LD_PRELOAD={}${{LD_PRELOAD:+:$LD_PRELOAD}}\n", slow.string()) +
                     "exec \"$@\"\n");
  }

  void start() {
    const base::FileDescriptor out(::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    base::Command command;
    command.words = words();
    command.environment = base::environment_with(
        {"DYNGRID_RUNTIME_DIR=" + (folder_ / "run").string(), "DYNGRID_JOB=live", "DYNGRID_HISTORY=off",
         fmt::format("DYNGRID_START=timeout={:g},agent={}", patience_s, (folder_ / "agent").string()),
         "DYNGRID_DECIDE=undo=off", "DYNGRID_WAIT=on", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"});
    command.out = command.err = out.get();
    command.own_group = true;
    command.ends_with_parent = true; // also when this one is ended
    pid_ = base::start(command);
  }

  std::vector<std::string> words() const {
    const auto steps = (series_.tpp.size() + 1) * static_cast<std::size_t>(settings_.steps + 2);
    std::vector<std::string> words{(apps_ / "dyngrid").string(),
                                   "run",
                                   "--processes",
                                   "join",
                                   "--mpirun",
                                   settings_.mpirun,
                                   "-np",
                                   std::to_string(series_.first.size()),
                                   "--",
                                   (folder_ / "first").string(),
                                   (apps_ / application_).string(),
                                   "--n",
                                   std::to_string(settings_.n),
                                   "--nb",
                                   "1",
                                   "--grid",
                                   "2x2",
                                   "--steps",
                                   std::to_string(steps),
                                   "--check",
                                   "--csv",
                                   (folder_ / "steps.csv").string(),
                                   "--host-speeds",
                                   fmt::format("{}", fmt::join(series_.first, ","))};
    if (application_ == "life") words.insert(words.end(), {"--generations", std::to_string(generations)});
    return words;
  }

  bool connect() {
    try {
      job_ = std::make_unique<control::Client>(
          control::Client::to_socket((folder_ / "run" / "job-live.sock").string(), 1));
      return true;
    } catch (const base::Error&) { // not yet
      return false;
    }
  }

  /// Asks which processors are in the grid, and works out what its steps should take.
  void look() {
    const Json status = job_->call("status", {{"processes", true}});
    const int nprow = status["grid"][0], npcol = status["grid"][1];
    gridmap::MappingRequest request;
    request.nprow = nprow;
    request.npcol = npcol;
    request.m = request.n = settings_.n;
    request.speeds.assign(static_cast<std::size_t>(nprow * npcol), 0);
    for (const Json& process : status["processes"])
      if (process["place"].is_array())
        request.speeds.at(static_cast<std::size_t>(process["place"][0].get<int>() * npcol +
                                                   process["place"][1].get<int>())) = process["speed"];
    Stage stage;
    stage.grid = fmt::format("{}x{}", nprow, npcol);
    const double flops = application_ == "life" ? apps::life_flops_per_cell * generations
                                                : 2.0 * static_cast<double>(settings_.n); // of each element
    stage.theory_s = gridmap::map_in_place(request).t_theory * flops / (gflops_ * 1e9);
    stages_.push_back(stage);
  }

  void wait_for_steps() {
    until("its steps are done",
          [&] { return job_->call("status", Json::object()).value("steps_on_grid", 0) >= settings_.steps; });
  }

  void grow(double tpp) {
    Json hosts = Json::array();
    for (const Processor& processor : free_)
      hosts.push_back({{"name", processor.host}, {"slots", 1}, {"speed", processor.speed}});
    const Json answer = job_->call(
        "grow", {{"hosts", hosts}, {"tpp", tpp}, {"form", strategy_}, {"force", true}, {"undo", false}, {"wait", true}},
        2 * patience_s);
    const std::string outcome = answer.value("outcome", "");
    if (outcome == "declined") {
      Stage same = stages_.back();
      same.power = 0;
      same.why = answer.value("reason", "");
      stages_.push_back(same);
      return;
    }
    if (outcome != "done") fail(fmt::format("a growth is not done: {}", answer.dump()));
    look();
    for (const Json& host : answer.at("chosen").at("hosts")) {
      const auto at = std::find_if(free_.begin(), free_.end(),
                                   [&](const Processor& p) { return p.host == host["name"].get<std::string>(); });
      if (at == free_.end()) fail("it has taken what was not offered");
      stages_.back().power += at->speed;
      free_.erase(at);
    }
  }

  void read_times() {
    const apps::RunRecord record = apps::record_in((folder_ / "steps.csv").string(), application_);
    if (!record.is_right) fail("a step was wrong");
    std::size_t stage = 0, change = 0;
    bool is_first = true;
    for (const apps::RunStep& step : record.steps) {
      if (change < record.changes.size() && record.changes[change].before_step == step.step) {
        do ++stage;
        while (stage < stages_.size() && !stages_[stage].why.empty());
        if (stage == stages_.size()) fail("it has changed its grid more often than it was asked to");
        stages_[stage].change_s = record.changes[change++].total_s;
        is_first = true;
      }
      if (step.grid != stages_[stage].grid) fail(fmt::format("step {} was on {}", step.step, step.grid));
      if (!is_first) stages_[stage].seconds.push_back(step.seconds);
      is_first = false;
    }
    for (std::size_t k = 1; k < stages_.size(); ++k)
      if (!stages_[k].why.empty()) stages_[k].seconds = stages_[k - 1].seconds;
  }

  const LiveSettings& settings_;
  const LiveSeries& series_;
  const double gflops_; ///< of speed 1
  const std::string application_, strategy_;
  const fs::path folder_, apps_;
  std::vector<Processor> free_;
  std::vector<Stage> stages_;
  pid_t pid_ = -1;
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

  void add(const std::string& strategy, const Series& series) { add_to(by_name_[strategy], series); }

  void tell(apps::Report& report) {
    report.heading(fmt::format("{} of {}", series_.title, application_));
    apps::Table table{
        fmt::format("Steps of {}, n = {}: theory is the largest rows * columns / speed", application_, settings_.n),
        {"growth", "total speed", "strategy", "grid", "speed used", "theory s", "measured s", "measured / theory",
         "change s"},
        {}};
    for (std::size_t k = 0; k <= series_.tpp.size(); ++k)
      for (const std::string& strategy : settings_.strategies) {
        const Stage& stage = by_name_.at(strategy).at(k);
        const double measured_s = apps::median(stage.seconds), ratio = measured_s / stage.theory_s;
        least_ = std::min(least_, ratio);
        most_ = std::max(most_, ratio);
        table.rows.push_back({static_cast<int>(k),
                              k == 0 ? std::string("-") : fmt::format("{:g}", series_.tpp[k - 1]),
                              strategy,
                              stage.grid,
                              fmt::format("{:.1f}", stage.power),
                              {stage.theory_s, 4},
                              {measured_s, 4},
                              {ratio, 3},
                              {stage.change_s, 3}});
        samples(report, strategy, k, stage);
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
    for (std::size_t k = 1; k <= series_.tpp.size(); ++k) {
      double other_s = std::numeric_limits<double>::infinity();
      for (const auto& [name, series] : by_name_)
        if (name != "best") other_s = std::min(other_s, apps::median(series[k].seconds));
      ratios += fmt::format("{}{:.3f}", ratios.empty() ? "" : ", ", apps::median(best->second[k].seconds) / other_s);
    }
    return text + fmt::format("; a step of best over that of the best of the others, after each growth: {}", ratios);
  }

  void samples(apps::Report& report, const std::string& strategy, std::size_t k, const Stage& stage) const {
    apps::Sample sample;
    sample.part = series_.part;
    sample.application = application_;
    sample.n = settings_.n;
    sample.nb = "block";
    sample.from = by_name_.at(strategy)[k == 0 ? 0 : k - 1].grid;
    sample.to = stage.grid;
    sample.ranks = apps::processes_of(stage.grid);
    sample.method = strategy;
    sample.process = k == 0 ? "before" : fmt::format("{}: {:g}", k, series_.tpp[k - 1]);
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
  std::map<std::string, Series> by_name_;
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
};

} // namespace

std::string why_not_live() {
  const fs::path apps = fs::read_symlink("/proc/self/exe").parent_path();
  if (!fs::exists(apps.parent_path() / "lib" / "dyngrid" / "libdyngrid-slow.so"))
    return "there is no libdyngrid-slow.so";
  return base::search_path("ompi-server").empty() ? "new processes join by an ompi-server, which is not here" : "";
}

LiveSeries four_growths() {
  return {"live",
          "Four growths",
          {9.5, 8.4, 5.2, 2.5},
          {4.3, 6.4, 2.1, 2.3, 4.5, 2.7, 6.9, 4.5, 4.1, 3.1, 2.6, 7.3, 9.1, 3.8, 8.1, 3.5},
          {17, 11, 15, 13}};
}

namespace {
void run_series(const LiveSettings& settings, const LiveSeries& series, const std::string& application,
                apps::Report& report) {
  Shown shown(settings, series, application);
  for (int round = 0; round < settings.rounds; ++round)
    for (std::size_t k = 0; k < settings.strategies.size(); ++k) {
      const std::size_t turn = (k + static_cast<std::size_t>(round)) % settings.strategies.size();
      const std::string& strategy = settings.strategies[turn];
      if (isatty(2) != 0)
        std::fprintf(stderr, "\r\033[Kbench_hetero: %s by %s ...", application.c_str(), strategy.c_str());
      shown.add(strategy, Run(settings, series, application, strategy).go());
    }
  if (isatty(2) != 0) std::fprintf(stderr, "\r\033[K");
  shown.tell(report);
  std::fflush(stdout); // what there is stays, should the next one take too long
}
} // namespace

void run_live(const LiveSettings& settings, apps::Report& report) {
  report.text(fmt::format("A running program on a 2 x 2 grid of unequal processors is offered free processors. It "
                          "chooses, new processes come to exactly those, and every element is compared after every "
                          "step. Seconds by the clock on the wall, medians of {} steps, without the first on a grid, "
                          "of each of {} rounds of all strategies in turn.",
                          settings.steps, settings.rounds));
  for (const LiveSeries& series : settings.series) {
    report.text(fmt::format("{}: speeds {}; free {}", series.title, fmt::join(series.first, ", "),
                            fmt::join(series.free_ones, ", ")));
    for (const std::string& application : settings.applications) run_series(settings, series, application, report);
  }
}

} // namespace bench
