// SPDX-License-Identifier: BSD-3-Clause
#include "pack/turned.hpp"

#include <algorithm>
#include <cstring>

#include "pack/cursor.hpp"
#include "pack/scaled.hpp"

namespace redist::detail {

namespace {

/// Packs rows row_first .. row_first+count-1 of `width` packed columns whose rows in the array are known:
/// neighbours in the array are taken together, since they share a cache line.
template <std::size_t Bytes>
void transpose_strip(const PackedView& view, const std::int64_t* row_of_column, int width, std::int64_t row_first,
                     std::int64_t count, std::int64_t packed_step, char* packed) {
  Cursor row(*view.rows, row_first);
  for (std::int64_t i = 0; i < count; ++i) {
    const char* line = view.base + row.from() * view.lld * static_cast<std::int64_t>(Bytes);
    for (int j = 0; j < width; ++j)
      std::memcpy(packed + j * packed_step + i * static_cast<std::int64_t>(Bytes),
                  line + row_of_column[j] * static_cast<std::int64_t>(Bytes), Bytes);
    row.advance(1);
  }
}

void transpose_any(const PackedView& view, const std::int64_t* row_of_column, int width, std::int64_t row_first,
                   std::int64_t count, std::int64_t packed_step, char* packed) {
  switch (view.esize) {
  case 4:
    return transpose_strip<4>(view, row_of_column, width, row_first, count, packed_step, packed);
  case 8:
    return transpose_strip<8>(view, row_of_column, width, row_first, count, packed_step, packed);
  default:
    return transpose_strip<16>(view, row_of_column, width, row_first, count, packed_step, packed);
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
  constexpr int strip = 16;
  const std::int64_t height = view.rows->total;
  Cursor col(*view.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    std::int64_t at[strip];
    int width = 0;
    std::int64_t taken = 0;
    std::int64_t rows_now = std::min(count, height - row);
    if (rows_now < height) { // a part of one column
      at[width++] = col.from();
      col.advance(1);
      taken = rows_now;
    } else {
      while (width < strip && count - taken >= height) {
        at[width++] = col.from();
        col.advance(1);
        taken += height;
      }
    }
    transpose_any(view, at, width, row, rows_now, height * view.esize, packed);
    packed += taken * view.esize;
    count -= taken;
    row = 0;
  }
}

void unpack_limited(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed) {
  if (count <= 0) return;
  const std::int64_t height = view.rows->total;
  Cursor col(*view.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    const std::int64_t j = col.to();
    const std::int64_t begin = view.row_limits[2 * j], end = view.row_limits[2 * j + 1];
    char* column = view.base + j * view.lld * view.esize;
    std::int64_t left = std::min(count, height - row);
    count -= left;
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
    row = 0;
    col.advance(1);
  }
}

void conjugate(const PackedView& view, char* packed, std::int64_t count) {
  if (view.conj_size == 4) negate_odd<float>(packed, count);
  if (view.conj_size == 8) negate_odd<double>(packed, count);
}

} // namespace redist::detail
