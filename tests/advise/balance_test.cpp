// SPDX-License-Identifier: BSD-3-Clause
#include "advise/balance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../every_partition.hpp"
#include "base/index.hpp"

namespace {
using advise::Balance;
using advise::BalanceAction;
using advise::BalanceProcess;
using advise::BalanceRequest;
using base::GridShape;

using base::at;

/// Speeds of the processes in the grid, row-major; work of 1 s on one processor per place. Moving costs nothing.
BalanceRequest request_for(GridShape grid, const std::vector<double>& speeds, std::int64_t n = 5040) {
  BalanceRequest r;
  r.grid = grid;
  r.m = r.n = n;
  r.work_s = grid.size();
  for (std::size_t k = 0; k < speeds.size(); ++k) {
    BalanceProcess p;
    p.speed = p.share = speeds[k];
    p.place = static_cast<int>(k) < grid.size() ? static_cast<int>(k) : -1;
    r.processes.push_back(p);
  }
  r.change = [](const advise::BalanceChoice&) { return advise::Cost{}; };
  return r;
}

std::vector<double> with_slow(int processes, int slow, double speed) {
  std::vector<double> speeds(at(processes), 1.0);
  std::fill(speeds.end() - slow, speeds.end(), speed);
  return speeds;
}

void expect_sound(const BalanceRequest& r, const advise::BalanceChoice& choice) {
  ASSERT_EQ(static_cast<int>(choice.order.size()), choice.grid.size());
  const auto first = std::find_if(r.processes.begin(), r.processes.end(), [](const auto& p) { return p.place == 0; });
  const auto was_first = static_cast<int>(first - r.processes.begin());
  if (std::count(choice.order.begin(), choice.order.end(), was_first) > 0) {
    ASSERT_EQ(choice.order[0], was_first) << "the process at (0,0) does not stay there";
  }
  std::vector<int> order = choice.order;
  std::sort(order.begin(), order.end());
  ASSERT_EQ(std::adjacent_find(order.begin(), order.end()), order.end());
  ASSERT_GE(order.front(), 0);
  ASSERT_LT(order.back(), static_cast<int>(r.processes.size()));
  ASSERT_EQ(std::accumulate(choice.rows.begin(), choice.rows.end(), std::int64_t{0}), r.m);
  ASSERT_EQ(std::accumulate(choice.cols.begin(), choice.cols.end(), std::int64_t{0}), r.n);
}

// The power that can be used: equal parts, the best parts, and equal parts without the slow ones (aspect at most 3).
struct PowerCase {
  GridShape grid;
  int slow;
  double speed, uniform, shares, removed;
  GridShape removed_grid;
};
const PowerCase power_cases[] = {
    {{2, 2}, 1, 0.5, 2, 3, 3, {1, 3}},     {{2, 2}, 1, 0.25, 1, 2.5, 3, {1, 3}},
    {{3, 3}, 1, 0.5, 4.5, 7.5, 8, {2, 4}}, {{4, 4}, 1, 0.5, 8, 14, 15, {3, 5}},
    {{4, 4}, 2, 0.25, 4, 13, 12, {3, 4}},  {{4, 4}, 4, 0.5, 8, 14, 12, {3, 4}},
    {{8, 8}, 1, 0.5, 32, 60, 63, {7, 9}},  {{16, 16}, 1, 0.5, 128, 248, 5040.0 * 5040 / 336 / 297, {15, 17}},
};

TEST(Balance, PowerThatCanBeUsed) {
  for (const PowerCase& c : power_cases) {
    SCOPED_TRACE(to_string(c.grid) + ", " + std::to_string(c.slow) + " at " + std::to_string(c.speed));
    BalanceRequest r = request_for(c.grid, with_slow(c.grid.size(), c.slow, c.speed));
    const Balance removed = advise::decide_balance(r);
    EXPECT_NEAR(removed.now.power, c.uniform, 1e-9);
    EXPECT_NEAR(removed.then.power, c.removed, 1e-9);
    EXPECT_EQ(removed.then.grid.size(), c.removed_grid.size());
    EXPECT_EQ(removed.action, BalanceAction::remove);
    expect_sound(r, removed.then);
    // all stay, the parts are new; for the last shape but one the slow ones have to be brought into one column
    r.is_weighted = true;
    r.may_remove = false;
    r.allowed = [&](GridShape g) { return g == c.grid; };
    const Balance shares = advise::decide_balance(r);
    EXPECT_NEAR(shares.then.power, c.shares, c.shares * std::max(0.002, c.grid.nprow / 5040.0)); // whole rows
    EXPECT_EQ(shares.action, BalanceAction::rebalance);
    expect_sound(r, shares.then);
    // either: the better one
    r.may_remove = true;
    r.allowed = nullptr;
    EXPECT_GE(advise::decide_balance(r).then.power, std::max(c.shares, c.removed) * 0.998);
  }
}

TEST(Balance, PartsAreWholeBlocksButTheLast) {
  constexpr std::array<double, 3> speeds{0.2, 0.5, 1};
  for (int k = 0; k < 81; ++k)
    for (const std::int64_t n : {10, 45}) {
      BalanceRequest r =
          request_for({1, 4}, {speeds[at(k % 3)], speeds[at(k / 3 % 3)], speeds[at(k / 9 % 3)], speeds[at(k / 27)]}, n);
      r.is_weighted = true;
      r.mb = r.nb = 4;
      r.volume_s = 4; // a squarer grid pays
      const Balance balance = advise::decide_balance(r);
      expect_sound(r, balance.then);
      for (const auto* parts : {&balance.then.rows, &balance.then.cols}) {
        std::int64_t end = 0;
        for (const std::int64_t part : *parts) {
          end += part;
          EXPECT_TRUE(part % 4 == 0 || end == n) << k << ": part " << part << " up to " << end << " of " << n;
        }
      }
    }
}

TEST(Balance, WhatWasMeasuredCountsAsFarAsStepsAreAlike) {
  BalanceRequest r = request_for({1, 4}, {1, 1, 1, 1});
  r.is_weighted = true;
  r.step_s = 1.05;
  const std::int64_t n = r.n;
  r.measured.push_back({{{1, 4}, {0, 1, 2, 3}, {n}, {n / 4 - 100, n / 4 + 100, n / 4, n / 4}}, 1});
  const Balance back = advise::decide_balance(r);
  EXPECT_EQ(back.action, BalanceAction::rebalance) << back.why;
  EXPECT_TRUE(back.then.is_measured);
  r.measured_error = 0.02; // 4.8 % may be chance
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
  r.measured_error = -1;
  EXPECT_THROW(advise::decide_balance(r), base::Error);
}

/// One of four leaves: rows in whole blocks of 4 are not as even for three as columns, which nobody has cut yet.
TEST(Balance, AnAxisThatNobodyHasCutIsNotCutForNothing) {
  BalanceRequest r = request_for({4, 1}, {1, 1, 1, 1}, 1600);
  r.processes[2].waits_s = 5;
  r.is_weighted = true;
  r.mb = 4;
  EXPECT_TRUE((advise::decide_balance(r).then.grid == GridShape{1, 3}));
  r.error = 0.03;
  EXPECT_TRUE((advise::decide_balance(r).then.grid == GridShape{1, 3})) << "columns were cut before";
  r.cols_were_cut = false;
  EXPECT_TRUE((advise::decide_balance(r).then.grid == GridShape{3, 1}));
  r.volume_s = 2; // one that comes back: two by two has messages of 2 s, four in a column of 2.5 s
  r.processes[2].waits_s = 0;
  r.processes[2].place = -1;
  r.processes[3].place = 2;
  r.grid = {3, 1};
  EXPECT_TRUE((advise::decide_balance(r).then.grid == GridShape{2, 2}));
}

/// It would save its cost, but for twice the error of what was never cut.
TEST(Balance, SaysWhyAShorterStepIsNotTaken) {
  BalanceRequest r = request_for({2, 1}, {1, 1, 1, 1});
  r.allowed = [](GridShape g) { return g == GridShape{2, 2}; };
  r.error = 0.03;
  r.cols_were_cut = false;
  r.steps_left = 100; // 1 s a step now, 0.5 s on four
  r.change = [](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", 48.0}}}; };
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::stay);
  EXPECT_TRUE(b.refused.has_value());
  EXPECT_TRUE(says(b.why, "2x2 would take 101 s"));
  EXPECT_TRUE(says(b.why, "less than the 100 s"));
}

/// Seconds of a step of a set in a row, if parts need not be whole: with `t` seconds each does speed * (t - waits_s).
double step_of_row(const BalanceRequest& r, unsigned set) {
  double least = 0, most = 1e3;
  for (std::size_t k = 0; k < r.processes.size(); ++k)
    if ((set >> k & 1U) != 0) least = std::max(least, r.processes[k].waits_s);
  for (int round = 0; round < 60; ++round) {
    const double t = (least + most) / 2;
    double done = 0;
    for (std::size_t k = 0; k < r.processes.size(); ++k)
      if ((set >> k & 1U) != 0) done += r.processes[k].speed * (t - r.processes[k].waits_s);
    (done < r.work_s ? least : most) = t;
  }
  return most;
}

TEST(Balance, WhoWaitsHoweverLittleItHasToDoLeavesWhereAllAreQuickerForIt) {
  std::mt19937 engine(134);
  const auto real = [&](double least, double most) { return std::uniform_real_distribution<>(least, most)(engine); };
  int removed = 0, kept = 0;
  for (int run = 0; run < 100; ++run) {
    const int count = 2 + run % 5;
    std::vector<double> speeds(at(count));
    for (double& speed : speeds) speed = real(0.5, 1);
    BalanceRequest r = request_for({1, count}, speeds, 7200);
    const std::size_t who = engine() % at(count);
    r.is_weighted = true;
    r.max_aspect = 0;
    r.allowed = [](GridShape g) { return g.nprow == 1; };
    r.processes[who].waits_s = real(0, 3) * r.work_s / count;
    r.rules.gain = 0;
    const Balance balance = advise::decide_balance(r);
    expect_sound(r, balance.then);
    double quickest = std::numeric_limits<double>::infinity();
    for (unsigned set = 1; set < 1U << r.processes.size(); ++set)
      if (set != 1U << who)
        quickest = std::min(quickest, step_of_row(r, set)); // the competing one is not looked at alone
    ASSERT_GE(balance.then.step_s(), quickest * (1 - 1e-9));
    ASSERT_LE(balance.then.step_s(), quickest * 1.003) << "run " << run; // whole columns
    (balance.leaves.empty() ? kept : removed) += 1;
    if (!balance.leaves.empty()) {
      EXPECT_EQ(balance.leaves, std::vector<int>{static_cast<int>(who)});
    }
  }
  EXPECT_GT(removed, 10);
  EXPECT_GT(kept, 10);
}

/// Every set of processes on every shape, equal parts.
double quickest_by_force(const BalanceRequest& r) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < 1U << r.processes.size(); ++set) {
    int count = 0;
    double slowest = std::numeric_limits<double>::infinity(), share = 1;
    for (std::size_t k = 0; k < r.processes.size(); ++k) {
      if ((set >> k & 1U) == 0) continue;
      ++count;
      slowest = std::min(slowest, r.processes[k].speed);
      share = std::min(share, r.processes[k].share);
    }
    for (int p = 1; p <= count; ++p) {
      if (count % p != 0) continue;
      const int q = count / p;
      const double rows = std::ceil(static_cast<double>(r.m) / p), cols = std::ceil(static_cast<double>(r.n) / q);
      const double work = r.work_s * rows * cols / static_cast<double>(r.m * r.n) / slowest;
      const double messages = count == 1 ? 0 : r.volume_s * (1.0 / p + 1.0 / q) + r.messages_s * (p + q);
      best = std::min(best, r.fixed_s + work + messages * (1 - r.processor_part + r.processor_part / share));
    }
  }
  return best;
}

