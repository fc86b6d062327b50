// SPDX-License-Identifier: BSD-3-Clause
#include "exec/packer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace redist::detail {
namespace {

// Non-temporal stores save reading every target line before it is written: unpacking 512-byte pieces
// from a panel in cache into a large array goes at 20 GB/s instead of 9.6, both copies together at 6.3
// instead of 4.6 (EPYC 9004, one core). Only whole lines go this way.
#if defined(__x86_64__)
__attribute__((target("avx2"))) void copy_lines_avx2(char* dst, const char* src, std::size_t lines) {
  for (; lines > 0; --lines, dst += 64, src += 64) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), b);
  }
}
const bool has_non_temporal_stores = __builtin_cpu_supports("avx2") != 0;
void finish_non_temporal() {
  _mm_sfence();
}
#else
void copy_lines_avx2(char* dst, const char* src, std::size_t lines) {
  std::memcpy(dst, src, lines * 64);
}
const bool has_non_temporal_stores = false;
void finish_non_temporal() {}
#endif

/// Pieces below this go through the cache: too few whole lines.
constexpr std::size_t non_temporal_from = 192;

void copy_non_temporal(char* dst, const char* src, std::size_t bytes) {
  const std::size_t head = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(dst) % 64) % 64);
  if (head > 0) {
    std::memcpy(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
  }
  copy_lines_avx2(dst, src, bytes / 64);
  const std::size_t whole = bytes / 64 * 64;
  if (whole < bytes) std::memcpy(dst + whole, src + whole, bytes - whole);
}

/// Into the second-level cache: what is asked for lies one or two columns ahead, and the first level is no larger than
/// a column.
void prefetch(const char* at, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(at + k, 0, 2);
}

/// A position in a run list, counted in packed elements.
struct Cursor {
  const RunList* list;
  std::size_t run = 0;
  std::int64_t t = 0; ///< piece of the run
  std::int64_t k = 0; ///< element of the piece

  Cursor(const RunList& runs, std::int64_t offset) : list(&runs) {
    for (; run < runs.runs.size(); ++run) {
      const Run& r = runs.runs[run];
      const std::int64_t size = r.len * r.count;
      if (offset < size) {
        t = offset / r.len;
        k = offset % r.len;
        return;
      }
      offset -= size;
    }
  }
  bool at_end() const { return run >= list->runs.size(); }
  const Run& here() const { return list->runs[run]; }
  std::int64_t from() const { return here().from + t * here().from_step + k; }
  std::int64_t to() const { return here().to + t * here().to_step + k; }
  std::int64_t index(bool source) const { return source ? from() : to(); }
  std::int64_t left_in_piece() const { return here().len - k; }
  /// By at most left_in_piece().
  void advance(std::int64_t by) {
    k += by;
    if (k < here().len) return;
    k = 0;
    if (++t < here().count) return;
    t = 0;
    do ++run;
    while (run < list->runs.size() && here().len * here().count == 0);
  }
};

/// `count` pieces of Bytes bytes; steps in bytes. The size being known to the compiler, no call is made per
/// piece.
template <std::size_t Bytes>
void copy_fixed(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step, std::int64_t count) {
  for (std::int64_t t = 0; t < count; ++t) {
    std::memcpy(dst, src, Bytes);
    dst += dst_step;
    src += src_step;
  }
}

void copy_pieces(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step, std::int64_t count,
                 std::size_t bytes) {
  switch (bytes) {
  case 4:
    return copy_fixed<4>(dst, dst_step, src, src_step, count);
  case 8:
    return copy_fixed<8>(dst, dst_step, src, src_step, count);
  case 12:
    return copy_fixed<12>(dst, dst_step, src, src_step, count);
  case 16:
    return copy_fixed<16>(dst, dst_step, src, src_step, count);
  case 24:
    return copy_fixed<24>(dst, dst_step, src, src_step, count);
  case 32:
    return copy_fixed<32>(dst, dst_step, src, src_step, count);
  case 48:
    return copy_fixed<48>(dst, dst_step, src, src_step, count);
  case 64:
    return copy_fixed<64>(dst, dst_step, src, src_step, count);
  case 128:
    return copy_fixed<128>(dst, dst_step, src, src_step, count);
  case 256:
    return copy_fixed<256>(dst, dst_step, src, src_step, count);
  default:
    break;
  }
  for (std::int64_t t = 0; t < count; ++t) {
    std::memcpy(dst, src, bytes);
    dst += dst_step;
    src += src_step;
  }
}

