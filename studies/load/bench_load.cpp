// SPDX-License-Identifier: BSD-3-Clause
// How near control::LoadReader comes to the truth: the part of a processor that a process gets on an emulated node
// (studies/load/loadlab) with competitors and a quota.
//
// The truth is taken by clocks of the program itself: CPU time over wall time of its computing, once without a pause
// and once with pauses of 10 ms, which are no load and must not count.
#include <time.h> // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/process.hpp"
#include "common/report.hpp"
#include "control/load_monitor.hpp"
#include "control/load_reader.hpp"

namespace {

constexpr double bar = 0.05, bar_seen_s = 3, bar_cost = 1e-3;
constexpr int status_skipped = 77;

struct Settings {
  std::vector<int> competitors{0, 1, 2, 3, 4};
  std::vector<double> quotas{0.1, 0.3, 0.5, 0.7, 0.9, 1};
  double seconds = 2, one_after_s = -1, watch_s = -1, quiet_s = 0;
  bool is_live = false;
  std::string loadlab = "studies/load/loadlab", way = "cgroup", csv;
  bool is_quick = false;
};

using control::thread_cpu_s;

double process_cpu_s() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Computes for so long, in pieces of 10 ms of CPU time, with or without pauses; prints "truth share".
void measure(double seconds, bool with_pauses) {
  control::LoadReader reader;
  const base::Deadline end(seconds);
  double cpu_s = 0, wall_s = 0;
  double wanted_since = base::monotonic_s();
  while (!end.is_over()) {
    const double cpu = thread_cpu_s();
    while (thread_cpu_s() - cpu < 0.01) {
    }
    const double now = base::monotonic_s();
    cpu_s += thread_cpu_s() - cpu;
    wall_s += now - wanted_since;
    wanted_since = now;
    if (!with_pauses || end.is_over()) continue;
    wanted_since += 0.01; // when it should wake up, not when it does
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted_since - base::monotonic_s()));
  }
  const control::Load load = reader.look();
  fmt::print("{} {} {} ", cpu_s / wall_s, load.share, load.throttled);
}

/// On the node: the two patterns, and what a look costs.
int run_one(const Settings& s) {
  std::this_thread::sleep_for(std::chrono::duration<double>(s.one_after_s)); // until the competitors are there
  measure(s.seconds, false);
  measure(s.seconds, true);
  control::LoadReader reader;
  constexpr int looks = 50;
  const double before = thread_cpu_s();
  for (int k = 0; k < looks; ++k) reader.look();
  fmt::print("{}\n", (thread_cpu_s() - before) / looks);
  return 0;
}

/// On the node: computes for so long with a monitor; prints what that cost of a processor, and when it saw a change.
int watch(double seconds) {
  const double begun = base::monotonic_s();
  std::string seen;
  double part = 0;
  {
    const control::LoadMonitor::Pointer monitor(new control::LoadMonitor);
    const double others = process_cpu_s() - thread_cpu_s();
    while (base::monotonic_s() - begun < seconds) {
      if (!monitor->has_changed()) continue;
      monitor->was_sent();
      seen += fmt::format(" {:.2f}", base::monotonic_s() - begun);
    }
    part = (process_cpu_s() - thread_cpu_s() - others) / seconds;
  }
  fmt::print("{}{}\n", part, seen);
  return 0;
}

/// No node can be emulated here.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Figures {
  double truth = 0, share = 0, throttled = 0, truth_pausing = 0, share_pausing = 0, throttled_pausing = 0, look_s = 0;
};

Figures on_a_node(const Settings& s, const char* self, int competitors, double quota) {
  std::vector<std::string> words{s.loadlab, "--way", s.way, "--nodes", "1", "--core", fmt::format("{:.2f}", quota),
                                 "--no-mpi"};
  if (competitors > 0) words.insert(words.end(), {"--load", fmt::format("0:{}", competitors)});
  words.insert(words.end(), {"--", self, "--one-after", "0.5", "--seconds", fmt::format("{}", s.seconds)});
  const base::Outcome outcome = base::run({words}, 60 + 10 * s.seconds);
  if (outcome.status == status_skipped) throw Skipped(outcome.output);
  Figures f;
  const std::size_t last = outcome.output.find_last_not_of('\n');
  const std::size_t line = outcome.output.rfind('\n', last);
  std::istringstream in(outcome.output.substr(line == std::string::npos ? 0 : line + 1));
  if (outcome.status != 0 || !(in >> f.truth >> f.share >> f.throttled >> f.truth_pausing >> f.share_pausing >>
                               f.throttled_pausing >> f.look_s))
    throw std::runtime_error(fmt::format("{}: status {}, {}", s.loadlab, outcome.status, outcome.output));
  return f;
}

