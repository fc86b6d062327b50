// SPDX-License-Identifier: BSD-3-Clause
// Going through packed elements in their order, column by column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pack/cursor.hpp"
#include "pack/packed_view.hpp"

namespace redist::detail {

/// Calls take(j, row, rows) for packed elements first .. first+count-1, column by column: packed rows row .. row+rows-1
/// of local column j.
template <class Take> void walk(const PackedView& view, std::int64_t first, std::int64_t count, Take&& take) {
  if (count <= 0) return;
  const std::int64_t height = view.rows->total;
  Cursor col(*view.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    const std::int64_t now = std::min(count, height - row);
    take(col.index(view.is_source), row, now);
    count -= now;
    row = 0;
    col.advance(1);
  }
}

/// Calls take(where in the column, bytes) for each piece of packed rows row .. row+count-1 of a column.
template <class Take>
void walk_part_of_column(const PackedView& view, char* column, std::int64_t row, std::int64_t count, Take&& take) {
  for (Cursor at(*view.rows, row); count > 0;) {
    const std::int64_t now = std::min(count, at.left_in_piece());
    take(column + at.index(view.is_source) * view.esize, static_cast<std::size_t>(now * view.esize));
    count -= now;
    at.advance(now);
  }
}

} // namespace redist::detail
