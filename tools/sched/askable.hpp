// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "policy.hpp"

namespace sched {

/// Running jobs that may be asked to change: resizable, without a request, not unresponsive.
///
/// Kept in classes of jobs that are alike but for their steps: of thousands that run a policy looks at the first of
/// each class only. Jobs of one `sizes` (the object) are taken to have the same step times and cost of a change.
class Askable {
public:
  struct Member {
    double end_s; ///< where it stays on its size
    std::int64_t order;
    const Job* job;
  };
  struct StartsBefore {
    bool operator()(const Member& a, const Member& b) const { return a.order < b.order; }
  };
  struct EndsBefore {
    bool operator()(const Member& a, const Member& b) const {
      return a.end_s != b.end_s ? a.end_s < b.end_s : a.order < b.order;
    }
  };
  using ByStart = std::set<Member, StartsBefore>;
  using ByEnd = std::set<Member, EndsBefore>;
  struct Class {
    const Sizes* sizes;
    int priority, procs;
    int next;      ///< size above; 0: none
    bool is_timed; ///< each has a finish-by time
    ByStart members;
    ByEnd ends; ///< the same
  };
  using Classes = std::map<std::tuple<const Sizes*, int, int, bool>, Class>;

  /// Closer to its end the steps that a job has left are rounding errors, and may be below 0: such jobs are no class.
  static constexpr double near_end_s = 1e-2;

  /// @param order  of its start; the same when it is taken out, and the same end.
  void insert(const Job& job, std::int64_t order, double end_s);
  void erase(const Job& job, std::int64_t order, double end_s);
  /// A job was asked to give so many processors up (below 0: it has, or does not).
  void add_coming(int procs) { coming_ += procs; }

  const Classes& classes() const { return classes_; } ///< none is empty; in any order
  int coming() const { return coming_; }              ///< processors that are being given up
  int spare() const { return spare_; } ///< what they have above their smallest sizes; those with a finish-by time too
  int spare_untimed() const { return spare_untimed_; } ///< without these

private:
  static Classes::key_type key_of(const Job& job);
  void count(const Job& job, int sign);

  Classes classes_;
  int coming_ = 0, spare_ = 0, spare_untimed_ = 0;
};

} // namespace sched