TEST(Balance, NoSetOfProcessesOnNoShapeIsQuicker) {
  std::mt19937 engine(18);
  const auto real = [&](double least, double most) { return std::uniform_real_distribution<>(least, most)(engine); };
  int changed = 0;
  for (int run = 0; run < 200; ++run) {
    const GridShape grid{1 + run % 3, 1 + run / 3 % 3};
    std::vector<double> speeds(at(grid.size() + run % 2));
    for (double& speed : speeds) speed = run % 5 == 0 ? 1.0 / static_cast<double>(1 + engine() % 3) : real(0.1, 1);
    BalanceRequest r = request_for(grid, speeds, 720);
    r.max_aspect = 0;
    r.fixed_s = real(0, 0.1);
    r.volume_s = real(0, 1);
    r.messages_s = real(0, 0.1);
    r.processor_part = run % 4 == 0 ? 0.5 : 0;
    r.rules.gain = 0;
    const Balance balance = advise::decide_balance(r);
    expect_sound(r, balance.then);
    const double quickest = quickest_by_force(r);
    ASSERT_LE(balance.then.step_s(), balance.now.step_s());
    ASSERT_NEAR(balance.then.step_s(), std::min(quickest, balance.now.step_s()), 1e-9) << "run " << run;
    changed += balance.action == BalanceAction::stay ? 0 : 1;
  }
  EXPECT_GT(changed, 50);
}

