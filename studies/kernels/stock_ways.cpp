// SPDX-License-Identifier: BSD-3-Clause
#include "stock_ways.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "advise/host_plan.hpp"
#include "base/index.hpp"

namespace bench {

std::vector<double> speeds_of_more_processes(const std::vector<double>& speeds, int most) {
  std::vector<int> count(speeds.size(), 0), best;
  double largest = 0;
  const auto with = [&](std::size_t k, int processes) { return speeds[k] / processes; };
  for (int all = 1; all <= most; ++all) {
    std::size_t next = 0; // where one more is slowed least
    for (std::size_t k = 1; k < speeds.size(); ++k)
      if (with(k, count[k] + 1) > with(next, count[next] + 1)) next = k;
    ++count[next];
    double slowest = speeds[next];
    for (std::size_t k = 0; k < speeds.size(); ++k)
      if (count[k] > 0) slowest = std::min(slowest, with(k, count[k]));
    if (all * slowest <= largest * (1 + 1e-9)) continue;
    largest = all * slowest;
    best = count;
  }
  std::vector<double> each;
  for (std::size_t k = 0; k < best.size(); ++k) each.insert(each.end(), base::at(best[k]), with(k, best[k]));
  return each;
}

std::vector<double> speeds_with_threads(const std::vector<double>& speeds, int cores) {
  const double fastest = *std::max_element(speeds.begin(), speeds.end());
  std::vector<advise::HostSpeed> hosts;
  for (const double speed : speeds) {
    const int its = std::max(1, static_cast<int>(std::lround(cores * speed / fastest)));
    hosts.push_back({std::to_string(hosts.size()), its, speed / its, speed / its});
  }
  std::vector<double> each;
  for (const advise::HostShare& host : advise::plan_hosts(hosts, static_cast<int>(speeds.size())).hosts)
    each.insert(each.end(), base::at(host.processes), host.speed);
  return each;
}

} // namespace bench
