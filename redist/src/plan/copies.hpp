// SPDX-License-Identifier: BSD-3-Clause
// What replicated layouts need: many ranks at one position of both axes, each with the same part.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/tables.hpp"

namespace redist::detail {

/// What one process sends away or keeps, in elements, and to how many.
struct Load {
  std::int64_t elements = 0, messages = 0;
};

/// Of a replicated source: fills in tables.givers, and returns the loads by number in the source grid. A process that
/// has a part of a copy takes all from that copy. The others take from the copy whose processes give least.
std::vector<Load> choose_givers(PlanTables& tables);

/// Calls visit(source number, elements) for all that number `target` of the target grid gets from `copy` (read only
/// where the source is replicated), what it keeps included.
template <class Visit> void each_given(const PlanTables& tables, int target, Copy copy, Visit&& visit) {
  const auto axes = tables.target_axes(target);
  for (int a = 0; a < tables.rows.from.nprocs(); ++a) {
    const std::int64_t rows = tables.rows.table.at(a, axes.first);
    for (int b = 0; rows > 0 && b < tables.cols.from.nprocs(); ++b) {
      const std::int64_t elements = rows * tables.cols.table.at(b, axes.second);
      if (elements > 0) visit(tables.source_number(copy, a, b), elements);
    }
  }
}

} // namespace redist::detail