TEST(Balance, TheSlowestMayHaveTheSmallestPart) { // where blocks do not divide
  BalanceRequest r = request_for({3, 1}, {0.75, 0.5, 1 / 5.2});
  r.m = 10; // 4, 4 and 2 rows, later 6 and 4
  r.mb = 4;
  r.n = 1;
  r.work_s = 5;
  const Balance balance = advise::decide_balance(r);
  EXPECT_NEAR(balance.now.step_s(), 5.2, 1e-9);
  EXPECT_EQ(balance.then.grid, (GridShape{2, 1})) << balance.why;
  EXPECT_NEAR(balance.then.step_s(), 4, 1e-9) << "in halves it would be 5";
}

TEST(Balance, WeightedPartsAreNeverBehindEqualOnes) {
  std::mt19937 engine(7);
  for (int run = 0; run < 30; ++run) {
    const GridShape grid{1 + run % 3, 2 + run % 2};
    std::vector<double> speeds(at(grid.size()));
    for (double& speed : speeds) speed = std::uniform_real_distribution<>(0.2, 1)(engine);
    BalanceRequest r = request_for(grid, speeds);
    r.volume_s = 0.1;
    r.processor_part = 0.4;
    r.rules.gain = 0;
    const Balance equal = advise::decide_balance(r);
    r.is_weighted = true;
    const Balance weighted = advise::decide_balance(r);
    expect_sound(r, weighted.then);
    ASSERT_LE(weighted.then.step_s(), equal.then.step_s() * 1.002) << "run " << run;
    const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    ASSERT_LE(weighted.then.power, all * (1 + 1e-9));
  }
}

