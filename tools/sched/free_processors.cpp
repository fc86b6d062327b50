// SPDX-License-Identifier: BSD-3-Clause
#include "free_processors.hpp"

#include <algorithm>
#include <iterator>

namespace sched {

void FreeProcessors::add(double from, double to, int procs) {
  if (!(from < to)) return;
  const auto step_from = [&](double time) { return steps_.emplace(time, free_at(time)).first; };
  const auto first = step_from(from), end = to < never ? step_from(to) : steps_.end();
  for (auto step = first; step != end; ++step) step->second += procs;
  for (const auto& step : {first, end}) // where nothing changes there is no step
    if (step != steps_.end() && step != steps_.begin() && step->second == std::prev(step)->second) steps_.erase(step);
}

void FreeProcessors::forget_before(double time) {
  steps_.erase(steps_.begin(), std::prev(steps_.upper_bound(time)));
}

int FreeProcessors::free_at(double time) const {
  return std::prev(steps_.upper_bound(time))->second;
}

double FreeProcessors::earliest(int procs, double length, double from, double limit) const {
  double begin = never;
  for (auto step = std::prev(steps_.upper_bound(from)); step != steps_.end(); ++step) {
    const auto [at, free] = *step;
    if (at >= std::min(begin + length, limit)) break;
    begin = free < procs ? never : std::min(begin, std::max(from, at));
  }
  return std::min(begin, limit);
}

} // namespace sched
