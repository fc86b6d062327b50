// SPDX-License-Identifier: BSD-3-Clause
#include "stock_ways.hpp"

#include <gtest/gtest.h>

namespace {

using bench::speeds_of_more_processes;
using bench::speeds_with_threads;
using Speeds = std::vector<double>;

TEST(StockWays, ProcessesUseAllSpeedWhereItDividesUp) {
  EXPECT_EQ(speeds_of_more_processes({1, .5}, 9), (Speeds{.5, .5, .5}));
  EXPECT_EQ(speeds_of_more_processes({1, .5, .5, .25}, 9), Speeds(9, .25));
  EXPECT_EQ(speeds_of_more_processes({1, 1, 1, .5}, 9), Speeds(7, .5));
}

TEST(StockWays, ProcessesAreAsManyAsAllowed) {
  EXPECT_EQ(speeds_of_more_processes({1, .5, .5, .25}, 8), (Speeds{.5, .5, .5, .5})); // 8 of .25 are no more
  EXPECT_EQ(speeds_of_more_processes({1, 1}, 2), (Speeds{1, 1}));
  EXPECT_EQ(speeds_of_more_processes({1, .1}, 2), (Speeds{1})); // .5 + .5 are as much
}

TEST(StockWays, ThreadsLeaveOutWhatIsTooSlow) {
  EXPECT_EQ(speeds_with_threads({1, .5, .5, .25}), (Speeds{.5, .5, .5, .5}));
  EXPECT_EQ(speeds_with_threads({1, 1, 1, 1}), Speeds(4, 1));
  EXPECT_EQ(speeds_with_threads({1, .5}), (Speeds{.5, .5}));
}

} // namespace
