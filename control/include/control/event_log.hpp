// SPDX-License-Identifier: BSD-3-Clause
// What a running application tells those who watch it, in the order in which it happened. Pure.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "control/protocol.hpp"

namespace control {

/// Steps are kept by themselves, since there are many and they cost the application's thread nothing to note. Not for
/// two threads at once.
class EventLog {
public:
  EventLog();
  ~EventLog();
  /// Steps only when somebody wants them.
  void want_steps(bool wanted);
  /// The step of this number, counted from 0, took `step_s` and ended at `t`, in seconds after the beginning.
  void step(std::int64_t number, gridmap::GridShape grid, double step_s, double t);
  /// Something that happened when so many steps had ended. Beyond a thousand that nobody takes they are only counted,
  /// but for an outcome, for which a client may wait: there are no more of them than requests.
  void add(std::int64_t steps_ended, Json event);
  /// All since the last call, oldest first; an event stands before the first step that had not ended by then. Steps
  /// that there was no room for are counted in one of the name "skipped", other events in one more at the end.
  std::vector<Json> take();

private:
  struct Step {
    std::int64_t number;
    gridmap::GridShape grid;
    double step_s, t;
  };
  bool wants_steps_ = false;
  std::vector<Step> steps_;
  std::int64_t skipped_ = 0;                          ///< steps
  std::int64_t dropped_ = 0;                          ///< events
  std::vector<std::pair<std::int64_t, Json>> events_; ///< with the steps that had ended by then
};

} // namespace control
