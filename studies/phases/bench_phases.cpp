// SPDX-License-Identifier: BSD-3-Clause
// How long gridmap takes to plan phases: the exact plan for a number of cycles, the one for runs without an end, and
// the published method. SUIF-Adapt [MorrisLowenthal2001] took less than 2 s. Starts nothing; random figures.
//
// With --flame P: the application flame on P processes in every fixed combination of layouts, and as dyngrid chooses
// among them: seconds of a cycle, moves included, and those that were predicted.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "advise/phases.hpp"
#include "base/command_line.hpp"
#include "base/index.hpp"
#include "common/launch.hpp"
#include "common/report.hpp"
#include "published/phases.hpp"

namespace {

using advise::PhaseProblem;

/// Candidate c has all matrices in layout c; every phase writes one of them and reads the others.
PhaseProblem random_problem(int phases, int candidates, int matrices, int processes) {
  std::mt19937 engine(20);
  const auto times = [&](double most) {
    std::vector<double> seconds(base::at(processes));
    for (double& s : seconds) s = std::uniform_real_distribution<>(0, most)(engine);
    return seconds;
  };
  PhaseProblem p;
  for (int m = 0; m < matrices; ++m) {
    p.matrices.push_back({fmt::format("m{}", m), candidates, 1});
    p.start.push_back(0);
  }
  for (int k = 0; k < phases; ++k) {
    advise::Phase phase{fmt::format("p{}", k), {}, {}};
    for (int m = 0; m < matrices; ++m)
      phase.uses.push_back(k % matrices == m ? advise::PhaseUse::read_write : advise::PhaseUse::read);
    for (int c = 0; c < candidates; ++c)
      phase.candidates.push_back({std::to_string(c), std::vector<int>(base::at(matrices), c), times(1)});
    p.phases.push_back(std::move(phase));
  }
  std::vector<std::vector<double>> moves(base::at(matrices * candidates * candidates));
  for (auto& move : moves) move = times(0.2);
  p.move = [moves, candidates](int m, int from, int to) {
    return moves[base::at((m * candidates + from) * candidates + to)];
  };
  return p;
}

/// Of this thread's processor, so that others on it do not count.
std::vector<double> seconds_of(const std::function<void()>& work, int runs) {
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t begin = std::clock();
    work();
    seconds.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return seconds;
}

struct PlanOptions {
  int phases = 10, candidates = 8, processes = 4096, cycles = 500, runs = 5, most_matrices = 2;
};

void time_plans(const PlanOptions& o, apps::Report& report) {
  apps::Table table{
      fmt::format("{} phases, {} candidates each, {} processes: ms to plan", o.phases, o.candidates, o.processes),
      {"matrices", "1 cycle", fmt::format("{} cycles", o.cycles), "endless", "published", "seconds a cycle",
       "published choice"},
      {}};
  for (int matrices = 1; matrices <= o.most_matrices && matrices * o.candidates <= 64; ++matrices) {
    const PhaseProblem p = random_problem(o.phases, o.candidates, matrices, o.processes);
    advise::PhasePlan endless, published;
    std::vector<apps::Cell> row{matrices};
    const auto time = [&](const std::string& method, const std::function<void()>& work) {
      apps::Sample sample;
      sample.part = "plan";
      sample.n = o.processes;
      sample.method = method;
      sample.phase = "plan";
      sample.process = matrices == 1 ? "1 matrix" : fmt::format("{} matrices", matrices);
      const std::vector<double> seconds = seconds_of(work, o.runs);
      report.add(sample, seconds);
      row.emplace_back(1e3 * apps::median(seconds), 3);
    };
    time("1 cycle", [&] { advise::plan_phases(p, 1); });
    time(fmt::format("{} cycles", o.cycles), [&] { advise::plan_phases(p, o.cycles); });
    time("endless", [&] { endless = advise::plan_endless_phases(p); });
    time("published", [&] { published = published::phases(p, true); });
    row.emplace_back(endless.cycle_s, 4);
    row.emplace_back(published.cycle_s, 4);
    table.rows.push_back(row);
  }
  report.add(table);
}

struct FlameOptions {
  int processes = 0, n = 256, sweeps = 20, spin = 200, cycles = 40, runs = 3;
  double slow_gflops = 0.1;
  std::string blocks = "8,32,block", mpirun = "mpirun --oversubscribe";
};

/// Of a cycle in the second half of a run: the median, and of those that were planned the median of the predictions.
struct CycleTimes {
  std::vector<double> measured, predicted;
};

CycleTimes run_flame(const apps::Launcher& launcher, const FlameOptions& o, const std::string& stencil,
                     const std::string& burn) {
  const char* folder = std::getenv("TMPDIR");
  const std::string file = fmt::format("{}/bench_phases.{}.csv", folder ? folder : "/tmp", getpid());
  launcher.run("flame", o.processes,
               {"--n", std::to_string(o.n), "--steps", std::to_string(o.cycles), "--sweeps", std::to_string(o.sweeps),
                "--spin", std::to_string(o.spin), "--stencil", stencil, "--burn", burn, "--phases", file});
  CycleTimes times;
  std::vector<double> measured(base::at(o.cycles)), predicted(base::at(o.cycles));
  std::vector<int> planned(base::at(o.cycles));
  for (const std::vector<std::string>& line : apps::read_csv(file)) {
    if (line.size() < 5 || line[0] == "step") continue;
    const std::size_t cycle = base::at(std::stoi(line[0]));
    measured[cycle] += std::stod(line[3]);
    predicted[cycle] += std::stod(line[4]);
    planned[cycle] += std::stod(line[4]) > 0 ? 1 : 0;
  }
  unlink(file.c_str());
  for (std::size_t cycle = measured.size() / 2; cycle < measured.size(); ++cycle) {
    times.measured.push_back(measured[cycle]);
    if (planned[cycle] == 2) times.predicted.push_back(predicted[cycle]);
  }
  return times;
}

/// Interleaved: a run of each combination, then the next run of each.
void compare_flame(const FlameOptions& o, apps::Report& report) {
  apps::Launcher launcher(o.mpirun, 600);
  launcher.preload("libdyngrid-yield.so");
  if (o.slow_gflops > 0 && !launcher.preload("libdyngrid-slow.so"))
    throw std::runtime_error("libdyngrid-slow.so was not built, expected --slow 0");
  launcher.set("SLOWLAB_SPEED", fmt::format("{}", o.slow_gflops));
  launcher.set("DYNGRID_HISTORY", "off"); // each run plans by its own times
  std::vector<std::string> blocks;
  for (std::size_t begin = 0; begin <= o.blocks.size();) {
    const std::size_t end = std::min(o.blocks.find(',', begin), o.blocks.size());
    blocks.push_back(o.blocks.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<std::pair<std::string, std::string>> choices;
  for (const std::string& stencil : blocks)
    for (const std::string& burn : blocks) choices.emplace_back(stencil, burn);
  choices.emplace_back(o.blocks, o.blocks);
  std::vector<CycleTimes> all(choices.size());
  for (int run = 0; run < o.runs; ++run)
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const CycleTimes one = run_flame(launcher, o, choices[k].first, choices[k].second);
      all[k].measured.insert(all[k].measured.end(), one.measured.begin(), one.measured.end());
      all[k].predicted.insert(all[k].predicted.end(), one.predicted.begin(), one.predicted.end());
    }
  apps::Table table{
      fmt::format("flame, n {}, {} processes, {} runs of {} cycles: ms of a cycle", o.n, o.processes, o.runs, o.cycles),
      {"stencil", "burn", "measured", "predicted", "predicted / measured"},
      {}};
  double best = INFINITY;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const bool is_chosen = k + 1 == choices.size();
    apps::Sample sample;
    sample.part = sample.application = "flame";
    sample.n = o.n;
    sample.ranks = o.processes;
    sample.phase = "cycle";
    sample.process = is_chosen ? "chosen" : fmt::format("{} and {}", choices[k].first, choices[k].second);
    sample.method = "measured";
    report.add(sample, all[k].measured);
    sample.method = "predicted";
    report.add(sample, all[k].predicted);
    const double measured = apps::median(all[k].measured),
                 predicted = all[k].predicted.empty() ? NAN : apps::median(all[k].predicted);
    if (!is_chosen) best = std::min(best, measured);
    table.rows.push_back({is_chosen ? "chosen" : choices[k].first,
                          is_chosen ? "chosen" : choices[k].second,
                          {measured * 1e3, 4},
                          {predicted * 1e3, 4},
                          {predicted / measured, 3}});
  }
  table.note = fmt::format("chosen / best fixed: {:.3f}. Medians of the second half of each run, moves included.",
                           apps::median(all.back().measured) / best);
  report.add(table);
}

void add_flame_options(base::CommandLine& cli, FlameOptions& flame) {
  cli.add_option("--flame", flame.processes,
                 "instead: flame on this number of processes, every fixed layout and the chosen one")
      .check(base::positive_number());
  cli.add_option("--n", flame.n, "of flame").check(base::positive_number()).show_default();
  cli.add_option("--sweeps", flame.sweeps, "of flame").check(base::positive_number()).show_default();
  cli.add_option("--spin", flame.spin, "of flame").check(base::positive_number()).show_default();
  cli.add_option("--blocks", flame.blocks, "block sizes that both phases may have").type_name("NB,...").show_default();
  cli.add_option("--flame-cycles", flame.cycles, "of a run of flame").check(base::positive_number()).show_default();
  cli.add_option("--slow", flame.slow_gflops, "GFLOP/s of each process's own emulated processor; 0: as they are")
      .check(base::in_range(0.0, 1000.0))
      .show_default();
  cli.add_option("--mpirun", flame.mpirun, "words before -np").show_default();
}

} // namespace