/// A competitor from 4 to 9 s, and then so long without one: when the monitor of a process on a node saw a change, and
/// what it cost. Status 0 when all is within the bars.
int run_live(const Settings& s, const char* self) {
  constexpr double from_s = 4, to_s = 9, after_s = 5;
  const auto run = [&](double seconds, bool is_loaded) {
    std::vector<std::string> words{
        s.loadlab, "--way", s.way,      "--nodes",   "1",
        "--core",  "0.5",   "--no-mpi", "--timeout", fmt::format("{:.0f}", 60 + 2 * seconds)};
    if (is_loaded) words.insert(words.end(), {"--load", fmt::format("0:1@{}-{}", from_s, to_s)});
    words.insert(words.end(), {"--", self, "--watch", fmt::format("{}", seconds)});
    const base::Outcome outcome = base::run({words}, 60 + 2 * seconds);
    if (outcome.status == status_skipped) throw Skipped(outcome.output);
    const std::size_t last = outcome.output.find_last_not_of('\n'), line = outcome.output.rfind('\n', last);
    std::istringstream in(outcome.output.substr(line == std::string::npos ? 0 : line + 1));
    std::vector<double> figures;
    for (double figure = 0; in >> figure;) figures.push_back(figure);
    if (outcome.status != 0 || figures.empty())
      throw std::runtime_error(fmt::format("{}: status {}, {}", s.loadlab, outcome.status, outcome.output));
    return figures;
  };
  bool is_good = true;
  const auto say = [&](bool good, const std::string& text) {
    fmt::print("{}: {}\n", text, good ? "good" : "too much");
    std::fflush(stdout);
    is_good = is_good && good;
  };
  if (s.is_live) {
    const std::vector<double> seen = run(to_s + after_s, true);
    const bool both = seen.size() == 3;
    say(both && seen[1] > from_s - 0.5 && seen[1] - from_s <= bar_seen_s && seen[2] > to_s - 0.5 &&
            seen[2] - to_s <= bar_seen_s,
        both ? fmt::format("a competitor that came was seen after {:.2f} s, that it went after {:.2f} s, expected at "
                           "most {} s",
                           seen[1] - from_s, seen[2] - to_s, bar_seen_s)
             : fmt::format("{} changes were seen, expected 2", seen.size() - 1));
    say(seen[0] <= bar_cost, fmt::format("the monitor takes {:.3f} % of a core", 100 * seen[0]));
  }
  if (s.quiet_s > 0) {
    const std::vector<double> seen = run(s.quiet_s, false);
    std::vector<std::string> at;
    for (std::size_t k = 1; k < seen.size(); ++k) at.push_back(fmt::format("{:.1f}", seen[k]));
    say(at.empty(), fmt::format("{} changes seen in {:.0f} s without any", at.size(), s.quiet_s));
    if (!at.empty()) fmt::print("... after seconds {}\n", fmt::join(at, ", "));
    say(seen[0] <= bar_cost, fmt::format("the monitor takes {:.3f} % of a core", 100 * seen[0]));
  }
  return is_good ? 0 : 1;
}

/// As lines of the CSV file: seconds of a processor that were got of a second that was requested.
void add_samples(apps::Report& report, int competitors, double quota, const Figures& f) {
  apps::Sample sample;
  sample.part = "share";
  sample.application = "busy loop";
  sample.process = fmt::format("{} of a core with {} competing", quota, competitors);
  sample.ranks = 1;
  for (const auto& [phase, method, share] :
       {std::tuple{"without pauses", "clock", f.truth}, std::tuple{"without pauses", "monitor", f.share},
        std::tuple{"with pauses", "clock", f.truth_pausing}, std::tuple{"with pauses", "monitor", f.share_pausing}}) {
    sample.phase = phase;
    sample.method = method;
    report.add(sample, {share});
  }
}

