// SPDX-License-Identifier: BSD-3-Clause
#include "chains/chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "../../tests/advise/chain_brute.hpp"
#include "../../tests/errors.hpp"
#include "base/index.hpp"

namespace {
using advise::balance_chain;
using advise::ChainRequest;
using base::Borders;
using chains::Chain;
using chains::ChainOwners;

constexpr double unreachable = std::numeric_limits<double>::infinity();

using base::at;

std::int64_t moved_by(const ChainOwners& now, const Borders& first) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    for (std::int64_t k = first[i]; k < first[i + 1]; ++k)
      if (now.owners[at(k)] != static_cast<int>(i)) moved += now.weights.empty() ? 1 : now.weights[at(k)];
  return moved;
}

ChainOwners random_owners(RandomChains& random, const ChainRequest& request) {
  ChainOwners now;
  for (std::size_t k = 0; k < request.costs.size(); ++k) {
    now.owners.push_back(static_cast<int>(random.whole(-1, static_cast<std::int64_t>(request.speeds.size()) - 1)));
    now.weights.push_back(random.whole(0, 9));
  }
  if (random.whole(0, 1) == 0) std::sort(now.owners.begin(), now.owners.end());
  return now;
}

TEST(Chains, ExactInAnyOrder) {
  RandomChains random(19);
  for (int run = 0; run < 150; ++run) {
    const ChainRequest request = random.request(9);
    std::vector<int> order(request.speeds.size());
    std::iota(order.begin(), order.end(), 0);
    double least = unreachable;
    do {
      ChainRequest other = request;
      for (std::size_t i = 0; i < order.size(); ++i) {
        other.speeds[i] = request.speeds[at(order[i])];
        if (!other.fixed_s.empty()) other.fixed_s[i] = request.fixed_s[at(order[i])];
      }
      every_partition(static_cast<std::int64_t>(request.costs.size()), request.speeds.size(),
                      [&](const Borders& first) { least = std::min(least, seconds_of(other, first)); });
    } while (std::next_permutation(order.begin(), order.end()));
    const auto [chain, proved] = chains::balance_chain_in_any_order(request);
    ASSERT_EQ(chain.seconds, least) << "run " << run;
    ASSERT_TRUE(proved);
    std::vector<int> sorted = chain.order;
    std::sort(sorted.begin(), sorted.end());
    std::iota(order.begin(), order.end(), 0);
    ASSERT_EQ(sorted, order);
  }
}

TEST(Chains, ManyProcessesInAnyOrderAreNotSlowerThanInTheGivenOne) {
  RandomChains random(20);
  ChainRequest request;
  for (int k = 0; k < 60; ++k) request.costs.push_back(random.real(0, 10));
  for (int i = 0; i < 15; ++i) request.speeds.push_back(random.real(0.2, 2));
  const auto [chain, proved] = chains::balance_chain_in_any_order(request);
  EXPECT_FALSE(proved);
  EXPECT_LT(chain.seconds, balance_chain(request).seconds);
  const double speed = std::accumulate(request.speeds.begin(), request.speeds.end(), 0.0);
  EXPECT_GE(chain.seconds, std::accumulate(request.costs.begin(), request.costs.end(), 0.0) / speed);
}

TEST(Chains, LeastMovementAgainstAllPartitions) {
  RandomChains random(21);
  for (int run = 0; run < 1000; ++run) {
    const ChainRequest request = random.request();
    const ChainOwners now = random_owners(random, request);
    const double limit = balance_chain(request).seconds * random.real(1, 2);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    every_partition(static_cast<std::int64_t>(request.costs.size()), request.speeds.size(), [&](const Borders& first) {
      if (seconds_of(request, first) <= limit) least = std::min(least, moved_by(now, first));
    });
    const Chain chain = chains::least_movement(request, now, limit);
    ASSERT_EQ(chain.moved, least) << "run " << run;
    ASSERT_EQ(moved_by(now, chain.first), least);
    ASSERT_LE(seconds_of(request, chain.first), limit);
    ASSERT_EQ(seconds_of(request, chain.first), chain.seconds);
  }
}

TEST(Chains, TheWholeFrontAgainstAllPartitions) {
  RandomChains random(22);
  for (int run = 0; run < 500; ++run) {
    const ChainRequest request = random.request(10);
    const ChainOwners now = random_owners(random, request);
    std::vector<std::pair<double, std::int64_t>> all, wanted;
    every_partition(static_cast<std::int64_t>(request.costs.size()), request.speeds.size(),
                    [&](const Borders& first) { all.emplace_back(seconds_of(request, first), moved_by(now, first)); });
    std::sort(all.begin(), all.end());
    for (const auto& point : all)
      if (wanted.empty() || point.second < wanted.back().second) wanted.push_back(point);
    std::vector<std::pair<double, std::int64_t>> found;
    for (const Chain& chain : chains::chain_front(request, now, 1000)) found.emplace_back(chain.seconds, chain.moved);
    ASSERT_EQ(found, wanted) << "run " << run;
    // a thinned one has its ends and only points of the whole one
    if (wanted.size() < 4) continue;
    const std::vector<Chain> thin = chains::chain_front(request, now, 3);
    ASSERT_LE(thin.size(), 3U);
    ASSERT_EQ(thin.front().seconds, wanted.front().first);
    ASSERT_EQ(thin.back().moved, wanted.back().second);
    for (const Chain& chain : thin)
      ASSERT_NE(std::find(wanted.begin(), wanted.end(), std::pair(chain.seconds, chain.moved)), wanted.end());
  }
}

TEST(Chains, WhoIsSlowGivesToItsNeighbours) {
  // 100 rows on 4 processes, the second at half speed: 100 / 3.5 = 28.57 rows for a whole one
  ChainRequest request{std::vector<double>(100, 1.0), {1, 0.5, 1, 1}, {}};
  EXPECT_EQ(balance_chain(request).seconds, 29);
  ChainOwners now;
  for (int k = 0; k < 100; ++k) now.owners.push_back(k / 25);
  const std::vector<Chain> front = chains::chain_front(request, now, 100);
  EXPECT_EQ(front.front().seconds, 29);
  EXPECT_EQ(front.back().seconds, 50); // nothing moves
  EXPECT_EQ(front.back().moved, 0);
  for (std::size_t k = 1; k < front.size(); ++k) {
    EXPECT_GT(front[k].seconds, front[k - 1].seconds);
    EXPECT_LT(front[k].moved, front[k - 1].moved);
  }
}

TEST(Chains, BadInputIsRefusedInWords) {
  const std::vector<double> costs{1, 2, 3};
  EXPECT_TRUE(says(message_of([&] {
                     chains::least_movement({costs, {1}, {}}, {{0, 0, 1}, {}}, 9);
                   }),
                   "owner of item 2"));
  EXPECT_TRUE(says(message_of([&] {
                     chains::least_movement({costs, {1}, {}}, {{0, 0, 0}, {}}, 5);
                   }),
                   "the least is 6"));
  EXPECT_TRUE(says(message_of([&] { chains::chain_front({costs, {1}, {}}, {{0}, {}}); }), "1 owners"));
}

} // namespace
