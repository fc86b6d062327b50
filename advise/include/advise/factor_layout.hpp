// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix that is being factored should lie otherwise for the rest of it, or on fewer processes. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/balance.hpp"
#include "gridmap/axis.hpp"

namespace advise {

using gridmap::Axis;

/// Column j of an LU or Cholesky works on the rows and columns from j on: the sum over the columns first .. end-1 of
/// the largest rows * cols / speed that a place has of them. speeds: row-major. Cost: O(m + n + 4096 places): of longer
/// stretches, columns are left out.
double factor_time(const Axis& rows, const Axis& cols, const std::vector<double>& speeds, std::int64_t first,
                   std::int64_t end);

/// A factorization between two of its panels. A step is one panel, scaled to the length of the first one.
struct FactorLayoutRequest {
  std::string name;                ///< of the matrix
  Axis rows, cols;                 ///< as it lies
  Axis rows_then, cols_then;       ///< in the order for factorizations, on the same grid
  std::vector<double> speeds;      ///< of the places, row-major
  std::int64_t last = 0, next = 0; ///< columns: first one of the last panel, and first one that is left
  double first_work = 0;           ///< gridmap::factor_work of the first panel
  std::int64_t panels_left = 0;    ///< as long as the first one
  double work_s = 0, step_s = 0;   ///< of a step, as BalanceRequest has them
  Cost change;                     ///< what the move takes
  std::int64_t moved_elements = 0; ///< by it
  BalanceRules rules;
};

struct FactorLayoutDecision {
  double unit_s = 0;              ///< of one element in one step at speed 1
  double now_s = 0, then_s = 0;   ///< the rest of the factorization, without the move
  std::optional<Balance> balance; ///< the move, in place of `stays`; empty: it is not worth it
};

/// As decide_balance(): at least rules.gain of the rest is saved, and rules.worth of it with the move counted.
/// @param stays the balance that was found for the current layout: nothing is done
FactorLayoutDecision decide_factor_layout(const FactorLayoutRequest& request, const Balance& stays);

/// How much of a grid the rest of a factorization needs, of which m x n elements are left: every process has at least
/// FactorRules::least_width rows and columns of it. The grid there is, unless so few processes are enough that the
/// change is worth it.
GridShape grid_for_rest(GridShape now, std::int64_t m, std::int64_t n, const FactorRules& rules = {});

} // namespace advise