TEST(Balance, ThePriceOfMovingDecides) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 0.25});
  r.steps_left = 100; // 4 s a step now, 4/3 s without the slow one
  double price = 0;
  r.change = [&](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", price}}}; };
  Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::remove);
  EXPECT_EQ(b.payoff_steps, 0);
  EXPECT_EQ(b.leaves, std::vector<int>{3});
  EXPECT_NEAR(b.now.step_s(), 4, 1e-9);
  EXPECT_NEAR(b.then.step_s(), 4.0 / 3, 1e-9);
  price = 261; // all 100 steps are known to come, at 2.667 s gained; 1 % of 400 s must be saved, which are 1.5 steps
  EXPECT_EQ(advise::decide_balance(r).payoff_steps, 98);
  price = 263;
  b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::stay);
  EXPECT_TRUE(says(b.why, "save that after 99 steps, expected at most 98.5"));
  r.held_s = 40; // a load of 10 steps: a guess again, of which half may pass
  price = 14;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
  price = 13;
  EXPECT_EQ(advise::decide_balance(r).payoff_steps, 5);
  r.held_s = std::numeric_limits<double>::infinity();
  price = 263;
  b = advise::decide_balance(r);
  ASSERT_TRUE(b.refused.has_value());
  EXPECT_EQ(b.refused->grid.size(), 3);
  r.steps_left = -1; // not known: 50, so 25 may pass
  price = 66;
  EXPECT_EQ(advise::decide_balance(r).payoff_steps, 25);
  // a dear large change against a cheap small one: the least of steps * step + change
  r.steps_left = 10;
  r.change = [&](const advise::BalanceChoice& choice) {
    return advise::Cost{{{"exchange", choice.grid.size() == 3 ? 10.0 : 0.5}}};
  };
  EXPECT_EQ(advise::decide_balance(r).then.grid.size(), 2); // 10 * 2 + 0.5 < 10 * 4/3 + 10
  r.steps_left = 1000;
  EXPECT_EQ(advise::decide_balance(r).then.grid.size(), 3);
  r.steps_left = 0;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
}

