// SPDX-License-Identifier: BSD-3-Clause
#include "pack/column.hpp"

#include <cstring>

#include "pack/scaled.hpp"

namespace redist::detail {

void unpack_column(const PackedView& view, char* column, const char* packed, std::int64_t next) {
  const int esize = view.esize;
  const auto in_line = [](const char* at) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % 64);
  };
  for (const Run& r : view.rows->runs) {
    std::int64_t dense = r.len * esize, pieces = r.count;
    char* at = column + r.to * esize;
    const std::int64_t step = r.to_step * esize;
    if (pieces == 1 || step == dense) {
      dense *= pieces;
      pieces = 1;
    }
    const auto bytes = static_cast<std::size_t>(dense);
    // the prefetches stand here, not in a function of their own: see turned.cpp
    if (view.non_temporal && bytes >= non_temporal_from) {
      for (std::int64_t t = 0; t < pieces; ++t, at += step, packed += dense) {
        if (next != 0) {
          const char *begin = at + next, *end = begin + dense;
          if (in_line(begin) != 0) __builtin_prefetch(begin, 1);
          if (in_line(end) != 0) __builtin_prefetch(end, 1);
        }
        copy_non_temporal(at, packed, bytes);
      }
      continue;
    }
    if (next != 0 && pieces == 1)
      for (const char *line = at + next - in_line(at + next), *end = at + next + dense; line < end; line += 64)
        __builtin_prefetch(line, 1);
    if (pieces == 1)
      std::memcpy(at, packed, bytes);
    else
      copy_pieces({at, step}, {packed, dense}, pieces, bytes);
    packed += dense * pieces;
  }
}

namespace {
/// Bytes between two prefetches.
constexpr auto stretch_bytes = static_cast<std::int64_t>(PackedWriter::room_at_once);
} // namespace

void pack_column(const PackedView& view, const char* column, PackedWriter& packed, Prefetch& next) {
  const int esize = view.esize;
  for (const Run& r : view.rows->runs) {
    std::int64_t bytes = r.len * esize, pieces = r.count;
    if (bytes == 0) continue;
    const char* at = column + r.from * esize;
    const std::int64_t step = r.from_step * esize;
    if (step == bytes) {
      bytes *= pieces;
      pieces = 1;
    }
    if (bytes >= 128) {
      const bool is_far = next.far != 0 && pieces > 1 && bytes <= 4096;
      for (std::int64_t t = 0; t < pieces; ++t, at += step)
        for (std::int64_t done = 0; done < bytes; done += stretch_bytes) {
          const std::int64_t now = std::min(stretch_bytes, bytes - done);
          if (is_far) prefetch(at + done + next.far, static_cast<std::size_t>(now));
          next.move(now);
          packed.put(at + done, static_cast<std::size_t>(now));
        }
    } else {
      const std::int64_t at_once = stretch_bytes / bytes;
      for (std::int64_t t = 0; t < pieces; t += at_once) {
        const std::int64_t now = std::min(at_once, pieces - t);
        next.move(now * bytes);
        packed.put_pieces(at + t * step, step, now, static_cast<std::size_t>(bytes));
      }
    }
  }
}

void copy_column(const PackedView& source, const PackedView& target, const char* from, char* to, Prefetch& next) {
  if (target.scaling != nullptr) return add_column(source, target, from, to);
  const int esize = source.esize;
  for (const Run& r : source.rows->runs) {
    std::int64_t bytes = r.len * esize, pieces = r.count;
    if (bytes == 0) continue;
    const char* src = from + r.from * esize;
    char* dst = to + r.to * esize;
    const std::int64_t src_step = r.from_step * esize, dst_step = r.to_step * esize;
    if (src_step == bytes && dst_step == bytes) {
      bytes *= pieces;
      pieces = 1;
    }
    const bool non_temporal = target.non_temporal && bytes >= static_cast<std::int64_t>(non_temporal_from);
    if (bytes >= 128) {
      for (std::int64_t t = 0; t < pieces; ++t)
        for (std::int64_t done = 0; done < bytes; done += stretch_bytes) {
          const std::int64_t now = std::min(stretch_bytes, bytes - done);
          next.move(now);
          if (non_temporal)
            copy_non_temporal(dst + t * dst_step + done, src + t * src_step + done, static_cast<std::size_t>(now));
          else
            std::memcpy(dst + t * dst_step + done, src + t * src_step + done, static_cast<std::size_t>(now));
        }
    } else {
      const std::int64_t at_once = stretch_bytes / bytes;
      for (std::int64_t t = 0; t < pieces; t += at_once) {
        const std::int64_t now = std::min(at_once, pieces - t);
        next.move(now * bytes);
        copy_pieces({dst + t * dst_step, dst_step}, {src + t * src_step, src_step}, now,
                    static_cast<std::size_t>(bytes));
      }
    }
  }
}

} // namespace redist::detail
