// SPDX-License-Identifier: BSD-3-Clause
// Terms of a step, fitted to measurements on grids and under loads, for BalanceRequest. Pure.
#pragma once
#include <vector>

#include "advise/topology.hpp"

namespace advise {

/// Steps that were measured with the same grid, parts and speeds.
struct StepObservation {
  GridShape grid;
  double work = 1;  ///< seconds of the slowest part, if all work of a step were a second at speed 1
  double share = 1; ///< of a processor: the least of a process in the grid
  double step_s = 0;
};

/// Terms of BalanceRequest.
struct StepTerms {
  double work_s = 0, volume_s = 0, processor_part = 0;
};

/// Least squares over step_s = work_s * work + volume_s (1/p + 1/q) (1 - part + part / share), no term below 0, as few
/// terms as explain what was measured (Akaike's criterion for few observations, steps being good to 2 %): of fewer than
/// four all is work. All 0 without any.
StepTerms fit_step_terms(const std::vector<StepObservation>& observed);

} // namespace advise