/// Fills packed memory from its beginning to its end. Around the cache, line by line: what does not make up whole lines
/// waits in `stage_` for what comes after it.
class PackedWriter {
public:
  PackedWriter(char* at, bool non_temporal) : at_(at), non_temporal_(non_temporal) {}

  void put(const char* from, std::size_t bytes) {
    if (!non_temporal_) {
      std::memcpy(at_, from, bytes);
      at_ += bytes;
      return;
    }
    if (used_ == 0 &&
        (bytes | reinterpret_cast<std::uintptr_t>(at_)) % 64 == 0) { // as with blocks of a multiple of eight doubles
      copy_lines_avx2(at_, from, bytes / 64);
      at_ += bytes;
      return;
    }
    if (bytes < non_temporal_from) {
      if (used_ + bytes > sizeof stage_) drain();
      std::memcpy(stage_ + used_, from, bytes);
      used_ += bytes;
      return;
    }
    const std::size_t fill = (64 - (reinterpret_cast<std::uintptr_t>(at_) + used_) % 64) % 64;
    if (used_ + fill > sizeof stage_) drain();
    std::memcpy(stage_ + used_, from, fill);
    used_ += fill;
    drain();
    const std::size_t lines = (bytes - fill) / 64;
    copy_lines_avx2(at_, from + fill, lines);
    at_ += lines * 64;
    used_ = bytes - fill - lines * 64;
    std::memcpy(stage_, from + fill + lines * 64, used_);
  }
  /// `count` pieces of `bytes` bytes, together at most room_at_once.
  void put_pieces(const char* from, std::int64_t step, std::int64_t count, std::size_t bytes) {
    const auto all = static_cast<std::size_t>(count) * bytes;
    if (non_temporal_ && used_ + all > sizeof stage_) drain();
    copy_pieces(non_temporal_ ? stage_ + used_ : at_, static_cast<std::int64_t>(bytes), from, step, count, bytes);
    if (non_temporal_)
      used_ += all;
    else
      at_ += all;
  }
  static constexpr std::size_t room_at_once = 1024;
  /// Writes what still waits.
  void end() {
    drain();
    std::memcpy(at_, stage_, used_);
    at_ += used_;
    used_ = 0;
  }

private:
  /// Writes what is whole lines of it, and the part of a line that it may begin with.
  void drain() {
    const std::size_t head = std::min(used_, (64 - reinterpret_cast<std::uintptr_t>(at_) % 64) % 64);
    std::memcpy(at_, stage_, head);
    const std::size_t lines = (used_ - head) / 64, done = head + lines * 64;
    copy_lines_avx2(at_ + head, stage_ + head, lines);
    at_ += done;
    used_ -= done;
    std::memmove(stage_, stage_ + done, used_);
  }

  char* at_;
  bool non_temporal_;
  std::size_t used_ = 0;
  alignas(64) char stage_[2 * room_at_once];
};

void copy_pieces_non_temporal(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step,
                              std::int64_t count, std::size_t bytes, std::int64_t distance = 0) {
  for (std::int64_t t = 0; t < count; ++t) {
    if (distance != 0) prefetch(src + distance, bytes);
    copy_non_temporal(dst, src, bytes);
    dst += dst_step;
    src += src_step;
  }
}

