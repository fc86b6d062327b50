// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "pack/copy.hpp"
#include "pack/cursor.hpp"
#include "pack/packed_view.hpp"
#include "pack/scaled.hpp"
#include "pack/turned.hpp"

namespace redist::detail {

void copy_direct(const PackedView& source, const PackedView& target, std::int64_t first, std::int64_t count) {
  if (count <= 0) return;
  const int esize = source.esize;
  const std::int64_t height = source.rows->total;
  if (source.transposed && first % height == 0 && count % height == 0)
    return copy_transposed(source, target, first / height, count / height);
  if (source.transposed || source.conj_size != 0 || target.row_limits != nullptr) {
    alignas(64) char buffer[16384];
    const std::int64_t at_once = static_cast<std::int64_t>(sizeof buffer) / esize;
    while (count > 0) {
      const std::int64_t now = std::min(count, at_once);
      source.pack(first, now, buffer);
      target.unpack(first, now, buffer);
      first += now;
      count -= now;
    }
    return;
  }
  Cursor col(*source.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    const char* src = source.column(col.from());
    char* dst = target.column(col.to());
    const std::int64_t now = std::min(count, height - row);
    if (now == height && target.scaling != nullptr) {
      add_column(source, target, src, dst);
    } else if (now == height) {
      for (const Run& r : source.rows->runs) {
        auto bytes = static_cast<std::size_t>(r.len * esize);
        std::int64_t pieces = r.count;
        if (r.from_step == r.len && r.to_step == r.len) {
          bytes *= static_cast<std::size_t>(pieces);
          pieces = 1;
        }
        const Strided<char> to{dst + r.to * esize, r.to_step * esize};
        const Strided<const char> from{src + r.from * esize, r.from_step * esize};
        if (target.non_temporal && bytes >= non_temporal_from)
          copy_pieces_non_temporal(to, from, pieces, bytes, bytes <= 4096 ? 2 * source.lld * esize : 0);
        else
          copy_pieces(to, from, pieces, bytes);
      }
    } else {
      Cursor at(*source.rows, row);
      for (std::int64_t left = now; left > 0;) {
        const std::int64_t part = std::min(left, at.left_in_piece());
        put(target, dst + at.to() * esize, src + at.from() * esize, static_cast<std::size_t>(part * esize));
        left -= part;
        at.advance(part);
      }
    }
    count -= now;
    row = 0;
    col.advance(1);
  }
  if (target.non_temporal) finish_non_temporal();
}

} // namespace redist::detail
