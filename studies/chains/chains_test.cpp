// SPDX-License-Identifier: BSD-3-Clause
#include "chains/chains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace {
using chains::Chain;
using chains::ChainOwners;
using gridmap::balance_chain;
using gridmap::ChainRequest;
using Borders = std::vector<std::int64_t>;

constexpr double unreachable = std::numeric_limits<double>::infinity();

using base::at;

/// By prefix sums, as the library does it: equal partitions have equal times to the last bit.
double seconds_of(const ChainRequest& request, const Borders& first) {
  std::vector<double> prefix(request.costs.size() + 1, 0.0);
  std::partial_sum(request.costs.begin(), request.costs.end(), prefix.begin() + 1);
  double seconds = 0;
  for (std::size_t i = 0; i < request.speeds.size(); ++i)
    seconds = std::max(seconds, (prefix[at(first[i + 1])] - prefix[at(first[i])]) / request.speeds[i] +
                                    (request.fixed_s.empty() ? 0 : request.fixed_s[i]));
  return seconds;
}

std::int64_t moved_by(const ChainOwners& now, const Borders& first) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    for (std::int64_t k = first[i]; k < first[i + 1]; ++k)
      if (now.owners[at(k)] != static_cast<int>(i)) moved += now.weights.empty() ? 1 : now.weights[at(k)];
  return moved;
}

/// Calls `look` with every way to cut n items into stretches.
template <class Look> void every_partition(std::int64_t n, std::size_t parts, Look look) {
  Borders first(parts + 1, 0);
  first.back() = n;
  const auto next = [&](auto self, std::size_t k) -> void {
    if (k == parts) return look(first);
    for (first[k] = first[k - 1]; first[k] <= n; ++first[k]) self(self, k + 1);
  };
  next(next, 1);
}

class RandomChains {
public:
  explicit RandomChains(unsigned seed) : engine_(seed) {}
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }

  ChainRequest request(int most_items = 12, int most_processes = 4) {
    ChainRequest request;
    request.costs.resize(at(whole(0, most_items)));
    const bool some_cost_nothing = whole(0, 3) == 0;
    for (double& cost : request.costs) cost = some_cost_nothing && whole(0, 1) == 0 ? 0 : real(0, 10);
    request.speeds.resize(at(whole(1, most_processes)));
    for (double& speed : request.speeds) speed = whole(0, 4) == 0 ? 1 : real(0.05, 4);
    if (whole(0, 2) == 0)
      for (std::size_t i = 0; i < request.speeds.size(); ++i) request.fixed_s.push_back(real(0, 8));
    return request;
  }
  ChainOwners owners(const ChainRequest& request) {
    ChainOwners now;
    for (std::size_t k = 0; k < request.costs.size(); ++k) {
      now.owners.push_back(static_cast<int>(whole(-1, static_cast<std::int64_t>(request.speeds.size()) - 1)));
      now.weights.push_back(whole(0, 9));
    }
    if (whole(0, 1) == 0) std::sort(now.owners.begin(), now.owners.end());
    return now;
  }

private:
  std::mt19937 engine_;
};

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
    const ChainOwners now = random.owners(request);
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
    const ChainOwners now = random.owners(request);
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

template <class Call> std::string chain_refusal(Call call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Chains, BadInputIsRefusedInWords) {
  const std::vector<double> costs{1, 2, 3};
  EXPECT_NE(chain_refusal([&] {
              chains::least_movement({costs, {1}, {}}, {{0, 0, 1}, {}}, 9);
            }).find("owner of item 2"),
            std::string::npos);
  EXPECT_NE(chain_refusal([&] {
              chains::least_movement({costs, {1}, {}}, {{0, 0, 0}, {}}, 5);
            }).find("the least is 6"),
            std::string::npos);
  EXPECT_NE(chain_refusal([&] {
              chains::chain_front({costs, {1}, {}}, {{0}, {}});
            }).find("1 owners"),
            std::string::npos);
}

} // namespace