/// All rows of one column from packed memory into an array.
void unpack_column(const PackedView& view, char* column, const char* packed) {
  const int esize = view.esize;
  for (const Run& r : view.rows->runs) {
    const std::size_t bytes = static_cast<std::size_t>(r.len * esize);
    char* at = column + r.to * esize;
    const std::int64_t step = r.to_step * esize;
    const auto dense = static_cast<std::int64_t>(bytes);
    if (r.count == 1 || step == dense) {
      const std::size_t all = bytes * static_cast<std::size_t>(r.count);
      if (view.non_temporal && all >= non_temporal_from)
        copy_non_temporal(at, packed, all);
      else
        std::memcpy(at, packed, all);
    } else if (view.non_temporal && bytes >= non_temporal_from) {
      copy_pieces_non_temporal(at, step, packed, dense, r.count, bytes);
    } else {
      copy_pieces(at, step, packed, dense, r.count, bytes);
    }
    packed += dense * r.count;
  }
}

/// What will be read soon: asked for at `pace` sixteenths of the bytes copied. Or, when only one message leaves a
/// column, the same piece of a column `far` bytes on: the processor's own prefetching starts anew at every piece.
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

/// Bytes between two prefetches.
constexpr auto stretch_bytes = static_cast<std::int64_t>(PackedWriter::room_at_once);

/// All rows of one column into packed memory.
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

/// All rows of one column that stay on this rank.
void copy_column(const PackedView& source, const PackedView& target, const char* from, char* to, Prefetch& next) {
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
        copy_pieces(dst + t * dst_step, dst_step, src + t * src_step, src_step, now, static_cast<std::size_t>(bytes));
      }
    }
  }
}

