// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <vector>

#include "sched/time.hpp"

namespace sched {

/// Free processors of a machine over future time: a step function.
///
/// Stored in blocks of steps with their least and most, so that a query skips blocks: with n steps about n/64 + 64 of
/// them are read.
class Profile {
public:
  /// `procs` are free from `begin_s` on, for ever.
  explicit Profile(int procs, double begin_s = 0);

  /// From `from` up to, and without, `to` (which may be `never`) there are `procs` more; fewer when it is negative.
  void add(double from, double to, int procs);
  /// Values before `time` are not needed again.
  void forget_before(double time);

  int free_at(double time) const;
  /// First time from `from` on at which at least `procs` are free; `never` when there is none.
  double first_with(int procs, double from) const;
  /// First time from `from` on from which `procs` are free for `length` seconds. From `limit` on all are assumed to be
  /// free: the answer is at most that.
  double earliest(int procs, double length, double from, double limit = never) const;

private:
  struct Step {
    double at;
    int free; ///< until the next step; without the block's `added`
  };
  struct Block {
    std::vector<Step> steps;
    int added = 0, least = 0, most = 0; ///< least and most with `added`
    void measure();
  };
  struct Place {
    std::size_t block, step;
  };

  Place find(double time) const;
  void cut(double time);
  void heal(double time);
  double first_below(int procs, double from) const;

  std::vector<Block> blocks_; ///< none is empty
};

} // namespace sched
