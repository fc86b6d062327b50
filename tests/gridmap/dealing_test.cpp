// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/dealing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"

namespace {
using gridmap::Axis;
using gridmap::deal_out;
using gridmap::DealOrder;
using Sizes = std::vector<std::int64_t>;

TEST(Dealing, Literals) {
  EXPECT_EQ(deal_out(40, 1, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 10}));
  EXPECT_EQ(deal_out(40, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 10}));
  EXPECT_EQ(deal_out(38, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 8})) << "the last block is cut short";
  EXPECT_EQ(deal_out(40, 5, 2, {3, 1}, DealOrder::cyclic).sizes, (Sizes{15, 5})) << "two rounds alike";
  EXPECT_EQ(deal_out(50, 5, 2, {3, 2}, DealOrder::cyclic).sizes, (Sizes{5, 5, 10, 5, 5, 5, 10, 5})) << "6 : 4 in four";
  EXPECT_EQ(deal_out(3, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{3, 0})) << "one block in all";
}

TEST(Dealing, AlikeIsUniform) {
  for (const DealOrder order : {DealOrder::block, DealOrder::cyclic})
    for (const std::int64_t n : {0, 1, 7, 64, 100}) {
      const Axis axis = deal_out(n, 4, 3, {}, order);
      axis.validate();
      EXPECT_TRUE(axis.is_uniform()) << axis.describe();
      EXPECT_EQ(axis.sizes[0] % 4 == 0 || axis.sizes[0] >= n, true) << axis.describe();
    }
  EXPECT_EQ(deal_out(100, 4, 3, {}, DealOrder::block).sizes, (Sizes{36}));
  EXPECT_EQ(deal_out(100, 4, 3, {}, DealOrder::cyclic).sizes, (Sizes{4}));
}

/// Whole blocks, all of them, each position what is its due, whatever the order.
TEST(Dealing, Properties) {
  const std::vector<std::vector<double>> machines = {
      {1, 2}, {5, 3, 1}, {1, 1, 1, 0.5}, {100, 1, 1}, {0.3, 0.7, 0.2, 0.9}};
  for (const auto& shares : machines)
    for (const std::int64_t n : {1, 2, 5, 37, 100, 1000, 100003})
      for (const std::int64_t nb : {1, 3, 64, 2000})
        for (const DealOrder order : {DealOrder::block, DealOrder::cyclic}) {
          const int nprocs = static_cast<int>(shares.size());
          const Axis axis = deal_out(n, nb, nprocs, shares, order);
          SCOPED_TRACE(axis.describe().substr(0, 200));
          const Sizes due = gridmap::natural_blocks((n + nb - 1) / nb, shares);
          std::int64_t all = 0;
          for (int p = 0; p < nprocs; ++p) {
            const std::int64_t mine = axis.local_size(p), wanted = due[static_cast<std::size_t>(p)] * nb;
            all += mine;
            EXPECT_LE(mine, wanted);
            EXPECT_GT(mine, wanted - nb - (wanted == 0));
            EXPECT_TRUE(order == DealOrder::cyclic || axis.stretches(p).size() <= 1);
            for (const Axis::Stretch& s : axis.stretches(p)) {
              EXPECT_EQ(s.first % nb, 0);
              EXPECT_TRUE(s.last % nb == 0 || s.last == n);
            }
          }
          EXPECT_EQ(all, n);
          EXPECT_LE(axis.sizes.size(), std::size_t{1} << 16);
        }
}

/// The steps of a factorization of one axis: the longest time of a position on the blocks from k on, for each k.
std::vector<double> steps_of(const std::vector<int>& owners, const std::vector<double>& speeds) {
  std::vector<double> times(speeds.size(), 0), steps(owners.size());
  for (std::size_t k = owners.size(); k-- > 0;) {
    times[static_cast<std::size_t>(owners[k])] += 1 / speeds[static_cast<std::size_t>(owners[k])];
    steps[k] = *std::max_element(times.begin(), times.end());
  }
  return steps;
}