TEST(Balance, PartsOfAStepPayOff) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 0.5});
  r.is_weighted = true;
  r.change = [](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", 0.1}}}; };
  r.steps_left = 20; // 2 s a step, 4/3 s with other parts
  // 0.15 steps, and with 0.5 s for the way back 0.9, of the 0.75 and 1.1 steps that the load has lasted
  r.held_s = 1.5;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
  r.held_s = 2.2;
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::rebalance) << b.why;
  EXPECT_NEAR(b.then.step_s(), 4.0 / 3, 0.01);
  EXPECT_EQ(b.payoff_steps, 1);
}

TEST(Balance, MovementIsCountedAndPriced) {
  BalanceRequest r = request_for({1, 4}, {1, 1, 1, 0.5}, 1400);
  r.change = nullptr;
  r.is_weighted = true;
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::rebalance);
  EXPECT_EQ(b.then.cols, (std::vector<std::int64_t>{400, 400, 400, 200}));
  EXPECT_EQ(b.then.moved_elements, 1400 * (50 + 100 + 150)); // columns 350, 700, 1050 become 400, 800, 1200
  EXPECT_GT(b.then.change.total(), 0);
  EXPECT_EQ(b.then.change.total(),
            b.then.change.of("latency") + b.then.change.of("bandwidth") + b.then.change.of("packing"));
  // a process that leaves moves all its data
  r.is_weighted = false;
  const Balance removal = advise::decide_balance(r);
  EXPECT_EQ(removal.action, BalanceAction::remove);
  EXPECT_GE(removal.then.moved_elements, 1400 * 350);
}

TEST(Balance, NothingIsDoneForFivePercentOrWhereAllAreAlike) {
  Balance b = advise::decide_balance(request_for({2, 2}, {1, 1, 1, 0.96}));
  EXPECT_EQ(b.action, BalanceAction::stay);
  for (const double speed : {1.0, 0.2}) { // all loaded alike
    b = advise::decide_balance(request_for({3, 3}, std::vector<double>(9, speed)));
    EXPECT_EQ(b.action, BalanceAction::stay);
    EXPECT_TRUE(says(b.why, "nothing is gained"));
    EXPECT_TRUE(b.leaves.empty());
  }
  BalanceRequest r = request_for({3, 3}, std::vector<double>(9, 0.2));
  r.is_weighted = true;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
}

TEST(Balance, WhoMayNotLeaveStays) {
  BalanceRequest r = request_for({2, 2}, {0.25, 1, 1, 1});
  r.processes[0].may_leave = false;
  r.rules.gain = 0;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay); // equal parts: 0 sets the pace of any grid
  r.is_weighted = true;
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::rebalance);
  EXPECT_TRUE(b.leaves.empty());
  r.processes[0].may_leave = true;
  r.is_weighted = false;
  EXPECT_EQ(advise::decide_balance(r).leaves, std::vector<int>{0});
}

