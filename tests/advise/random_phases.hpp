// SPDX-License-Identifier: BSD-3-Clause
// Problems of phases, for tests.
#pragma once
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advise/phases.hpp"
#include "base/index.hpp"

/// Two phases of one matrix whose ways from one layout to another are quick in one direction only: the best cycle is
/// two cycles of phases.
inline advise::PhaseProblem best_in_two_cycles() {
  using advise::PhaseUse;
  advise::PhaseProblem p;
  p.matrices = {{"x", 4, 1}};
  p.start = {0};
  p.phases = {{"first", {PhaseUse::read_write}, {{"0", {0}, {1}}, {"1", {1}, {1}}}},
              {"second", {PhaseUse::read_write}, {{"2", {2}, {1}}, {"3", {3}, {1}}}}};
  const std::set<std::pair<int, int>> quick = {{2, 0}, {0, 3}, {3, 1}, {1, 2}};
  p.move = [quick](int, int from, int to) { return std::vector<double>{quick.count({from, to}) > 0 ? 0.0 : 10.0}; };
  return p;
}

class RandomPhases {
public:
  explicit RandomPhases(unsigned seed) : engine_(seed) {}
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }

  advise::PhaseProblem problem(int phases, int candidates, int matrices, int layouts) {
    const int processes = whole(0, 4) == 0 ? whole(20, 60) : whole(1, 3);
    advise::PhaseProblem p;
    std::vector<double> costs(base::at(matrices * layouts * layouts * processes));
    for (double& cost : costs) cost = real(0, 4);
    p.move = [=](int m, int from, int to) {
      const auto first = costs.begin() + ((m * layouts + from) * layouts + to) * processes;
      return std::vector<double>(first, first + processes);
    };
    for (int m = 0; m < matrices; ++m) {
      p.matrices.push_back({"m" + std::to_string(m), layouts, whole(1, 5)});
      p.start.push_back(whole(0, layouts - 1));
    }
    for (int k = 0; k < phases; ++k) {
      advise::Phase phase{"p" + std::to_string(k), {}, {}};
      for (int m = 0; m < matrices; ++m) phase.uses.push_back(static_cast<advise::PhaseUse>(whole(0, 3)));
      for (int c = 0; c < candidates; ++c) {
        advise::PhaseCandidate candidate{std::to_string(c), {}, {}};
        for (int m = 0; m < matrices; ++m) candidate.layouts.push_back(whole(0, layouts - 1));
        for (int q = 0; q < processes; ++q) candidate.seconds.push_back(real(0, 3));
        phase.candidates.push_back(candidate);
      }
      p.phases.push_back(phase);
    }
    return p;
  }

private:
  std::mt19937 engine_;
};
