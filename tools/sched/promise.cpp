// SPDX-License-Identifier: BSD-3-Clause
#include "promise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/status.hpp"
#include "base/text.hpp"
#include "free_processors.hpp"
#include "time.hpp"

namespace sched {
namespace {

void hold_running(FreeProcessors& free, const Job& job, double now_s) {
  const double left = seconds_left(job, job.procs);
  const bool may_shrink = job.resizable && job.target == 0 && job.unresponsive_until_s <= now_s;
  const int in_time = smallest_in_time(job, now_s + job.resize_s);
  const int least = !may_shrink ? job.procs : in_time != 0 ? in_time : job.sizes->smallest();
  if (least >= job.procs) {
    free.add(now_s, left >= 0 ? now_s + left : never, -std::max(job.procs, job.target));
    return;
  }
  const double changed_s = now_s + std::max(0.0, job.resize_s), left_then = seconds_left(job, least);
  free.add(now_s, changed_s, -job.procs);
  free.add(changed_s, left_then >= 0 ? changed_s + left_then : never, -least);
}

void hold_waiting(FreeProcessors& free, const Job& job, int procs, double now_s) {
  const int in_time = smallest_in_time(job, now_s), n = in_time != 0 ? in_time : job.sizes->smallest();
  if (n > procs) return;
  const double left = seconds_left(job, n);
  const double begin_s = free.earliest(n, left >= 0 ? left : never, now_s);
  if (begin_s < never) free.add(begin_s, left >= 0 ? begin_s + left : never, -n);
}

} // namespace

std::vector<double> seconds_by_size(std::string_view text, const Sizes& sizes) {
  std::vector<double> seconds(sizes.list().size(), 0);
  for (const std::string& part : base::split(text, ',')) {
    const auto equals = part.find('=');
    const auto size = base::whole_number<int>(std::string_view(part).substr(0, equals));
    char* end = nullptr;
    const double value = equals == std::string::npos ? 0 : std::strtod(part.c_str() + equals + 1, &end);
    if (!size || *size < 1 || !(value > 0) || !std::isfinite(value) || *end != '\0')
      throw base::Error(base::Status::bad_argument,
                        "scheduler: '{}' in '{}' is no size with its seconds, expected e.g. 4=100,8=55", part, text);
    if (const int at = sizes.index_of(*size); at >= 0) seconds[static_cast<std::size_t>(at)] = value;
  }
  return seconds;
}

double seconds_left(const Job& job, int n) {
  if (job.step_s == nullptr || job.steps_left < 0) return -1;
  const int at = job.sizes->index_of(n);
  if (at < 0 || job.step_s[at] <= 0) return -1;
  return job.steps_left * job.step_s[at];
}

int smallest_in_time(const Job& job, double from_s) {
  if (job.step_s == nullptr || job.steps_left < 0) return 0;
  const std::vector<int>& sizes = job.sizes->list();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (job.step_s[i] > 0 && from_s + job.steps_left * job.step_s[i] <= job.finish_by_s) return sizes[i];
  return 0;
}

double least_seconds_left(const Job& job) {
  double least_s = never;
  if (job.step_s != nullptr && job.steps_left >= 0)
    for (std::size_t i = 0; i < job.sizes->list().size(); ++i)
      if (job.step_s[i] > 0) least_s = std::min(least_s, job.steps_left * job.step_s[i]);
  return least_s;
}

double latest_start_s(const Job& job, double now_s) {
  if (job.finish_by_s == never) return never;
  const double latest_s = job.finish_by_s - least_seconds_left(job);
  return std::isnan(latest_s) || latest_s < now_s ? never : latest_s;
}

Promise promise_for(const State& state, const Job& job) {
  FreeProcessors free(state.procs, state.now_s);
  for (const Job* running : state.running) hold_running(free, *running, state.now_s);
  std::vector<const Job*> before;
  for (const Job* waiting : state.waiting)
    if (waiting->priority > job.priority || (waiting->priority == job.priority &&
                                             latest_start_s(*waiting, state.now_s) <= latest_start_s(job, state.now_s)))
      before.push_back(waiting);
  std::stable_sort(before.begin(), before.end(), [&](const Job* a, const Job* b) {
    if (a->priority != b->priority) return a->priority > b->priority;
    return latest_start_s(*a, state.now_s) < latest_start_s(*b, state.now_s);
  });
  for (const Job* waiting : before) hold_waiting(free, *waiting, state.procs, state.now_s);
  Promise promise{0, never};
  for (const int n : job.sizes->list()) {
    const double takes_s = seconds_left(job, n);
    if (takes_s < 0 || n > state.procs) continue;
    const double end_s = free.earliest(n, takes_s, state.now_s) + takes_s;
    if (end_s <= job.finish_by_s) return {n, end_s};
    promise.end_s = std::min(promise.end_s, end_s);
  }
  return promise;
}

} // namespace sched
