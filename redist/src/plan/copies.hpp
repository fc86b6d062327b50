// SPDX-License-Identifier: BSD-3-Clause
// What replicated layouts need: many ranks at the one position of both axes, each with the whole matrix.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/tables.hpp"

namespace redist::detail {

/// Of a replicated source, by number in the target grid: the source that gives, itself where it can.
std::vector<int> choose_givers(const Grid& from, const Grid& to);

/// What one process sends away or keeps, in elements, and to how many.
struct Load {
  std::int64_t elements = 0, messages = 0;
};

/// Of a replicated source, by number in the source grid.
std::vector<Load> loads_of_givers(const PlanTables& tables);

/// each_message where a layout is replicated.
template <class Visit> void each_copy(const PlanTables& tables, Visit&& visit) {
  for (int target = 0; target < tables.to.size(); ++target) {
    const auto [c, d] = tables.target_axes(target);
    const int first = tables.from_replicated ? tables.givers[static_cast<std::size_t>(target)] : 0;
    const int end = tables.from_replicated ? first + 1 : tables.from.size();
    for (int source = first; source < end; ++source) {
      const auto [a, b] = tables.source_axes(source);
      const std::int64_t elements = tables.rows.table.at(a, c) * tables.cols.table.at(b, d);
      if (elements > 0 && tables.source_rank(source) != tables.target_rank(target)) visit(source, target, elements);
    }
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
  for (int target = 0; target < tables.to.size(); ++target) {
    if (tables.from_replicated && tables.givers[static_cast<std::size_t>(target)] != me) continue;
    const auto [c, d] = tables.target_axes(target);
    const auto row = find(rows, c), col = find(cols, d);
    if (row != rows.end() && col != cols.end()) visit(target, *row, *col);
  }
}

} // namespace redist::detail
