// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>

#include "time.hpp"

namespace sched {

/// Free processors of a machine over future time: a step function. Pure.
class FreeProcessors {
public:
  /// `procs` are free from `begin_s` on, for ever. No earlier time is asked for.
  explicit FreeProcessors(int procs, double begin_s = 0) : steps_{{begin_s, procs}} {}

  /// From `from` up to, and without, `to` (which may be `never`) there are `procs` more; fewer when it is negative.
  void add(double from, double to, int procs);
  /// Values before `time` are not needed again.
  void forget_before(double time);

  int free_at(double time) const;
  /// First time from `from` on from which `procs` are free for `length` seconds; `never` when there is none. From
  /// `limit` on all are assumed to be free: the answer is at most that.
  double earliest(int procs, double length, double from, double limit = never) const;

private:
  std::map<double, int> steps_; ///< how many are free from a time on, until the next
};

} // namespace sched
