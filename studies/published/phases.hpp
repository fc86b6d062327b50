// SPDX-License-Identifier: BSD-3-Clause
// How SUIF-Adapt plans phases, beside gridmap/phases.hpp, to compare with. Pure.
// Source: Morris, Lowenthal 2001.
#pragma once
#include <vector>

#include "advise/phases.hpp"

namespace published {

/// What a redistribution adds to the phase after it: max_k(T_k + R_k) - max_k T_k (section 3.2.2).
double redistribution_s(const std::vector<double>& compute_s, const std::vector<double>& move_s);

/// The least of the shortest paths from each candidate of the first phase back to the same one. A vertex keeps the
/// state of the path that is shortest to it, so it may be wrong about what still has to be moved. unrolled: the path
/// goes through two cycles, and the second counts (sections 2.2 and 3.2.3).
advise::PhasePlan phases(const advise::PhaseProblem& problem, bool unrolled);

} // namespace published
