// SPDX-License-Identifier: BSD-3-Clause
#include "advise/factor_layout.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/grid_shape.hpp"
#include "gridmap/dealing.hpp"

namespace {

using gridmap::Axis;
using gridmap::DealOrder;

/// Element by element.
double counted(const Axis& rows, const Axis& cols, const std::vector<double>& speeds, std::int64_t first,
               std::int64_t end) {
  double sum = 0;
  for (std::int64_t k = first; k < end; ++k) {
    std::vector<double> each(speeds.size(), 0);
    for (std::int64_t i = k; i < rows.n; ++i)
      for (std::int64_t j = k; j < cols.n; ++j)
        ++each[static_cast<std::size_t>(rows.owner(i) * cols.nprocs + cols.owner(j))];
    double slowest = 0;
    for (std::size_t p = 0; p < each.size(); ++p) slowest = std::max(slowest, each[p] / speeds[p]);
    sum += slowest;
  }
  return sum;
}

TEST(FactorLayout, TimeIsWhatTheElementsTake) {
  std::mt19937 random(7);
  const auto between = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 200; ++round) {
    const int p = between(1, 3), q = between(1, 3), m = between(1, 30), n = between(1, 30);
    const auto axis = [&](int length, int nprocs) {
      std::vector<double> shares;
      for (int k = between(0, 1) * nprocs; k > 0; --k) shares.push_back(between(1, 5));
      return gridmap::deal_out(length, between(1, 4), nprocs, shares, static_cast<DealOrder>(between(1, 3)));
    };
    const Axis rows = axis(m, p), cols = axis(n, q);
    std::vector<double> speeds;
    for (int k = 0; k < p * q; ++k) speeds.push_back(between(1, 4));
    const std::int64_t first = between(0, std::min(m, n)), end = std::min(m, n);
    EXPECT_NEAR(advise::factor_time(rows, cols, speeds, first, end), counted(rows, cols, speeds, first, end), 1e-9);
  }
}

TEST(FactorLayout, LongStretchesAreNearlyRight) {
  const Axis block = Axis::block(20000, 2), cyclic = Axis::block_cyclic(20000, 50, 2);
  const double n = 20000, all = n * n * n / 3; // of block rows and columns one place has all but the first half's
  EXPECT_NEAR(advise::factor_time(cyclic, cyclic, {1, 1, 1, 1}, 0, 20000) / (all / 4), 1, 0.01);
  EXPECT_NEAR(advise::factor_time(block, block, {1, 1, 1, 1}, 0, 20000) / (n * n * n / 8 + n * n * n / 24), 1, 0.01);
}

/// Stretches of equal length, two processes: after half of the columns one has nothing left.
advise::FactorLayoutRequest two_stretches() {
  advise::FactorLayoutRequest r;
  r.name = "A";
  r.rows = r.rows_then = Axis::block(96, 1);
  r.cols = Axis::block(96, 2);
  r.cols_then = gridmap::deal_out(96, 4, 2, {}, DealOrder::factor);
  r.speeds = {1, 1};
  r.next = 8;
  r.panels_left = 10;
  r.first_work = 1;
  r.work_s = 1;
  r.step_s = 1e9; // the last panel does not say that the work is less
  return r;
}

advise::Cost move_of(double seconds) {
  return {{{"bandwidth", seconds}}};
}

