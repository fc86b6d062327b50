// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/axis_table.hpp"
#include "redist/plan.hpp"

namespace redist::detail {

/// One of the two factors of a plan: positions of a source axis to positions of a target axis.
struct Factor {
  AxisTable from;
  AxisTable to;
  std::int64_t begin_from = 0;
  std::int64_t begin_to = 0;
  std::int64_t length = 0;
  OverlapTable table;

  Span span_from() const { return {&from, begin_from}; }
  Span span_to() const { return {&to, begin_to}; }
};

/// A rank in both grids that has something to keep.
struct Kept {
  int rank = 0;
  std::int64_t elements = 0;
};

struct PlanTables {
  Factor rows; ///< along the rows of the target
  Factor cols; ///< along the columns of the target
  bool transposed = false;
  std::vector<Kept> kept; ///< rank ascending
  PlanTotals totals;
};

} // namespace redist::detail
