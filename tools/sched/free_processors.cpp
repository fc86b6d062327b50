// SPDX-License-Identifier: BSD-3-Clause
#include "free_processors.hpp"

#include <algorithm>

namespace sched {

/// The step that contains `time`; the first one when it lies before all.
std::size_t FreeProcessors::step_at(double time) const {
  const auto next =
      std::upper_bound(steps_.begin(), steps_.end(), time, [](double t, const Step& step) { return t < step.at; });
  return next == steps_.begin() ? 0 : static_cast<std::size_t>(next - steps_.begin()) - 1;
}

/// The step that begins at `time` afterwards.
std::size_t FreeProcessors::cut(double time) {
  const std::size_t at = step_at(time);
  if (steps_[at].at == time) return at;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(at + 1), {time, steps_[at].free});
  return at + 1;
}

/// Removes the step that begins at `time` where it changes nothing.
void FreeProcessors::heal(double time) {
  const std::size_t at = step_at(time);
  if (at > 0 && steps_[at].at == time && steps_[at].free == steps_[at - 1].free)
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(at));
}

void FreeProcessors::add(double from, double to, int procs) {
  if (!(from < to)) return;
  const std::size_t first = cut(from), end = to < never ? cut(to) : steps_.size();
  for (std::size_t at = first; at < end; ++at) steps_[at].free += procs;
  heal(to);
  heal(from);
}

void FreeProcessors::forget_before(double time) {
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step_at(time)));
}

int FreeProcessors::free_at(double time) const {
  return steps_[step_at(time)].free;
}

double FreeProcessors::earliest(int procs, double length, double from, double limit) const {
  double begin = never;
  for (std::size_t at = step_at(from); at < steps_.size(); ++at) {
    const Step& step = steps_[at];
    if (step.at >= std::min(begin + length, limit)) break;
    begin = step.free < procs ? never : std::min(begin, std::max(from, step.at));
  }
  return std::min(begin, limit);
}

} // namespace sched
