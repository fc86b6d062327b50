// SPDX-License-Identifier: BSD-3-Clause
// Copying stretches of memory, through the cache and past it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace redist::detail {

/// True when this processor can store past its cache (non-temporal).
bool non_temporal_is_possible() noexcept;

// Non-temporal stores avoid the read of every target line before it is written, which is half of the traffic when a
// panel in cache is unpacked into a large array (docs/results.md). Only whole lines are stored this way. The size of an
// exchange decides, not whether two cores share a cache: that changes while a program runs, and a wrong choice costs
// twice the time.

/// Whole lines of 64 bytes; dst is the beginning of one.
void copy_lines(char* dst, const char* src, std::size_t lines);
/// To be called before others are notified of what was stored.
void finish_non_temporal();

/// Pieces below this go through the cache: too few whole lines.
constexpr std::size_t non_temporal_from = 192;

inline void copy_non_temporal(char* dst, const char* src, std::size_t bytes) {
  const std::size_t head = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(dst) % 64) % 64);
  if (head > 0) {
    std::memcpy(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
  }
  copy_lines(dst, src, bytes / 64);
  const std::size_t whole = bytes / 64 * 64;
  if (whole < bytes) std::memcpy(dst + whole, src + whole, bytes - whole);
}

/// Into the second-level cache: what is asked for lies one or two columns ahead, and the first level is no larger than
/// a column.
inline void prefetch(const char* at, std::size_t bytes) {
  for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(at + k, 0, 2);
}

/// Pieces, each `step` bytes after the one before.
template <class Byte> struct Strided {
  Byte* at;
  std::int64_t step;
};

/// `count` pieces of `bytes` bytes.
void copy_pieces(Strided<char> to, Strided<const char> from, std::int64_t count, std::size_t bytes);
/// The same with non-temporal stores. @param distance from each piece to one that will be read later, 0: none
void copy_pieces_non_temporal(Strided<char> to, Strided<const char> from, std::int64_t count, std::size_t bytes,
                              std::int64_t distance = 0);

} // namespace redist::detail