TEST(Balance, SleepersComeBackWhenTheyAreCalm) {
  BalanceRequest r = request_for({1, 3}, {1, 1, 1, 1});
  r.work_s = 4;
  r.processes[3].away_s = 300;
  r.processes[3].calm_s = 9;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
  r.processes[3].calm_s = 10;
  Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::take_back);
  EXPECT_EQ(b.comes, std::vector<int>{3});
  r.may_return = false;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
  r.may_return = true;
  // a process that left lately must bring twice: the 13th of 13 saves 7.7 %
  r = request_for({1, 12}, std::vector<double>(13, 1.0));
  r.max_aspect = 0;
  r.processes[12].away_s = 59;
  b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::stay);
  EXPECT_TRUE(says(b.why, "expected at least 10 % (2 times as much for a process that left less than 60 s ago)"));
  r.processes[12].away_s = 60;
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::take_back);
  // it is measured by what is possible without it: beside a fresh one it saves 7.1 %
  r.processes[12].away_s = 5;
  r.processes.emplace_back();
  b = advise::decide_balance(r);
  EXPECT_EQ(b.comes, std::vector<int>{13});
}

TEST(Balance, OneLoadedAndOneCalmChangePlaces) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 0.3, 1});
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::replace);
  EXPECT_EQ(b.leaves, std::vector<int>{3});
  EXPECT_EQ(b.comes, std::vector<int>{4});
  EXPECT_EQ(b.then.grid, (GridShape{2, 2}));
  EXPECT_EQ(b.then.order, (std::vector<int>{0, 1, 2, 4})); // into the free place
  EXPECT_EQ(b.then.moved_elements, 2520 * 2520);
}

/// Plays a load on process 3 of 2x2 by its period; how often the grid changed.
int changes_under(double period_s, double duration_s) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 1});
  r.change = [](const advise::BalanceChoice&) { return advise::Cost{{{"exchange", 2.0}}}; };
  r.work_s = 0.4; // 0.1 s a step
  r.steps_left = 100000;
  int changes = 0;
  double left_at = -1e9, loaded_at = -1e9, calm_at = -1e9;
  bool was_loaded = false;
  for (double t = 0; t < duration_s; t += 1) {
    const bool is_loaded = std::fmod(t, 2 * period_s) >= period_s;
    if (is_loaded != was_loaded) (is_loaded ? loaded_at : calm_at) = t;
    was_loaded = is_loaded;
    r.held_s = t - std::max(loaded_at, calm_at);
    BalanceProcess& p = r.processes[3];
    p.speed = p.share = is_loaded ? 0.5 : 1;
    p.calm_s = is_loaded ? 0 : t - calm_at;
    p.away_s = t - left_at;
    const Balance b = advise::decide_balance(r);
    if (b.action == BalanceAction::stay) continue;
    ++changes;
    for (BalanceProcess& each : r.processes) each.place = -1;
    for (std::size_t place = 0; place < b.then.order.size(); ++place)
      r.processes[at(b.then.order[place])].place = static_cast<int>(place);
    r.grid = b.then.grid;
    if (!b.leaves.empty()) left_at = t;
  }
  return changes;
}

TEST(Balance, DoesNotFlap) {
  EXPECT_EQ(changes_under(3, 600), 0);   // gone before a move could pay
  EXPECT_LE(changes_under(20, 600), 30); // at most once each way
  EXPECT_EQ(changes_under(150, 600), 3); // leaves at 150, returns at 300, leaves at 450
  EXPECT_EQ(changes_under(100000, 600), 0);
}

TEST(Balance, TheMeasuredStepCorrectsThePrediction) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 0.25});
  r.step_s = 8; // twice as long as predicted
  const Balance b = advise::decide_balance(r);
  EXPECT_NEAR(b.now.step_s(), 8, 1e-9);
  EXPECT_NEAR(b.then.step_s(), 8.0 / 3, 1e-9);
  EXPECT_NEAR(b.then.step.of("work"), 8.0 / 3, 1e-9);
}

TEST(Balance, ManyProcessesInShortTime) {
  std::vector<double> speeds(1024, 1.0);
  for (int k = 0; k < 7; ++k) speeds[at(100 + 90 * k)] = 0.4;
  BalanceRequest r = request_for({32, 32}, speeds, 32 * 1000);
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.action, BalanceAction::remove);
  EXPECT_GT(b.then.power, 1000);
}