/// No allocation at all has a shorter step anywhere.
TEST(FactorOrder, IsOptimalInEveryStep) {
  const std::vector<std::vector<double>> machines = {
      {1}, {1, 1}, {1, 2}, {1 / 3.0, 1 / 5.0, 1 / 8.0}, {1, 0.9, 0.1}, {1, 1, 1, 0.5}, {1, 0.5, 0.5, 0.25}};
  for (const auto& speeds : machines)
    for (int blocks = 0; blocks <= 8; ++blocks) {
      const std::vector<double> ours = steps_of(gridmap::factor_order(blocks, speeds), speeds);
      std::vector<double> least(ours.size(), 1e99);
      std::vector<int> owners(static_cast<std::size_t>(blocks), 0);
      for (bool more = true; more;) { // all of them, as the digits of a number
        const std::vector<double> steps = steps_of(owners, speeds);
        for (std::size_t k = 0; k < steps.size(); ++k) least[k] = std::min(least[k], steps[k]);
        more = false;
        for (int& digit : owners)
          if (++digit < static_cast<int>(speeds.size())) {
            more = true;
            break;
          } else
            digit = 0;
      }
      for (std::size_t k = 0; k < ours.size(); ++k) EXPECT_NEAR(ours[k], least[k], 1e-12) << blocks << " from " << k;
    }
}

/// The part of all power that is used in the updates of a factorization of B block columns on one axis.
double used(int blocks, const std::vector<double>& cycle_times) {
  std::vector<double> speeds;
  for (const double t : cycle_times) speeds.push_back(1 / t);
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const std::vector<double> steps = steps_of(gridmap::factor_order(blocks, speeds), speeds);
  double work = 0, time = 0;
  for (int k = 1; k < blocks; ++k) { // the update after panel k - 1
    work += (blocks - k) / all;
    time += steps[static_cast<std::size_t>(k)];
  }
  return work / time;
}

/// Figures of the specification, two digits.
TEST(FactorOrder, UsesTheProcessors) {
  EXPECT_NEAR(used(32, {3, 5, 8}), 0.94, 0.006);
  EXPECT_NEAR(used(128, {3, 5, 8}), 0.98, 0.006);
  EXPECT_NEAR(used(32, {1, 1, 1, 2}), 0.91, 0.006);
  EXPECT_NEAR(used(128, {1, 2, 2, 4}), 0.98, 0.006);
  EXPECT_NEAR(used(32, {1, 1.12, 9.2, 12.5}), 0.92, 0.006);
}

TEST(FactorWork, IsTheSumOfWhatIsUpdated) {
  for (const std::int64_t m : {0, 1, 5, 40})
    for (const std::int64_t n : {0, 1, 7, 40})
      for (std::int64_t first = 0; first <= 41; ++first) {
        double sum = 0;
        for (std::int64_t end = first; end <= 42; ++end) {
          EXPECT_EQ(gridmap::factor_work(m, n, first, end), sum) << m << "x" << n << " " << first << " " << end;
          if (end < std::min(m, n)) sum += static_cast<double>((m - end) * (n - end));
        }
      }
}

TEST(FactorOrder, IsAnAxis) {
  for (const std::int64_t n : {1, 7, 100, 1000, 100003})
    for (const std::int64_t nb : {1, 5, 64}) {
      const std::vector<double> speeds{3, 1, 2};
      const Axis axis = deal_out(n, nb, 3, speeds, DealOrder::factor);
      EXPECT_LE(axis.sizes.size(), std::size_t{1} << 17);
      if (n > 1000) continue;
      const std::vector<int> owners = gridmap::factor_order((n + nb - 1) / nb, speeds);
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(axis.owner(i), owners[static_cast<std::size_t>(i / nb)]) << i;
    }
  EXPECT_EQ(deal_out(100, 4, 3, {}, DealOrder::factor).sizes, (Sizes{4}));
}

TEST(FactorOrder, RefusesWhatIsNoSpeed) {
  EXPECT_THROW(gridmap::factor_order(-1, {1}), base::Error);
  EXPECT_THROW(gridmap::factor_order(3, {}), base::Error);
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(gridmap::factor_order(3, {1, bad}), base::Error);
}

TEST(Dealing, RefusesWhatIsNoShare) {
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(deal_out(10, 1, 2, {1, bad}, DealOrder::block), base::Error) << bad;
  for (const DealOrder order : {DealOrder::block, DealOrder::factor})
    EXPECT_THROW(deal_out(10, 1, 2, {0, 0}, order), base::Error);
}

TEST(Dealing, AShareOf0IsNoBlock) {
  EXPECT_EQ(deal_out(10, 1, 3, {1, 0, 1}, DealOrder::block).sizes, (Sizes{5, 0, 5}));
  EXPECT_EQ(deal_out(10, 4, 2, {0, 1}, DealOrder::block).sizes, (Sizes{0, 10}));
  EXPECT_EQ(deal_out(3, 1, 3, {0, 1, 2}, DealOrder::factor).local_sizes(), (Sizes{0, 1, 2}));
  EXPECT_EQ(deal_out(10, 4, 2, {0, 1}, DealOrder::factor).local_sizes(), (Sizes{0, 10}));
}

} // namespace
