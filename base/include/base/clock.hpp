// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace base {

/// Seconds since the machine was started, of a clock that is never set. The same for all processes of a host.
double monotonic_s();
std::int64_t monotonic_ns();
/// Seconds since 1970 (UTC).
double unix_time_s();
/// "2026-03-01T12:00:00Z"
std::string utc_text(std::int64_t unix_s);
/// "12:00:00" of the place where this runs.
std::string local_clock_text();

/// The end of a patience.
class Deadline {
public:
  explicit Deadline(double seconds) : end_s_(seconds < 0 ? -1 : monotonic_s() + seconds) {} ///< below 0: never
  double left_s() const; ///< at least 0; -1 when it never ends
  int left_ms() const;   ///< rounded up, for poll
  bool is_over() const { return end_s_ >= 0 && left_s() <= 0; }

private:
  double end_s_;
};

} // namespace base
