// SPDX-License-Identifier: BSD-3-Clause
// Random chains and their times by the definition, against which exact stretches are tested.
#pragma once
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../every_partition.hpp"
#include "advise/chain.hpp"
#include "base/index.hpp"

/// By prefix sums, as the library does it: equal partitions have equal times to the last bit.
inline double seconds_of(const advise::ChainRequest& request, const base::Borders& first) {
  std::vector<double> prefix(request.costs.size() + 1, 0.0);
  std::partial_sum(request.costs.begin(), request.costs.end(), prefix.begin() + 1);
  double seconds = 0;
  for (std::size_t i = 0; i < request.speeds.size(); ++i)
    seconds = std::max(seconds, (prefix[base::at(first[i + 1])] - prefix[base::at(first[i])]) / request.speeds[i] +
                                    (request.fixed_s.empty() ? 0 : request.fixed_s[i]));
  return seconds;
}

class RandomChains {
public:
  explicit RandomChains(unsigned seed) : engine_(seed) {}
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(engine_); }

  advise::ChainRequest request(int most_items = 12, int most_processes = 4) {
    advise::ChainRequest request;
    request.costs.resize(base::at(whole(0, most_items)));
    const bool some_cost_nothing = whole(0, 3) == 0;
    for (double& cost : request.costs) cost = some_cost_nothing && whole(0, 1) == 0 ? 0 : real(0, 10);
    request.speeds.resize(base::at(whole(1, most_processes)));
    for (double& speed : request.speeds) speed = whole(0, 4) == 0 ? 1 : real(0.05, 4);
    if (whole(0, 2) == 0)
      for (std::size_t i = 0; i < request.speeds.size(); ++i) request.fixed_s.push_back(real(0, 8));
    return request;
  }

private:
  std::mt19937 engine_;
};
