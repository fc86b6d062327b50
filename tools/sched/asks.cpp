// SPDX-License-Identifier: BSD-3-Clause
#include "asks.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sched {

std::vector<int> sizes_asked_for(const control::Ask& ask, const advise::Allowed& allowed, int has, int procs) {
  const advise::Allowed needed = advise::Allowed::parse(ask.grids);
  std::vector<int> sizes;
  for (int n = has + 1; n <= procs; ++n) // the program's own changes are not limited by its `allow`
    if (ask.waits ? control::grid_of(n, allowed, needed) : needed.largest(n, n)) sizes.push_back(n);
  return sizes;
}

std::string why_never(const std::vector<Need>& needs, int procs) {
  std::vector<Need> left = needs;
  int free = procs;
  for (const Need& need : needs) free -= need.has;
  for (;;) {
    const auto ends = std::find_if(left.begin(), left.end(), [&](const Need& n) { return n.least - n.has <= free; });
    if (ends == left.end()) break;
    if (ends->job == needs.back().job) return "";
    free += ends->has;
    left.erase(ends);
  }
  std::vector<std::int64_t> others;
  for (const Need& need : left)
    if (need.job != needs.back().job) others.push_back(need.job);
  return fmt::format("it would wait for ever: {} processors more are needed, and the jobs {} wait for more, too, and "
                     "leave {} of {}",
                     needs.back().least - needs.back().has, fmt::join(others, ", "), std::max(free, 0), procs);
}

std::string why_not_now(int more, const State& state, int priority) {
  const int free = state.free();
  if (more > free) return fmt::format("{} processors more are asked for, {} of {} are free", more, free, state.procs);
  int kept = 0, jobs = 0;
  for (const Job* job : state.waiting)
    if (job->priority >= priority) {
      kept += job->sizes->smallest();
      ++jobs;
    }
  if (more > free - kept)
    return fmt::format("{} processors more are asked for, {} of {} are free, and {} jobs wait for {}", more, free,
                       state.procs, jobs, kept);
  return "";
}

} // namespace sched
