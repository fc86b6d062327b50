// SPDX-License-Identifier: BSD-3-Clause
// The time of a step beside competitors, by the part of the work that a process has. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace advise {

/// A process that shares its processor waits for its turn at each wake-up, however little it then does. Its share does
/// not separate this from work: it is a part of the requested time, and falls with the part of the work. But steps with
/// several parts separate them: step = waits_s + work_s * part.
struct WaitingTerms {
  double waits_s = 0; ///< of a step
  double work_s = 0;  ///< of all work of a step, on this process alone
  double since_s = 0; ///< of the first of these steps; on the caller's clock
};

/// The steps in which one of the most loaded processes was the slowest. A UsualTime is a number under one condition;
/// this is a line through steps with several parts. Without it each smaller part is predicted to take less, so the
/// process is kept, and its part made smaller again and again.
class Waiting {
public:
  /// A step with this part of all work, above 0. A step that contradicts the earlier ones shows that the load has
  /// changed: these are forgotten.
  void saw(int process, double part, double step_s, double since_s);
  /// Removes all processes but these: the others have left the grid or have no load.
  void keep(const std::vector<int>& processes);
  /// Empty where parts were too close to each other, or steps are work alone. The process does all work in
  /// least_work_s, if it never waited.
  std::optional<WaitingTerms> terms(int process, double least_work_s) const;

private:
  struct Seen {
    double part, step_s;
  };
  struct Steps {
    std::vector<Seen> seen; ///< the newest last, one for each part
    double since_s = 0;
  };
  static bool goes_with(const Steps& steps, const Seen& now);
  std::map<int, Steps> of_;
};

} // namespace advise
