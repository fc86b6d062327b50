// SPDX-License-Identifier: BSD-3-Clause
// One column of a message: all its rows, between an array and packed memory or another array.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pack/packed_view.hpp"
#include "pack/packed_writer.hpp"

namespace redist::detail {

/// Data that will be read soon: prefetched at pace/16 of the bytes copied. When only one message leaves a column, the
/// same piece of a column `far` bytes on: the processor's own prefetching starts again at every piece.
struct Prefetch {
  const char* at = nullptr;
  std::int64_t left = 0;
  std::int64_t pace = 16;
  std::int64_t far = 0;
  std::int64_t from_top = 0; ///< bytes of a column above what of() asks for
  /// The same of the column that begins at `column`.
  Prefetch of(const char* column) const {
    Prefetch next = *this;
    next.at = column + from_top;
    return next;
  }
  void move(std::int64_t copied) {
    const std::int64_t now = std::min(left, copied * pace / 16);
    if (now <= 0) return;
    prefetch(at, static_cast<std::size_t>(now));
    at += now;
    left -= now;
  }
};

/// From packed memory into an array. @param next bytes from here to the column that comes next: the lines of it that
/// are stored through the cache are asked for, since a store to a line that is not there holds up all stores behind it.
/// 0: nothing is asked for
void unpack_column(const PackedView& view, char* column, const char* packed, std::int64_t next = 0);
/// From an array into packed memory.
void pack_column(const PackedView& view, const char* column, PackedWriter& packed, Prefetch& next);
/// From one array into another: what stays on this rank.
void copy_column(const PackedView& source, const PackedView& target, const char* from, char* to, Prefetch& next);

} // namespace redist::detail