int main(int argc, char** argv) {
  PlanOptions plan;
  FlameOptions flame;
  std::string csv;
  bool is_quick = false;
  base::CommandLine cli("How long it takes to plan phases, in milliseconds; starts nothing, unless --flame says so.",
                        "bench_phases");
  cli.add_option("--phases", plan.phases, "of a cycle").check(base::positive_number()).show_default();
  cli.add_option("--candidates", plan.candidates, "for each").check(base::in_range(1, 64)).show_default();
  cli.add_option("--processes", plan.processes, "each with seconds of its own")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--matrices", plan.most_matrices, "that they share, from 1 to N")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--cycles", plan.cycles, "of the run that has an end").check(base::positive_number()).show_default();
  cli.add_option("--runs", plan.runs, "figures are medians").check(base::positive_number()).show_default();
  cli.add_option("--csv", csv, "write every measurement to this file, one line each").type_name("FILE");
  cli.add_flag("--quick", is_quick, "256 processes, 50 cycles, 2 runs: to see that it works");
  add_flame_options(cli, flame);
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  if (is_quick) {
    plan.processes = 256;
    plan.cycles = 50;
    plan.runs = 2;
  }
  try {
    apps::Report report("bench_phases", csv);
    if (flame.processes > 0) {
      flame.runs = plan.runs;
      compare_flame(flame, report);
    } else {
      time_plans(plan, report);
    }
    return report.finish() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_phases: %s\n", error.what());
    return 1;
  }
}