TEST(FactorLayout, MoveIsWorthItWhileEnoughIsLeft) {
  advise::FactorLayoutRequest r = two_stretches();
  const advise::Balance stays{};
  const auto rest = [&](const Axis& cols) { return counted(r.rows, cols, r.speeds, r.next, 96); };
  bool did_pay = true;
  r.change = move_of(20000);
  for (r.next = 8; r.next < 96; r.next += 8) {
    const auto d = advise::decide_factor_layout(r, stays);
    const double now = rest(r.cols), then = rest(r.cols_then);
    EXPECT_DOUBLE_EQ(d.now_s, now);
    EXPECT_DOUBLE_EQ(d.then_s, then);
    EXPECT_EQ(d.balance.has_value(), then + r.change.total() < now * (1 - r.rules.worth)) << r.next;
    EXPECT_TRUE(did_pay || !d.balance) << r.next; // never again
    did_pay = d.balance.has_value();
  }
  EXPECT_FALSE(did_pay);
  r.next = 8;
  EXPECT_TRUE(advise::decide_factor_layout(r, stays).balance.has_value());
  r.change = move_of(1e9);
  EXPECT_FALSE(advise::decide_factor_layout(r, stays).balance.has_value());
  r.change = move_of(0);
  r.cols = r.cols_then;
  EXPECT_FALSE(advise::decide_factor_layout(r, stays).balance.has_value()); // nothing is gained
}

TEST(FactorLayout, BalanceIsTheMove) {
  advise::FactorLayoutRequest r = two_stretches();
  r.change = move_of(20000);
  r.moved_elements = 77;
  advise::Balance stays;
  stays.then.order = {1, 0};
  stays.now.order = {0, 1};
  const auto d = advise::decide_factor_layout(r, stays);
  ASSERT_TRUE(d.balance.has_value());
  const advise::Balance& move = *d.balance;
  EXPECT_EQ(move.action, advise::BalanceAction::rebalance);
  EXPECT_DOUBLE_EQ(move.steps, 10);
  EXPECT_DOUBLE_EQ(move.now.step_s(), d.now_s / 10);
  EXPECT_DOUBLE_EQ(move.then.step_s(), d.then_s / 10);
  EXPECT_EQ(move.then.order, stays.now.order) << "the processes stay where they are";
  EXPECT_EQ(move.then.rows, r.rows_then.local_sizes());
  EXPECT_EQ(move.then.cols, r.cols_then.local_sizes());
  EXPECT_DOUBLE_EQ(move.then.change.total(), 20000);
  EXPECT_EQ(move.then.moved_elements, 77);
  EXPECT_GT(move.payoff_steps, 0);
  EXPECT_LE(move.payoff_steps, 10);
  EXPECT_EQ(move.why.find("the rest of \"A\" is predicted to take "), std::size_t{0}) << move.why;
}

TEST(FactorLayout, WorkIsTheLesserOfTwoEstimates) {
  advise::FactorLayoutRequest r = two_stretches();
  r.first_work = 4;
  EXPECT_DOUBLE_EQ(advise::decide_factor_layout(r, {}).unit_s, 0.25) << "from all steps";
  r.step_s = 1e-3;
  const double last_panel = counted(r.rows, r.cols, r.speeds, 0, 8);
  const double unit_s = 1e-3 * gridmap::factor_work(96, 96, 0, 8) / last_panel / 4;
  EXPECT_DOUBLE_EQ(advise::decide_factor_layout(r, {}).unit_s, unit_s) << "from the last panel";
  r.last = r.next;
  EXPECT_DOUBLE_EQ(advise::decide_factor_layout(r, {}).unit_s, 0) << "no panel is done yet";
}

TEST(GridForRest, IsTheLargestThatEachHasEnoughOn) {
  for (int p = 1; p <= 6; ++p)
    for (int q = 1; q <= 6; ++q)
      for (std::int64_t m = 0; m <= 1000; m += 37)
        for (std::int64_t n = 0; n <= 1000; n += 41) {
          base::GridShape largest{1, 1};
          for (int a = 1; a <= p; ++a)
            for (int b = 1; b <= q; ++b)
              if ((a == 1 || m >= std::int64_t{128} * a) && (b == 1 || n >= std::int64_t{128} * b) &&
                  a * b > largest.size())
                largest = {a, b};
          const base::GridShape got = advise::grid_for_rest({p, q}, m, n);
          if (2 * largest.size() <= p * q)
            EXPECT_EQ(got, largest) << p << "x" << q << " " << m << "x" << n;
          else
            EXPECT_EQ(got, (base::GridShape{p, q})) << m << "x" << n;
        }
}

} // namespace
