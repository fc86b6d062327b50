// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix that is being factored should lie otherwise for the rest of it. Pure.
#pragma once
#include <cstdint>
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

struct FactorLayoutRequest {
  Axis rows, cols;            ///< as it lies
  Axis rows_then, cols_then;  ///< as it could, on the same grid
  std::vector<double> speeds; ///< of the places, row-major
  std::int64_t next = 0;      ///< first column that is left
  double unit_s = 0;          ///< of one element in one step at speed 1
  double change_s = 0;        ///< what the move takes
  BalanceRules rules;
};

struct FactorLayoutDecision {
  bool pays = false;
  double now_s = 0, then_s = 0; ///< the rest of the factorization, without the move
};

/// As decide_balance(): at least rules.gain of the rest is saved, and rules.worth of it with the move counted.
FactorLayoutDecision decide_factor_layout(const FactorLayoutRequest& request);

} // namespace advise
