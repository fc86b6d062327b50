// SPDX-License-Identifier: BSD-3-Clause
#include "pack/packed_view.hpp"

#include <cstring>

#include "pack/column.hpp"
#include "pack/copy.hpp"
#include "pack/cursor.hpp"
#include "pack/scaled.hpp"
#include "pack/turned.hpp"
#include "pack/walk.hpp"

namespace redist::detail {

namespace {

void pack_columns(const PackedView& view, std::int64_t first, std::int64_t count, char* packed, bool non_temporal) {
  PackedWriter writer(packed, non_temporal);
  Prefetch next;
  next.far = 2 * view.lld * view.esize;
  walk(view, first, count, [&](std::int64_t j, std::int64_t row, std::int64_t rows) {
    char* const column = view.column(j);
    if (rows == view.rows->total)
      pack_column(view, column, writer, next);
    else
      walk_part_of_column(view, column, row, rows, [&](const char* at, std::size_t bytes) { writer.put(at, bytes); });
  });
  writer.end();
}

void unpack_columns(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed) {
  if (count <= 0) return;
  Cursor ahead(*view.cols, first / view.rows->total);
  walk(view, first, count, [&](std::int64_t j, std::int64_t row, std::int64_t rows) {
    char* const column = view.column(j);
    ahead.advance(1);
    if (rows == view.rows->total) {
      const bool has_next = view.non_temporal && !ahead.at_end();
      unpack_column(view, column, packed, has_next ? (ahead.index(view.is_source) - j) * view.lld * view.esize : 0);
      packed += rows * view.esize;
    } else {
      walk_part_of_column(view, column, row, rows, [&](char* at, std::size_t bytes) {
        std::memcpy(at, packed, bytes);
        packed += bytes;
      });
    }
  });
}
} // namespace

void PackedView::pack(std::int64_t first, std::int64_t count, char* packed, bool stores_non_temporal,
                      char* staging) const {
  if (count <= 0) return;
  if (stores_non_temporal && is_rearranged()) { // not in order, or touched twice: in the cache first
    pack(first, count, staging);
    copy_non_temporal(packed, staging, static_cast<std::size_t>(count * esize));
  } else if (transposed) {
    pack_transposed(*this, first, count, packed);
  } else {
    pack_columns(*this, first, count, packed, stores_non_temporal);
  }
  if (stores_non_temporal)
    finish_non_temporal();
  else
    conjugate(*this, packed, count);
}

void PackedView::unpack(std::int64_t first, std::int64_t count, const char* packed) const {
  if (row_limits != nullptr) return unpack_limited(*this, first, count, packed);
  if (scaling != nullptr) return unpack_scaled(*this, first, count, packed);
  unpack_columns(*this, first, count, packed);
  if (non_temporal) finish_non_temporal();
}

char* PackedView::contiguous(std::int64_t first, std::int64_t& count) const {
  count = 0;
  if (is_rearranged() || row_limits != nullptr || scaling != nullptr || elements() == 0) return nullptr;
  const std::int64_t height = rows->total;
  Cursor col(*cols, first / height);
  const std::int64_t row_first = first % height;
  Cursor row(*rows, row_first);
  char* at = base + (col.index(is_source) * lld + row.index(is_source)) * esize;
  // down the column as far as the pieces touch
  std::int64_t next = row.index(is_source);
  std::int64_t down = 0;
  while (!row.at_end() && row.index(is_source) == next) {
    const Run& r = row.here();
    const std::int64_t step = is_source ? r.from_step : r.to_step;
    const std::int64_t now = r.count > 1 && step == r.len ? r.len * (r.count - row.t) - row.k : row.left_in_piece();
    down += now;
    next += now;
    if (now > row.left_in_piece()) {
      row.t = r.count - 1;
      row.k = r.len - 1;
      row.advance(1);
    } else {
      row.advance(now);
    }
  }
  count = down;
  if (row_first + down < height || height != lld) return at;
  // whole columns without a gap: on as far as the columns touch (the first of them may have begun below its
  // top)
  if (row_first != 0) return at;
  std::int64_t next_col = col.index(is_source);
  count = 0;
  while (!col.at_end() && col.index(is_source) == next_col) {
    const std::int64_t now = col.left_in_piece();
    count += now * height;
    next_col += now;
    col.advance(now);
  }
  return at;
}

} // namespace redist::detail
