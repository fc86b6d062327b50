// SPDX-License-Identifier: BSD-3-Clause
#include "advise/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "chain_brute.hpp"

namespace {
using advise::balance_chain;
using advise::Chain;
using advise::ChainRequest;
using base::Borders;

constexpr double unreachable = std::numeric_limits<double>::infinity();

using base::at;

TEST(Chain, ExactAgainstAllPartitions) {
  RandomChains random(18);
  for (int run = 0; run < 2000; ++run) {
    const ChainRequest request = random.request();
    double least = unreachable;
    every_partition(static_cast<std::int64_t>(request.costs.size()), request.speeds.size(),
                    [&](const Borders& first) { least = std::min(least, seconds_of(request, first)); });
    const Chain chain = balance_chain(request);
    ASSERT_EQ(chain.seconds, least) << "run " << run;
    ASSERT_EQ(seconds_of(request, chain.first), least);
    ASSERT_EQ(chain.first.front(), 0);
    ASSERT_EQ(chain.first.back(), static_cast<std::int64_t>(request.costs.size()));
    ASSERT_TRUE(std::is_sorted(chain.first.begin(), chain.first.end()));
  }
}

TEST(Chain, ASlowProcessGivesToItsNeighbours) {
  // 100 rows on 4 processes, the second at half speed: 100 / 3.5 = 28.57 rows for a whole one
  EXPECT_EQ(balance_chain({std::vector<double>(100, 1.0), {1, 0.5, 1, 1}, {}}).seconds, 29);
}

TEST(Chain, LargeOnesInShortTime) {
  RandomChains random(23);
  ChainRequest request;
  for (int k = 0; k < 200000; ++k) request.costs.push_back(random.real(0, 1));
  for (int i = 0; i < 256; ++i) request.speeds.push_back(random.real(0.5, 1));
  const Chain chain = balance_chain(request);
  const double speed = std::accumulate(request.speeds.begin(), request.speeds.end(), 0.0);
  const double bound = std::accumulate(request.costs.begin(), request.costs.end(), 0.0) / speed;
  EXPECT_GE(chain.seconds, bound);
  EXPECT_LE(chain.seconds, bound + 2);
}

TEST(Chain, BadInputIsRefusedInWords) {
  const std::vector<double> costs{1, 2, 3};
  for (const double speed : {0.0, -1.0, std::nan(""), unreachable})
    EXPECT_TRUE(says(message_of([&] { balance_chain({costs, {1, speed}, {}}); }), "speed 1 is"));
  EXPECT_TRUE(says(message_of([&] { balance_chain({costs, {}, {}}); }), "speeds is empty"));
  EXPECT_TRUE(says(message_of([&] { balance_chain({{1, -2}, {1}, {}}); }), "cost 1 is -2"));
  EXPECT_TRUE(says(message_of([&] { balance_chain({costs, {1, 1}, {0}}); }), "1 fixed times for 2"));
  EXPECT_TRUE(says(message_of([&] { balance_chain({costs, {1}, {std::nan("")}}); }), "fixed time 0"));
}

} // namespace
