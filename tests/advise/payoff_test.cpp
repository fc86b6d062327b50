// SPDX-License-Identifier: BSD-3-Clause
#include "advise/payoff.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "base/status.hpp"

namespace {
using advise::payoff_point;
using advise::resize_cost;

// Chinnusamy 2004, tables 5.3 to 5.6. All of its figures: studies/papers.
TEST(Payoff, GameOfLifeExactly) {
  EXPECT_EQ(payoff_point(48.94, 1.624, 1.130), 100);
  EXPECT_EQ(payoff_point(41.271, 1.624, 1.130), 84);
  EXPECT_EQ(payoff_point(36.652, 1.130, 0.833), 124);
  EXPECT_EQ(payoff_point(163.122, 3.302, 2.532), 212);
  EXPECT_EQ(resize_cost(48.94, 1.130), 44);
  EXPECT_EQ(resize_cost(163.122, 2.532), 65);
}

TEST(Payoff, Never) {
  EXPECT_EQ(payoff_point(10, 1.0, 1.0), -1);
  EXPECT_EQ(payoff_point(10, 1.0, 2.0), -1);
  EXPECT_EQ(payoff_point(0, 1.0, 1.0), -1);
  EXPECT_EQ(payoff_point(0, 2.0, 1.0), 0);
  EXPECT_EQ(payoff_point(1e300, 1.0, 0.5), -1);
  EXPECT_EQ(resize_cost(1, 0), -1);
  EXPECT_EQ(resize_cost(0, 0), 0);
  EXPECT_EQ(payoff_point(10, 3.0, 1.0), 5); // exactly 5 steps
}

TEST(Payoff, BadArguments) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, nan, infinity}) {
    EXPECT_THROW(payoff_point(bad, 2, 1), base::Error);
    EXPECT_THROW(payoff_point(1, bad, 1), base::Error);
    EXPECT_THROW(payoff_point(1, 2, bad), base::Error);
    EXPECT_THROW(resize_cost(bad, 1), base::Error);
    EXPECT_THROW(resize_cost(1, bad), base::Error);
  }
}
} // namespace
