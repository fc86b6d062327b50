// SPDX-License-Identifier: BSD-3-Clause
#include "bench_redist/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

// With four methods each comes after each other one in a third of the repetitions, and after itself in hardly any.
TEST(Order, EachMethodComesAfterEachOther) {
  constexpr std::size_t methods = 4;
  constexpr int repetitions = 101;
  bench::Turns turns(methods);
  int after[methods][methods] = {}, first[methods] = {};
  std::size_t before = methods;
  for (int rep = 0; rep < repetitions; ++rep) {
    const std::vector<std::size_t>& order = turns.next();
    std::vector<std::size_t> all(methods);
    std::iota(all.begin(), all.end(), std::size_t{0});
    ASSERT_TRUE(std::is_permutation(order.begin(), order.end(), all.begin(), all.end())) << "repetition " << rep;
    ++first[order.front()];
    for (const std::size_t now : order) {
      if (before < methods) ++after[before][now];
      before = now;
    }
  }
  for (std::size_t one = 0; one < methods; ++one) {
    EXPECT_GT(first[one], repetitions / 8) << "method " << one << " is first too seldom";
    EXPECT_LT(first[one], repetitions / 2) << "method " << one << " is first too often";
    for (std::size_t other = 0; other < methods; ++other) {
      if (one == other) continue;
      EXPECT_GT(after[other][one], repetitions / 6) << "method " << one << " after " << other;
      EXPECT_LT(after[other][one], repetitions / 2) << "method " << one << " after " << other;
    }
  }
}

TEST(Order, IsTheSameOnAllProcesses) {
  bench::Turns one(5), other(5);
  for (int rep = 0; rep < 20; ++rep) EXPECT_EQ(one.next(), other.next());
  EXPECT_TRUE(bench::Turns(0).next().empty());
  EXPECT_EQ(bench::Turns(1).next(), std::vector<std::size_t>{0});
}

} // namespace