/// Calls take(column, row, rows) for packed elements first .. first+count-1, column by column: packed rows row ..
/// row+rows-1 of that column.
template <class Take> void walk(const PackedView& view, std::int64_t first, std::int64_t count, Take&& take) {
  if (count <= 0) return;
  const std::int64_t height = view.rows->total;
  Cursor col(*view.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    const std::int64_t now = std::min(count, height - row);
    take(view.base + col.index(view.is_source) * view.lld * view.esize, row, now);
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

void pack_columns(const PackedView& view, std::int64_t first, std::int64_t count, char* packed, bool non_temporal) {
  PackedWriter writer(packed, non_temporal);
  Prefetch next;
  next.far = 2 * view.lld * view.esize;
  walk(view, first, count, [&](char* column, std::int64_t row, std::int64_t rows) {
    if (rows == view.rows->total)
      pack_column(view, column, writer, next);
    else
      walk_part_of_column(view, column, row, rows, [&](const char* at, std::size_t bytes) { writer.put(at, bytes); });
  });
  writer.end();
}

void unpack_columns(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed) {
  walk(view, first, count, [&](char* column, std::int64_t row, std::int64_t rows) {
    if (rows == view.rows->total) {
      unpack_column(view, column, packed);
      packed += rows * view.esize;
    } else {
      walk_part_of_column(view, column, row, rows, [&](char* at, std::size_t bytes) {
        std::memcpy(at, packed, bytes);
        packed += bytes;
      });
    }
  });
}

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
        std::memcpy(column + low * view.esize, packed + (low - i) * view.esize,
                    static_cast<std::size_t>((high - low) * view.esize));
      packed += now * view.esize;
      left -= now;
      at.advance(now);
    }
    row = 0;
    col.advance(1);
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

bool non_temporal_is_possible() noexcept {
  return has_non_temporal_stores;
}

int element_size(char type) noexcept {
  switch (type) {
  case 's':
  case 'i':
    return 4;
  case 'd':
  case 'c':
    return 8;
  case 'z':
    return 16;
  default:
    return 0;
  }
}

void PackedView::pack(std::int64_t first, std::int64_t count, char* packed, bool stores_non_temporal) const {
  if (count <= 0) return;
  if (stores_non_temporal && (transposed || conj_size != 0)) { // not in order, or touched twice: in the cache first
    const auto bytes = static_cast<std::size_t>(count * esize);
    const std::unique_ptr<char[]> buffer(new char[bytes]);
    pack(first, count, buffer.get());
    copy_non_temporal(packed, buffer.get(), bytes);
  } else if (transposed) {
    pack_transposed(*this, first, count, packed);
  } else {
    pack_columns(*this, first, count, packed, stores_non_temporal);
  }
  if (stores_non_temporal) return finish_non_temporal();
  if (conj_size == 4) negate_odd<float>(packed, count);
  if (conj_size == 8) negate_odd<double>(packed, count);
}

void PackedView::unpack(std::int64_t first, std::int64_t count, const char* packed) const {
  if (row_limits != nullptr) return unpack_limited(*this, first, count, packed);
  unpack_columns(*this, first, count, packed);
  if (non_temporal) finish_non_temporal();
}

char* PackedView::contiguous(std::int64_t first, std::int64_t& count) const {
  count = 0;
  if (transposed || conj_size != 0 || row_limits != nullptr || elements() == 0) return nullptr;
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

bool can_pack_together(const PackedView& source, const PackedView* target) noexcept {
  return !source.transposed && (target == nullptr || (source.conj_size == 0 && target->row_limits == nullptr));
}

namespace {

/// Pieces of less than that in the mean are not worth an order of their own.
constexpr std::int64_t shortest_mean_bytes = 128;

std::vector<ColumnOrder::CopyRun> copy_runs_of(const std::vector<Outgoing>& all) {
  std::vector<ColumnOrder::CopyRun> runs;
  std::int64_t bytes = 0, pieces = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::int64_t esize = all[k].source->esize;
    const bool is_packed = all[k].target == nullptr;
    std::int64_t next = 0;
    for (const Run& r : all[k].source->rows->runs) {
      if (r.len * r.count == 0) continue;
      const bool is_ascending = r.from >= next && (r.count == 1 || r.from_step >= r.len);
      if (is_packed && !is_ascending) return {};
      next = r.from + (r.count - 1) * r.from_step + r.len;
      const bool is_dense = r.from_step == r.len && (is_packed || r.to_step == r.len);
      const std::int64_t count = is_dense ? 1 : r.count, len = is_dense ? r.len * r.count : r.len;
      pieces += count;
      bytes += r.len * r.count * esize;
      if (pieces > bytes / shortest_mean_bytes + 16) return {};
      for (std::int64_t t = 0; t < count; ++t)
        runs.push_back({k, (r.from + t * r.from_step) * esize, (r.to + t * r.to_step) * esize,
                        static_cast<std::size_t>(len * esize)});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  return runs;
}

} // namespace

ColumnOrder::ColumnOrder(const std::vector<Outgoing>& all) : runs_(copy_runs_of(all)) {}

namespace {

/// One column, as `order` says. @param to its index in the target of what stays here
void pack_in_order(const std::vector<Outgoing>& all, const ColumnOrder& order, const char* column, std::int64_t to,
                   std::vector<PackedWriter>& packed) {
  for (const ColumnOrder::CopyRun& run : order.runs()) {
    const PackedView* target = all[run.who].target;
    if (target == nullptr) {
      packed[run.who].put(column + run.from, run.bytes);
      continue;
    }
    char* at = target->base + to * target->lld * target->esize + run.to;
    if (target->non_temporal && run.bytes >= non_temporal_from)
      copy_non_temporal(at, column + run.from, run.bytes);
    else
      std::memcpy(at, column + run.from, run.bytes);
  }
}

/// One column, one message after the other.
void pack_in_turn(const std::vector<Outgoing>& all, const char* column, std::int64_t to,
                  std::vector<PackedWriter>& packed, Prefetch next) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    const PackedView* target = all[k].target;
    if (target == nullptr)
      pack_column(*all[k].source, column, packed[k], next);
    else
      copy_column(*all[k].source, *target, column, target->base + to * target->lld * target->esize, next);
  }
}

/// The rows from the first to the last that any of the messages takes, in bytes of a column, to be asked for while the
/// column before is copied: at a pace that is their share of what is copied. Nothing when too few of them are taken.
Prefetch next_column(const std::vector<Outgoing>& all, std::int64_t esize) {
  std::int64_t begin = INT64_MAX, end = 0, taken = 0;
  for (const Outgoing& one : all) {
    taken += one.source->rows->total;
    for (const Run& r : one.source->rows->runs) {
      begin = std::min(begin, r.from);
      end = std::max(end, r.from + (r.count - 1) * r.from_step + r.len);
    }
  }
  Prefetch next;
  if (taken == 0) return next;
  next.left = (end - begin) * esize;
  next.pace = (next.left * 16 + taken * esize - 1) / (taken * esize);
  if (next.pace > 4 * 16) return {};
  next.from_top = begin * esize;
  return next;
}

} // namespace

void pack_together(const std::vector<Outgoing>& all, const ColumnOrder& order, std::int64_t first, std::int64_t count) {
  if (all.empty() || count <= 0) return;
  const PackedView& view = *all.front().source;
  const std::int64_t stride = view.lld * view.esize;
  std::vector<PackedWriter> packed;
  packed.reserve(all.size());
  for (const Outgoing& one : all) packed.emplace_back(one.packed, one.non_temporal && one.source->conj_size == 0);
  const bool is_ordered = !order.runs().empty();
  const Prefetch next = is_ordered ? Prefetch{} : next_column(all, view.esize);
  Cursor col(*view.cols, first);
  for (std::int64_t c = 0; c < count; ++c) {
    const char* column = view.base + col.from() * stride;
    const std::int64_t to = col.to();
    col.advance(1);
    if (is_ordered)
      pack_in_order(all, order, column, to, packed);
    else
      pack_in_turn(all, column, to, packed, col.at_end() ? Prefetch{} : next.of(view.base + col.from() * stride));
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    const PackedView& source = *all[k].source;
    if (all[k].target != nullptr) {
      if (all[k].target->non_temporal) finish_non_temporal();
      continue;
    }
    packed[k].end();
    if (all[k].non_temporal) finish_non_temporal();
    if (source.conj_size == 4) negate_odd<float>(all[k].packed, source.rows->total * count);
    if (source.conj_size == 8) negate_odd<double>(all[k].packed, source.rows->total * count);
  }
}

void copy_direct(const PackedView& source, const PackedView& target, std::int64_t first, std::int64_t count) {
  if (count <= 0) return;
  const int esize = source.esize;
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
  const std::int64_t height = source.rows->total;
  Cursor col(*source.cols, first / height);
  std::int64_t row = first % height;
  while (count > 0) {
    const char* src = source.base + col.from() * source.lld * esize;
    char* dst = target.base + col.to() * target.lld * esize;
    const std::int64_t now = std::min(count, height - row);
    if (now == height) {
      for (const Run& r : source.rows->runs) {
        auto bytes = static_cast<std::size_t>(r.len * esize);
        std::int64_t pieces = r.count;
        if (r.from_step == r.len && r.to_step == r.len) {
          bytes *= static_cast<std::size_t>(pieces);
          pieces = 1;
        }
        if (target.non_temporal && bytes >= non_temporal_from)
          copy_pieces_non_temporal(dst + r.to * esize, r.to_step * esize, src + r.from * esize, r.from_step * esize,
                                   pieces, bytes, bytes <= 4096 ? 2 * source.lld * esize : 0);
        else
          copy_pieces(dst + r.to * esize, r.to_step * esize, src + r.from * esize, r.from_step * esize, pieces, bytes);
      }
    } else {
      Cursor at(*source.rows, row);
      for (std::int64_t left = now; left > 0;) {
        const std::int64_t part = std::min(left, at.left_in_piece());
        std::memcpy(dst + at.to() * esize, src + at.from() * esize, static_cast<std::size_t>(part * esize));
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
