// SPDX-License-Identifier: BSD-3-Clause
// What phases took becomes a plan, in a simulated program whose times scatter: never far behind the best single layout.
#include "advise/phase_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "advise/phases.hpp"
#include "base/index.hpp"
#include "base/statistics.hpp"

namespace {
using advise::PhasePlan;
using advise::PhaseProblem;
using advise::PhaseTrials;
using advise::PhaseUse;
using base::at;

/// Phases of one process, whose true times and moves only the simulation knows.
class World {
public:
  explicit World(unsigned seed) : engine_(seed) {
    const int layouts = whole(2, 4), matrices = whole(1, 2), phases = whole(2, 4);
    for (int m = 0; m < matrices; ++m) {
      problem.matrices.push_back({"m" + std::to_string(m), layouts, 1});
      problem.start.push_back(0);
    }
    for (int k = 0; k < phases; ++k) {
      advise::Phase phase{"p" + std::to_string(k), {}, {}};
      for (int m = 0; m < matrices; ++m)
        phase.uses.push_back(m == k % matrices ? PhaseUse::read_write : PhaseUse::read);
      for (int c = 0; c < layouts; ++c)
        phase.candidates.push_back({std::to_string(c), std::vector<int>(at(matrices), c), {real(1, 3)}});
      problem.phases.push_back(phase);
    }
    for (int m = 0; m < matrices; ++m)
      for (int from = 0; from < layouts; ++from)
        for (int to = 0; to < layouts; ++to) {
          const double predicted = real(0.05, 1);
          moves_[{m, from, to}] = {predicted, predicted * std::exp(real(-0.7, 0.7))};
        }
  }

  /// Seconds with which an average cycle in layout `c` alone ends, without noise: nothing moves.
  double single_s(int c) const {
    double sum = 0;
    for (const advise::Phase& phase : problem.phases) sum += phase.candidates[at(c)].seconds[0];
    return sum;
  }
  double noise() {
    const double scatter = std::exp(0.03 * std::normal_distribution<>()(engine_));
    return whole(0, 99) < 2 ? 1.5 * scatter : scatter; // now and then somebody else computes here
  }
  double true_move(int m, int from, int to) const { return moves_.at({m, from, to}).true_s; }
  double predicted_move(int m, int from, int to) const { return moves_.at({m, from, to}).predicted; }
  int whole(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }

  PhaseProblem problem;

private:
  struct Move {
    double predicted, true_s;
  };
  std::mt19937 engine_;
  std::map<advise::PhaseMoveKey, Move> moves_;
};

/// A program in that world, as blacs_dyn::Phases runs it.
class Program {
public:
  explicit Program(World& world) : world_(world) {
    std::vector<std::size_t> counts;
    for (const auto& phase : world.problem.phases) counts.push_back(phase.candidates.size());
    trials_ = PhaseTrials(counts);
    now_ = world.problem.start;
    for (const int layout : now_) valid_.push_back({layout});
  }
  double cycle() {
    if (plan_.steps.empty() ? trials_.is_all_tried() : trials_.is_outdated()) plan();
    double seconds = 0;
    for (int p = 0; p < static_cast<int>(world_.problem.phases.size()); ++p) seconds += run(p);
    return seconds;
  }
  int plans() const { return plans_; }

private:
  void plan() {
    PhaseProblem known = world_.problem;
    known.start = now_;
    for (int p = 0; p < static_cast<int>(known.phases.size()); ++p) {
      std::vector<advise::PhaseCandidate>& list = known.phases[at(p)].candidates;
      for (int c = 0; c < static_cast<int>(list.size()); ++c)
        list[at(c)].seconds = {trials_.typical_s(p, c) * trials_.hope(p, c)};
    }
    known.move = [this](int m, int from, int to) {
      return std::vector<double>{world_.predicted_move(m, from, to) * trials_.move_factor({m, from, to})};
    };
    plan_ = advise::plan_endless_phases(known);
    trials_.planned(plan_.steps, [&](int p, int c) { return known.phases[at(p)].candidates[at(c)].layouts; });
    cursor_ = 0;
    ++plans_;
  }
  double run(int p) {
    int c = 0;
    std::vector<int> sources(now_.size(), -1);
    if (plan_.steps.empty()) {
      c = trials_.next(p).value_or(0);
    } else {
      c = plan_.steps[cursor_].candidate;
      sources = plan_.steps[cursor_].copied_from;
      cursor_ = cursor_ + 1 < plan_.steps.size() ? cursor_ + 1 : plan_.lead_in;
    }
    const advise::Phase& phase = world_.problem.phases[at(p)];
    const advise::PhaseCandidate& candidate = phase.candidates[at(c)];
    double moved = 0;
    for (std::size_t m = 0; m < now_.size(); ++m) {
      const int to = candidate.layouts[m];
      if (valid_[m].count(to) == 0) {
        const int from = valid_[m].count(sources[m]) > 0 ? sources[m] : now_[m], matrix = static_cast<int>(m);
        const double took = world_.true_move(matrix, from, to) * world_.noise();
        trials_.moved({matrix, from, to}, took / world_.predicted_move(matrix, from, to));
        moved += took;
      }
      now_[m] = to;
      if (phase.uses[m] == PhaseUse::read_write) valid_[m].clear();
      valid_[m].insert(to);
    }
    const double took = candidate.seconds[0] * world_.noise();
    trials_.took(p, c, took);
    return moved + took;
  }

