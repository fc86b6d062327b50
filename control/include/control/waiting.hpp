// SPDX-License-Identifier: BSD-3-Clause
// What a step takes beside competitors, by the part of the work that a process has. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace control {

/// Who shares its processor waits for its turn each time it wakes up, however little it has to do then. Its share does
/// not tell that from work: it is a part of the time that the process wanted, and falls with its part of the work. But
/// steps with several parts do: step = waits_s + work_s * part.
struct WaitingTerms {
  double waits_s = 0; ///< of a step
  double work_s = 0;  ///< all work of a step, if this process did it
  double since_s = 0; ///< of these steps the first; on the caller's clock
};

/// The steps of which a process was the slowest, one of the most loaded.
class Waiting {
public:
  /// A step with this part of all work, above 0. What does not go with the steps of before tells that the load is
  /// another one: these are forgotten.
  void saw(int process, double part, double step_s, double since_s);
  /// All processes but these, which have left the grid or their load.
  void keep(const std::vector<int>& processes);
  /// Empty where parts were too near each other, or steps are work alone. The process does all work in least_work_s, if
  /// it never waited.
  std::optional<WaitingTerms> terms(int process, double least_work_s) const;

private:
  struct Seen {
    double part, step_s;
  };
  struct Steps {
    std::vector<Seen> seen; ///< the newest last, one of a part
    double since_s = 0;
  };
  static bool goes_with(const Steps& steps, const Seen& now);
  std::map<int, Steps> of_;
};

} // namespace control