int run_all(const Settings& s, const char* self) {
  apps::Report report("bench_load", s.csv);
  apps::Table table{"Part of a processor, by the clock and by the monitor",
                    {"competitors", "quota", "truth", "monitor", "off by", "truth with pauses", "monitor", "off by",
                     "throttled", "a look, us"},
                    {},
                    fmt::format("Truth: CPU time over wall time of computing. The bar is {}.", bar)};
  double worst = 0;
  for (const double quota : s.quotas)
    for (const int competitors : s.competitors) {
      const Figures f = on_a_node(s, self, competitors, quota);
      const double off = std::abs(f.share - f.truth), off_pausing = std::abs(f.share_pausing - f.truth_pausing);
      worst = std::max({worst, off, off_pausing});
      add_samples(report, competitors, quota, f);
      table.rows.push_back({competitors, apps::Cell(quota, 2), apps::Cell(f.truth, 3), apps::Cell(f.share, 3),
                            apps::Cell(off, 2), apps::Cell(f.truth_pausing, 3), apps::Cell(f.share_pausing, 3),
                            apps::Cell(off_pausing, 2), apps::Cell(f.throttled, 2), apps::Cell(1e6 * f.look_s, 3)});
    }
  report.add(table);
  report.text(fmt::format("The monitor is off by {:.3f} at most: {}.", worst, worst <= bar ? "good" : "too much"));
  return report.finish() && worst <= bar ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  Settings s;
  base::CommandLine cli(
      "How near the load monitor comes to the truth: the part of a processor that a process gets beside "
      "competitors and under a quota, on emulated nodes (studies/load/loadlab). Status 1 beyond the bar of "
      "0.05, 77 where no node can be emulated.",
      "bench_load");
  cli.add_option("--competitors", s.competitors, "numbers of competing processes")
      .separated_by(',')
      .check(base::in_range(0, 50))
      .type_name("N,...");
  cli.add_option("--quotas", s.quotas, "parts of a core that the node has; 1: all of it")
      .separated_by(',')
      .check(base::in_range(0.05, 1.0))
      .type_name("PART,...");
  cli.add_option("--seconds", s.seconds, "of one measurement").check(base::in_range(0.1, 60.0)).show_default();
  cli.add_option("--loadlab", s.loadlab, "the script").type_name("PATH").show_default();
  cli.add_option("--way", s.way, "cgroup or duty").check(base::one_of({"cgroup", "duty"})).show_default();
  cli.add_flag("--quick", s.is_quick, "four cases, a second each");
  cli.add_option("--csv", s.csv, "write every measurement to this file, one line each").type_name("FILE");
  cli.add_flag(
      "--live", s.is_live,
      "instead: how soon a monitor sees a competitor come and go (bar 3 s), and what it costs (0.1 % of a core)");
  cli.add_option("--quiet", s.quiet_s, "instead: how often it sees a change in N seconds without any (bar 0)")
      .check(base::in_range(1.0, 86400.0))
      .type_name("SECONDS");
  cli.add_option("--watch", s.watch_s, "used by itself: computes for N seconds with a monitor").hidden();
  cli.add_option("--one-after", s.one_after_s, "used by itself: measures here, after N seconds").hidden();
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  if (s.is_quick) {
    if (cli.count("--competitors") == 0) s.competitors = {0, 2};
    if (cli.count("--quotas") == 0) s.quotas = {0.4, 1};
    if (cli.count("--seconds") == 0) s.seconds = 1;
  }
  try {
    if (s.watch_s >= 0) return watch(s.watch_s);
    if (s.is_live || s.quiet_s > 0) return run_live(s, argv[0]);
    return s.one_after_s >= 0 ? run_one(s) : run_all(s, argv[0]);
  } catch (const Skipped& skipped) {
    std::fprintf(stderr, "bench_load: %s\n", skipped.what());
    return status_skipped;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_load: %s\n", error.what());
    return 1;
  }
}
