// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>

namespace sched {

/// A time in seconds that is never reached.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// Whether this time has come since the last look, however long ago that was.
inline bool has_come(double at_s, double last_look_s, double now_s) {
  return last_look_s < at_s && at_s <= now_s;
}

} // namespace sched
