// SPDX-License-Identifier: BSD-3-Clause
// Whether a running job gets what it asks for by itself. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "control/allowed.hpp"
#include "control/ask.hpp"
#include "policy.hpp"

namespace sched {

/// A running job that waits for more processors.
struct Need {
  std::int64_t job = 0;
  int has = 0;
  int least = 0; ///< it goes on with so many in all
};

/// The numbers of processors, above those that it `has`, of the grids that would do; at most `procs`.
std::vector<int> sizes_asked_for(const control::Ask& ask, const control::Allowed& allowed, int has, int procs);

/// Why the last of `needs` would wait for ever: whoever does not wait ends some day, and who got what it needs does.
/// Empty: it may come true.
std::string why_never(const std::vector<Need>& needs, int procs);

/// Why a job may not have so many processors more at once. Empty: it may. Those that wait, of its priority and above,
/// have their smallest sizes first.
std::string why_not_now(int more, const State& state, int priority);

} // namespace sched
