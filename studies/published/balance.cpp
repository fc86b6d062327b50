// SPDX-License-Identifier: BSD-3-Clause
#include "published/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/status.hpp"

namespace published {

using base::Error;
using base::Status;
namespace {

template <class... Values> [[noreturn]] void bad_rule(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(Status::bad_argument, "published balance: " + fmt::format(message, std::forward<Values>(values)...));
}

} // namespace

std::vector<double> naive_shares(const std::vector<double>& speeds) {
  if (speeds.empty()) bad_rule("the list of speeds is empty, expected one per process");
  for (std::size_t k = 0; k < speeds.size(); ++k)
    if (!std::isfinite(speeds[k]) || speeds[k] <= 0)
      bad_rule("speed {} is {}, expected a finite number above 0", k, speeds[k]);
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<double> shares;
  for (const double speed : speeds) shares.push_back(speed / all);
  return shares;
}

SuccessiveBalance successive_balancing(double work_s, double comm_s, const std::vector<int>& competing,
                                       const WorkFunction& work_function, double tolerance_s) {
  if (!std::isfinite(work_s) || work_s < 0) bad_rule("work is {} s, expected a finite number from 0", work_s);
  if (!std::isfinite(comm_s) || comm_s <= 0)
    bad_rule("communication is {} s, expected a finite number above 0", comm_s);
  const auto unloaded = std::count(competing.begin(), competing.end(), 0);
  if (unloaded == 0) bad_rule("every process has competitors, expected at least one without");
  SuccessiveBalance result;
  result.work_s.assign(competing.size(), work_s / static_cast<double>(competing.size()));
  double of_unloaded = result.work_s.front();
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> next(competing.size(), 0.0);
    for (std::size_t i = 0; i < competing.size(); ++i) {
      const double pair = result.work_s[i] + of_unloaded;
      if (competing[i] > 0) next[i] = work_function(competing[i], pair / comm_s) * pair;
    }
    of_unloaded = (work_s - std::accumulate(next.begin(), next.end(), 0.0)) / static_cast<double>(unloaded);
    double change = 0;
    for (std::size_t i = 0; i < competing.size(); ++i) {
      if (competing[i] == 0) next[i] = of_unloaded;
      change = std::max(change, std::abs(next[i] - result.work_s[i]));
    }
    result.rounds.push_back(result.work_s = next);
    if (change <= tolerance_s) break;
  }
  return result;
}

bool loaded_processes_leave(double largest_mean_step_s, double work_s, int unloaded, double comm_of_unloaded_s) {
  return unloaded > 0 && largest_mean_step_s > work_s / unloaded + comm_of_unloaded_s;
}

double unloaded_item_s(const std::vector<double>& wall_s, double cpu_s) {
  if (wall_s.empty()) bad_rule("no wall time is given, expected at least one");
  return cpu_s >= 0.01 ? cpu_s : *std::min_element(wall_s.begin(), wall_s.end());
}

} // namespace published