template <class Change> std::string refusal(Change change) {
  BalanceRequest r = request_for({2, 2}, {1, 1, 1, 1});
  change(r);
  return message_of([&] { advise::decide_balance(r); });
}

TEST(Balance, BadInputIsRefusedInWords) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double speed : {0.0, -1.0, nan, infinity})
    EXPECT_TRUE(says(refusal([&](auto& r) { r.processes[2].speed = speed; }), "speed of process 2 is"));
  for (const double share : {0.0, 1.5, nan})
    EXPECT_TRUE(says(refusal([&](auto& r) { r.processes[1].share = share; }), "share of process 1"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.processes[3].place = 2; }), "place of process 3 is 2"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.processes[3].place = -1; }), "1 of the 4 places"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.m = 0; }), "advise: balance: matrix is 0 x"));
  EXPECT_TRUE(says(refusal([](auto& r) {
                     r.m = r.n = std::int64_t{1} << 32;
                     r.is_weighted = true;
                   }),
                   "expected fewer than 2^61 elements"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.processes[0].calm_s = nan; }), "calm_s of process 0 are inf and nan"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.measured.push_back({{{2, 2}, {0}, {}, {}}, 1}); }), "1 s on 1 processes"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.rows = {1, 2}; }), "rows are 1, 2"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.work_s = nan; }), "work_s is nan"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.steps_left = -2; }), "steps_left is -2"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.held_s = -1; }), "held_s"));
  EXPECT_TRUE(says(refusal([](auto& r) { r.max_aspect = 0.5; }), "max_aspect"));
}

// ---- unequal items

double sum_of(const std::vector<double>& costs, std::int64_t first, std::int64_t count) {
  return std::accumulate(costs.begin() + first, costs.begin() + first + count, 0.0);
}

/// Rows and columns of random costs, and processes of random speed.
struct Unequal {
  std::mt19937 engine;
  BalanceRequest request;

  double random(double most) { return std::uniform_real_distribution<>(0, most)(engine); }
  Unequal(unsigned seed, GridShape grid, std::int64_t m, std::int64_t n) : engine(seed) {
    std::vector<double> speeds;
    for (int k = 0; k < grid.size(); ++k) speeds.push_back(0.05 + random(0.95));
    request = request_for(grid, speeds);
    request.m = m;
    request.n = n;
    for (const auto& [items, count] : {std::pair{&request.row_costs, m}, std::pair{&request.col_costs, n}})
      for (std::int64_t k = 0; k < count; ++k) items->costs.push_back(random(1) < 0.2 ? 0 : std::pow(random(1), 3));
    request.is_weighted = true;
    request.may_remove = false;
    request.allowed = [grid](GridShape g) { return g == grid; };
    request.rules.gain = request.rules.worth = 0;
    request.steps_left = 1000000;
  }
  double step_s(const advise::BalanceChoice& c, const std::vector<std::int64_t>& rows,
                const std::vector<std::int64_t>& cols) const {
    const BalanceRequest& r = request;
    const double all = sum_of(r.row_costs.costs, 0, r.m) * sum_of(r.col_costs.costs, 0, r.n);
    double longest = 0;
    std::int64_t i = 0;
    for (std::size_t row = 0; row < rows.size(); i += rows[row++]) {
      std::int64_t j = 0;
      for (std::size_t col = 0; col < cols.size(); j += cols[col++]) {
        const BalanceProcess& p = r.processes[at(c.order[row * cols.size() + col])];
        const double work =
            sum_of(r.row_costs.costs, i, rows[row]) * sum_of(r.col_costs.costs, j, cols[col]) / all * r.work_s;
        const double messages = rows.size() * cols.size() > 1 ? r.border_s : 0;
        longest = std::max(longest, work / p.speed + messages * (1 - r.processor_part + r.processor_part / p.share));
      }
    }
    return r.fixed_s + longest;
  }
  double least(const advise::BalanceChoice& c, bool is_row) const { // the other axis stays
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::int64_t> parts(at(is_row ? c.grid.nprow : c.grid.npcol));
    every_partition(is_row ? request.m : request.n, parts.size(), [&](const base::Borders& first) {
      for (std::size_t k = 0; k < parts.size(); ++k) parts[k] = first[k + 1] - first[k];
      least = std::min(least, step_s(c, is_row ? parts : c.rows, is_row ? c.cols : parts));
    });
    return least;
  }
};

