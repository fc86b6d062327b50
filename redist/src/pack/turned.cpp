// SPDX-License-Identifier: BSD-3-Clause
#include "pack/turned.hpp"

#include <algorithm>
#include <cstring>

#include "pack/copy.hpp"
#include "pack/cursor.hpp"
#include "pack/scaled.hpp"
#include "pack/walk.hpp"

namespace redist::detail {

namespace {

/// Packed rows, each a column of the array, between the one that is read and the one that is asked for: a column gives
/// a line or two, too little for the processor's own prefetching to find out what comes next. Fewer hide less of the
/// memory's latency ("Transposed and added matrices" in docs/results.md).
constexpr int columns_ahead = 32;

/// Packed columns that are taken together.
struct Strip {
  static constexpr int widest = 16;
  std::int64_t row_of_column[widest]; ///< in the array
  int width = 0;
};

/// Packs rows row_first .. row_first+count-1 of a strip: neighbours in the array are taken together, since they share a
/// cache line. So are as many packed rows as fill a line.
template <std::size_t Bytes>
void transpose_strip(const PackedView& view, const Strip& strip, std::int64_t row_first, std::int64_t count,
                     std::int64_t packed_step, char* packed) {
  const std::int64_t* const row_of_column = strip.row_of_column;
  const int width = strip.width;
  constexpr int at_once = 64 / Bytes;
  constexpr auto size = static_cast<std::int64_t>(Bytes);
  Cursor row(*view.rows, row_first), ahead = row;
  std::int64_t asked = 0;
  for (std::int64_t i = 0; i < count; i += at_once) {
    // not in a function of its own: GCC 12 takes one that only prefetches for one without effect, and leaves it out
    for (; asked < std::min(count, i + at_once + columns_ahead); ++asked, ahead.advance(1)) {
      const char* column = view.base + ahead.from() * view.lld * size;
      for (int j = 0; j < width; j += at_once) prefetch(column + row_of_column[j] * size, Bytes);
      prefetch(column + row_of_column[width - 1] * size, Bytes); // in a line of its own where none of these begins one
    }
    const char* line[at_once];
    const int now = static_cast<int>(std::min<std::int64_t>(at_once, count - i));
    for (int k = 0; k < now; ++k, row.advance(1)) line[k] = view.base + row.from() * view.lld * size;
    for (int j = 0; j < width; ++j) {
      char* at = packed + j * packed_step + i * size;
      const std::int64_t offset = row_of_column[j] * size;
      if (now == at_once) // a number that the compiler knows
        for (int k = 0; k < at_once; ++k) std::memcpy(at + k * size, line[k] + offset, Bytes);
      else
        for (int k = 0; k < now; ++k) std::memcpy(at + k * size, line[k] + offset, Bytes);
    }
  }
}

void transpose_any(const PackedView& view, const Strip& strip, std::int64_t row_first, std::int64_t count,
                   std::int64_t packed_step, char* packed) {
  switch (view.esize) {
  case 4:
    return transpose_strip<4>(view, strip, row_first, count, packed_step, packed);
  case 8:
    return transpose_strip<8>(view, strip, row_first, count, packed_step, packed);
  default:
    return transpose_strip<16>(view, strip, row_first, count, packed_step, packed);
  }
}

template <class Real> void negate_odd(char* packed, std::int64_t count) {
  packed += sizeof(Real);
  for (std::int64_t i = 0; i < count;
       ++i, packed += 2 * sizeof(Real)) { // through memcpy: after other types it may be unaligned
    Real value;
    std::memcpy(&value, packed, sizeof value);
    value = -value;
    std::memcpy(packed, &value, sizeof value);
  }
}
} // namespace

void pack_transposed(const PackedView& view, std::int64_t first, std::int64_t count, char* packed) {
  if (count <= 0) return;
  const std::int64_t height = view.rows->total;
  Cursor col(*view.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    Strip strip;
    std::int64_t taken = 0;
    std::int64_t rows_now = std::min(count, height - row);
    if (rows_now < height) { // a part of one column
      strip.row_of_column[strip.width++] = col.from();
      col.advance(1);
      taken = rows_now;
    } else {
      while (strip.width < Strip::widest && count - taken >= height) {
        strip.row_of_column[strip.width++] = col.from();
        col.advance(1);
        taken += height;
      }
    }
    transpose_any(view, strip, row, rows_now, height * view.esize, packed);
    packed += taken * view.esize;
    count -= taken;
    row = 0;
  }
}

void copy_transposed(const PackedView& source, const PackedView& target, std::int64_t first_column,
                     std::int64_t columns) {
  alignas(64) char buffer[16384];
  const std::int64_t height = source.rows->total;
  const std::int64_t rows_at_once = static_cast<std::int64_t>(sizeof buffer) / (Strip::widest * source.esize);
  for (std::int64_t column = first_column; column < first_column + columns; column += Strip::widest) {
    Strip strip;
    const int width = static_cast<int>(std::min<std::int64_t>(Strip::widest, first_column + columns - column));
    Cursor col(*source.cols, column);
    for (; strip.width < width; ++strip.width, col.advance(1)) strip.row_of_column[strip.width] = col.from();
    for (std::int64_t row = 0; row < height; row += rows_at_once) {
      const std::int64_t rows = std::min(rows_at_once, height - row);
      transpose_any(source, strip, row, rows, rows * source.esize, buffer);
      conjugate(source, buffer, rows * width);
      for (int j = 0; j < width; ++j)
        target.unpack((column + j) * height + row, rows, buffer + j * rows * source.esize);
    }
  }
}

void unpack_limited(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed) {
  walk(view, first, count, [&](std::int64_t j, std::int64_t row, std::int64_t left) {
    const std::int64_t begin = view.row_limits[2 * j], end = view.row_limits[2 * j + 1];
    char* const column = view.column(j);
    for (Cursor at(*view.rows, row); left > 0;) {
      const std::int64_t now = std::min(left, at.left_in_piece());
      const std::int64_t i = at.to();
      const std::int64_t low = std::max(i, begin), high = std::min(i + now, end);
      if (low < high)
        put(view, column + low * view.esize, packed + (low - i) * view.esize,
            static_cast<std::size_t>((high - low) * view.esize));
      packed += now * view.esize;
      left -= now;
      at.advance(now);
    }
  });
}

void conjugate(const PackedView& view, char* packed, std::int64_t count) {
  if (view.conj_size == 4) negate_odd<float>(packed, count);
  if (view.conj_size == 8) negate_odd<double>(packed, count);
}

} // namespace redist::detail
