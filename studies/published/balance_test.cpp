// SPDX-License-Identifier: BSD-3-Clause
#include "published/balance.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/status.hpp"

namespace {

TEST(PublishedBalance, UnloadedTimes) { // of figure 4.3: bench_papers
  EXPECT_EQ(published::unloaded_item_s({0.05, 0.03}, 0.02), 0.02);
  EXPECT_EQ(published::unloaded_item_s({0.05, 0.003}, 0.002), 0.003); // its clock is too coarse
}

TEST(PublishedBalance, Figure47SuccessiveBalancing) {
  std::vector<double> ratios;
  const auto work_function = [&](int competing, double ratio) { // the two values that are printed
    ratios.push_back(ratio);
    return competing == 2 ? 0.17 : 0.265;
  };
  const auto b = published::successive_balancing(800, 50, {2, 1, 0, 0}, work_function, 0.01);
  ASSERT_GE(b.rounds.size(), 2U);
  const std::vector<double> printed = {68, 106, 313, 313};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(b.rounds[0][i], printed[i], 1e-9);
  EXPECT_EQ(ratios[0], 8);
  EXPECT_EQ(ratios[1], 8);
  const std::vector<double> end = {63.9, 112.4, 311.8, 311.8}; // with both values held fixed
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(b.work_s[i], end[i], 0.06);
  EXPECT_NEAR(std::accumulate(b.work_s.begin(), b.work_s.end(), 0.0), 800, 1e-9);
}

TEST(PublishedBalance, NaiveSharesAndRemoval) {
  const std::vector<double> shares = published::naive_shares({1, 0.25, 1, 1}); // three competitors on one of four
  EXPECT_NEAR(shares[0], 0.3077, 5e-5);
  EXPECT_NEAR(shares[1], 0.0769, 5e-5);
  EXPECT_TRUE(published::loaded_processes_leave(0.5, 0.9, 3, 0.15));
  EXPECT_FALSE(published::loaded_processes_leave(0.4, 0.9, 3, 0.15));
  EXPECT_FALSE(published::loaded_processes_leave(9, 0.9, 0, 0.15));
  EXPECT_THROW(published::naive_shares({1, 0}), base::Error);
  EXPECT_THROW(published::successive_balancing(1, 0, {0, 1}, {}), base::Error);
  EXPECT_THROW(published::successive_balancing(1, 1, {2, 1}, {}), base::Error);
  EXPECT_THROW(published::unloaded_item_s({}), base::Error);
}

} // namespace