  World& world_;
  PhaseTrials trials_;
  PhasePlan plan_;
  std::size_t cursor_ = 0;
  int plans_ = 0;
  std::vector<int> now_;
  std::vector<std::set<int>> valid_;
};

// The bar of 2 % over 500 cycles, trying and planning from noisy times included.
TEST(PhaseTrials, NeverTwoPercentBehindTheBestSingleLayout) {
  double worst = 0, sum = 0;
  int ahead = 0, most_plans = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    World world(seed);
    Program program(world);
    double ours = 0;
    for (int cycle = 0; cycle < 500; ++cycle) ours += program.cycle();
    double single = std::numeric_limits<double>::infinity();
    for (int c = 0; c < world.problem.matrices[0].layouts; ++c) single = std::min(single, world.single_s(c));
    const double noise = std::exp(0.03 * 0.03 / 2) * 1.01; // its mean
    const double ratio = ours / (500 * single * noise);
    worst = std::max(worst, ratio);
    sum += ratio;
    ahead += ratio < 0.98 ? 1 : 0;
    most_plans = std::max(most_plans, program.plans());
    EXPECT_LE(ratio, 1.02) << "world " << seed;
  }
  EXPECT_GT(ahead, 20) << "some worlds have a better plan than one layout";
  std::printf("mean %.4f, worst %.4f of the best single layout, %d of 200 more than 2 %% ahead, at most %d plans\n",
              sum / 200, worst, ahead, most_plans);
}

TEST(PhaseTrials, TriesTwiceAndTheHopelessOnce) {
  PhaseTrials trials({2, 1});
  EXPECT_EQ(trials.next(0), 0);
  trials.took(0, 0, 1);
  EXPECT_EQ(trials.next(0), 1);
  trials.took(0, 1, 3.5);
  EXPECT_EQ(trials.next(0), 0);
  trials.took(0, 0, 1);
  EXPECT_FALSE(trials.next(0)) << "three times as long wants no second try";
  EXPECT_FALSE(trials.is_all_tried());
  trials.knows(1, 0, 2);
  EXPECT_TRUE(trials.is_all_tried());
  EXPECT_EQ(trials.typical_s(1, 0), 2);
  EXPECT_EQ(trials.hope(1, 0), 1);
  EXPECT_LT(trials.hope(0, 0), 1);
  trials.took(1, 0, 9);
  EXPECT_EQ(trials.typical_s(1, 0), 2) << "a first run counts less than an earlier program";
  trials.took(1, 0, 8);
  EXPECT_EQ(trials.typical_s(1, 0), 8);
}

TEST(PhaseTrials, APlanIsOutdatedByWhatItIsMadeOf) {
  PhaseTrials trials({2});
  advise::PhaseStep step;
  step.copied_from = {0, -1};
  const auto plan = [&] { trials.planned({step}, [](int, int) { return std::vector<int>{1, 1}; }); };
  trials.took(0, 0, 1);
  trials.took(0, 1, 2);
  plan();
  EXPECT_FALSE(trials.is_outdated());
  trials.took(0, 1, 2);
  EXPECT_FALSE(trials.is_outdated()) << "it is in no plan";
  trials.took(0, 0, 1);
  EXPECT_TRUE(trials.is_outdated()) << "better known";
  for (int run = 0; run < 13; ++run) trials.took(0, 0, 1);
  plan();
  for (int run = 0; run < 7; ++run) trials.took(0, 0, 5);
  EXPECT_FALSE(trials.is_outdated()) << "less than half of those that are kept";
  trials.took(0, 0, 5);
  EXPECT_TRUE(trials.is_outdated());
  plan();
  EXPECT_FALSE(trials.is_outdated());
  trials.moved({0, 1, 0}, 2);
  EXPECT_TRUE(trials.is_outdated()) << "what other moves took says something of this one";
  EXPECT_EQ(trials.move_factor({0, 0, 1}), 2);
  plan();
  EXPECT_FALSE(trials.is_outdated());
  trials.moved({0, 0, 1}, 2);
  EXPECT_TRUE(trials.is_outdated()) << "it was measured for the first time";
  trials.knows_move({0, 0, 1}, 3);
  EXPECT_EQ(trials.move_factor({0, 0, 1}), 3);
}

} // namespace
