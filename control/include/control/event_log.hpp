// SPDX-License-Identifier: BSD-3-Clause
// The events that a running application reports to its watchers, in the order in which they happened. Pure.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "control/protocol.hpp"

namespace control {

/// Steps are stored separately: there are many, and the application's thread notes them at no cost. Not for two threads
/// at once.
class EventLog {
public:
  EventLog();
  ~EventLog();
  /// Records steps only when a client has requested them.
  void want_steps(bool requested);
  /// The step of this number, counted from 0, took `step_s` and ended at `t`, in seconds after the beginning.
  void step(std::int64_t number, base::GridShape grid, double step_s, double t);
  /// An event that happened when `steps_ended` steps had ended. Beyond a thousand events not taken, further ones are
  /// only counted. An outcome is always kept, since a client may wait for it; there are no more outcomes than requests.
  void add(std::int64_t steps_ended, Json event);
  /// All since the last call, oldest first; an event stands before the first step that had not ended by then. Steps
  /// beyond the capacity are counted in an event of the name "skipped", other events in one more at the end.
  std::vector<Json> take();

private:
  struct Step {
    std::int64_t number;
    base::GridShape grid;
    double step_s, t;
  };
  bool wants_steps_ = false;
  std::vector<Step> steps_;
  std::int64_t skipped_ = 0;                          ///< steps
  std::int64_t dropped_ = 0;                          ///< events
  std::vector<std::pair<std::int64_t, Json>> events_; ///< with the number of steps that had ended by then
};

} // namespace control
