// SPDX-License-Identifier: BSD-3-Clause
// Processes and threads on unequal hosts against all possibilities.
#include "advise/host_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "base/status.hpp"

namespace {

using namespace advise;

/// Every number of processes and of threads on every host.
double best_slowest(const std::vector<HostSpeed>& hosts, std::size_t at, int left, double slowest) {
  if (left == 0) return slowest;
  if (at == hosts.size()) return 0;
  double best = best_slowest(hosts, at + 1, left, slowest);
  for (int k = 1; k <= std::min(left, hosts[at].cores); ++k)
    for (int t = 1; k * t <= hosts[at].cores; ++t)
      best = std::max(best, best_slowest(hosts, at + 1, left - k, std::min(slowest, t * core_speed(hosts[at], k * t))));
  return best;
}

TEST(HostPlan, AsFastAsTheBestOfAll) {
  std::mt19937 random(3);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int k = 0; k < 300; ++k) {
    std::vector<HostSpeed> hosts;
    int cores = 0;
    for (int h = pick(1, 3); h > 0; --h) {
      const double alone = pick(1, 20) / 4.0;
      hosts.push_back({"h", pick(1, 7), alone, alone * pick(2, 4) / 4.0});
      cores += hosts.back().cores;
    }
    const int processes = pick(1, cores);
    const HostPlan plan = plan_hosts(hosts, processes);
    EXPECT_NEAR(plan.slowest, best_slowest(hosts, 0, processes, 1e9), 1e-12) << "case " << k;
    int sum = 0;
    double slowest = 1e9;
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      const HostShare& share = plan.hosts[h];
      sum += share.processes;
      if (share.processes == 0) continue;
      ASSERT_LE(share.processes * share.threads, hosts[h].cores);
      EXPECT_NEAR(share.speed, share.threads * core_speed(hosts[h], share.processes * share.threads), 1e-12);
      slowest = std::min(slowest, share.speed);
      if (share.threads > 1) { // a thread less would make it the slowest
        const int less = share.threads - 1;
        EXPECT_LT(less * core_speed(hosts[h], share.processes * less), plan.slowest);
      }
    }
    EXPECT_EQ(sum, processes);
    EXPECT_NEAR(slowest, plan.slowest, 1e-12) << "case " << k;
  }
}

TEST(HostPlan, ThreadsMakeSlowCoresEqual) {
  // four fast cores, eight of half the speed: four processes of one thread and four of two
  const HostPlan plan = plan_hosts({{"fast", 4, 2, 2}, {"slow", 8, 1, 1}}, 8);
  EXPECT_EQ(plan.hosts[0].processes, 4);
  EXPECT_EQ(plan.hosts[0].threads, 1);
  EXPECT_EQ(plan.hosts[1].processes, 4);
  EXPECT_EQ(plan.hosts[1].threads, 2);
  EXPECT_EQ(plan.slowest, 2);
}

TEST(HostPlan, SpeedsBetweenAloneAndFull) {
  const HostSpeed host{"h", 5, 3, 2};
  EXPECT_EQ(core_speed(host, 1), 3);
  EXPECT_EQ(core_speed(host, 3), 2.5);
  EXPECT_EQ(core_speed(host, 5), 2);
  EXPECT_EQ(core_speed({"h", 2, 3, 4}, 2), 3); // noise: a full host is no faster
  EXPECT_EQ(core_speed({"h", 1, 3, 3}, 1), 3);
}

TEST(HostPlan, RefusesWhatCannotBe) {
  EXPECT_THROW(plan_hosts({{"h", 2, 1, 1}}, 3), base::Error);
  EXPECT_THROW(plan_hosts({{"h", 2, 1, 1}}, 0), base::Error);
  EXPECT_THROW(plan_hosts({{"h", 0, 1, 1}}, 1), base::Error);
  EXPECT_THROW(plan_hosts({{"h", 1, 0, 1}}, 1), base::Error);
  EXPECT_THROW(plan_hosts({{"h", 1, 1, std::nan("")}}, 1), base::Error);
}

} // namespace
