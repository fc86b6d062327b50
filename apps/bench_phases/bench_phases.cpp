// SPDX-License-Identifier: BSD-3-Clause
// How long gridmap takes to plan phases: the exact plan for a number of cycles, the one for runs without an end, and
// the published method. SUIF-Adapt [MorrisLowenthal2001] took less than 2 s. Starts nothing; random figures.
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/index.hpp"
#include "common/report.hpp"
#include "gridmap/phases.hpp"

namespace {

using gridmap::PhaseProblem;

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
    gridmap::Phase phase{fmt::format("p{}", k), {}, {}};
    for (int m = 0; m < matrices; ++m)
      phase.uses.push_back(k % matrices == m ? gridmap::PhaseUse::read_write : gridmap::PhaseUse::read);
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

double milliseconds_of(const std::function<void()>& work, int runs) {
  std::vector<double> ms;
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return apps::median(ms);
}

} // namespace

int main(int argc, char** argv) {
  int phases = 10, candidates = 8, processes = 4096, cycles = 500, runs = 5, most_matrices = 2;
  base::CommandLine cli("How long it takes to plan phases, in milliseconds. Starts nothing.", "bench_phases");
  cli.add_option("--phases", phases, "of a cycle").check(base::positive_number()).show_default();
  cli.add_option("--candidates", candidates, "for each").check(base::in_range(1, 64)).show_default();
  cli.add_option("--processes", processes, "each with seconds of its own")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--matrices", most_matrices, "that they share, from 1 to so many")
      .check(base::positive_number())
      .show_default();
  cli.add_option("--cycles", cycles, "of the run that has an end").check(base::positive_number()).show_default();
  cli.add_option("--runs", runs, "figures are medians").check(base::positive_number()).show_default();
  if (const auto status = base::read_command_line(cli, argc, argv)) return *status;
  try {
    apps::Report report("bench_phases", "");
    apps::Table table{
        fmt::format("{} phases, {} candidates each, {} processes: ms to plan", phases, candidates, processes),
        {"matrices", "1 cycle", fmt::format("{} cycles", cycles), "endless", "published", "seconds a cycle",
         "published choice"},
        {}};
    for (int matrices = 1; matrices <= most_matrices && matrices * candidates <= 64; ++matrices) {
      const PhaseProblem p = random_problem(phases, candidates, matrices, processes);
      gridmap::PhasePlan endless, published;
      const double one = milliseconds_of([&] { gridmap::plan_phases(p, 1); }, runs);
      const double many = milliseconds_of([&] { gridmap::plan_phases(p, cycles); }, runs);
      const double without_end = milliseconds_of([&] { endless = gridmap::plan_endless_phases(p); }, runs);
      const double theirs = milliseconds_of([&] { published = gridmap::published_phases(p, true); }, runs);
      table.rows.push_back(
          {matrices, {one, 3}, {many, 3}, {without_end, 3}, {theirs, 3}, {endless.cycle_s, 4}, {published.cycle_s, 4}});
    }
    report.add(table);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_phases: %s\n", error.what());
    return 1;
  }
}
