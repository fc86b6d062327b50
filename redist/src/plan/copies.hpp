// SPDX-License-Identifier: BSD-3-Clause
// What replicated layouts need: many ranks at one position of both axes, each with the same part.
#pragma once
#include <algorithm>
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

/// each_message where a layout is replicated.
template <class Visit> void each_copy(const PlanTables& tables, Visit&& visit) {
  for (int target = 0; target < tables.to.size(); ++target) {
    const Copy copy = tables.givers.empty() ? Copy{} : tables.givers[static_cast<std::size_t>(target)];
    each_given(tables, target, copy, [&](int source, std::int64_t elements) {
      if (tables.source_rank(source) != tables.target_rank(target)) visit(source, target, elements);
    });
  }
}

/// Calls visit(target number, row, col) for what number `me` of the source grid sends or keeps. `Neighbours`: sorted
/// pairs of a position and its runs.
template <class Neighbours, class Visit>
void each_copy_of(const PlanTables& tables, int me, const Neighbours& rows, const Neighbours& cols, Visit&& visit) {
  const auto find = [](const Neighbours& neighbours, int position) {
    const auto at = std::lower_bound(neighbours.begin(), neighbours.end(), position,
                                     [](const auto& one, int wanted) { return one.first < wanted; });
    return at != neighbours.end() && at->first == position ? at : neighbours.end();
  };
  const auto own = tables.source_axes(me);
  for (int target = 0; target < tables.to.size(); ++target) {
    if (tables.giver(target, own.first, own.second) != me) continue;
    const auto [c, d] = tables.target_axes(target);
    const auto row = find(rows, c), col = find(cols, d);
    if (row != rows.end() && col != cols.end()) visit(target, *row, *col);
  }
}

} // namespace redist::detail
