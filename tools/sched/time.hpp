// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>

namespace sched {

/// A time in seconds that is never reached.
inline constexpr double never = std::numeric_limits<double>::infinity();

} // namespace sched