TEST(Balance, UnequalItemsInARowAreCutExactly) { // all cuts into at most 4 stretches of at most 12 items
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const int processes = 1 + static_cast<int>(seed % 4);
    const std::int64_t n = 1 + seed / 4 % 12;
    const bool is_row = seed % 3 == 0;
    Unequal u(seed, is_row ? GridShape{processes, 1} : GridShape{1, processes}, is_row ? n : 3, is_row ? 3 : n);
    if (sum_of(u.request.row_costs.costs, 0, u.request.m) * sum_of(u.request.col_costs.costs, 0, u.request.n) == 0)
      continue;
    if (seed % 2 == 0) { // a slow process waits longer for its messages
      u.request.fixed_s = 0.1;
      u.request.border_s = 0.05;
      u.request.processor_part = 0.5;
    }
    const Balance b = advise::decide_balance(u.request);
    expect_sound(u.request, b.then);
    const double here = u.least(b.now, is_row), there = u.least(b.then, is_row);
    EXPECT_NEAR(b.then.step_s(), there, 1e-12 * there); // no better cut for the processes there
    EXPECT_LE(b.then.step_s(), here * (1 + 1e-12));     // and none for those before
    EXPECT_NEAR(b.now.step_s(), u.step_s(b.now, b.now.rows, b.now.cols), 1e-12 * b.now.step_s());
  }
}

TEST(Balance, UnequalItemsOnAGrid) { // neither rows nor columns alone can be cut better
  int better = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Unequal u(seed, {2, 2 + static_cast<int>(seed % 2)}, 4 + seed % 6, 5 + seed % 5);
    const Balance b = advise::decide_balance(u.request);
    expect_sound(u.request, b.then);
    EXPECT_NEAR(b.then.step_s(), u.step_s(b.then, b.then.rows, b.then.cols), 1e-12 * b.then.step_s());
    if (b.action == BalanceAction::stay) continue;
    ++better;
    EXPECT_GE(u.least(b.then, true), b.then.step_s() * (1 - 1e-12));
    EXPECT_GE(u.least(b.then, false), b.then.step_s() * (1 - 1e-12));
  }
  EXPECT_GT(better, 40);
}

TEST(Balance, UnequalItemsAreCutInWholeBlocks) {
  BalanceRequest r = request_for({1, 2}, {1, 1}, 64);
  r.mb = r.nb = 4;
  r.is_weighted = true;
  r.may_remove = false;
  r.allowed = [](GridShape g) { return g.npcol == 2; }; // on 2x1 nothing would be uneven
  r.col_costs = {{8, 1, 1, 1, 1, 1, 1, 1}, 8};
  const Balance b = advise::decide_balance(r);
  EXPECT_EQ(b.then.cols, (std::vector<std::int64_t>{8, 56}));
  EXPECT_NEAR(b.then.step_s(), 2 * 8.0 / 15, 1e-12);
  EXPECT_EQ(b.then.order[0], 0); // it prints
  r.col_costs.group = 6;
  EXPECT_THROW(advise::decide_balance(r), base::Error);
  r.col_costs = {{1, 1, 1}, 8};
  EXPECT_THROW(advise::decide_balance(r), base::Error);
  r.col_costs = {{8, 1, 1, -1, 1, 1, 1, 1}, 8};
  EXPECT_THROW(advise::decide_balance(r), base::Error);
  r.col_costs = {{8, 1, 1, std::nan(""), 1, 1, 1, 1}, 8};
  EXPECT_THROW(advise::decide_balance(r), base::Error);
  r.col_costs = {{0, 0, 0, 0, 0, 0, 0, 0}, 8}; // nothing takes time: all are alike
  EXPECT_EQ(advise::decide_balance(r).action, BalanceAction::stay);
}

} // namespace
