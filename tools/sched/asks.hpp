// SPDX-License-Identifier: BSD-3-Clause
// Whether a running job gets the processors that it requests itself. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "advise/allowed.hpp"
#include "control/ask.hpp"
#include "policy.hpp"

namespace sched {

/// A running job that waits for more processors.
struct Need {
  std::int64_t job = 0;
  int has = 0;
  int least = 0; ///< the least total with which it goes on
};

/// The numbers of processors, above those that it `has`, of the suitable grids; at most `procs`.
std::vector<int> sizes_asked_for(const control::Ask& ask, const advise::Allowed& allowed, int has, int procs);

/// Why the last of `needs` would wait for ever. A job that does not wait ends some day, and so does one that got what
/// it needs. Empty: it may be met.
std::string why_never(const std::vector<Need>& needs, int procs);

/// Why a job may not have `more` processors more at once. Empty: it may. Waiting jobs of its priority and above get
/// their smallest sizes first.
std::string why_not_now(int more, const State& state, int priority);

} // namespace sched
