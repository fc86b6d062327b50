// SPDX-License-Identifier: BSD-3-Clause
#include "pack/copy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace redist::detail {

#if defined(__x86_64__)
__attribute__((target("avx2"))) void copy_lines(char* dst, const char* src, std::size_t lines) {
  for (; lines > 0; --lines, dst += 64, src += 64) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), b);
  }
}
static const bool has_non_temporal_stores = __builtin_cpu_supports("avx2") != 0;
void finish_non_temporal() {
  _mm_sfence();
}
#else
void copy_lines(char* dst, const char* src, std::size_t lines) {
  std::memcpy(dst, src, lines * 64);
}
static const bool has_non_temporal_stores = false;
void finish_non_temporal() {}
#endif

bool non_temporal_is_possible() noexcept {
  return has_non_temporal_stores;
}

namespace {

/// `count` pieces of Bytes bytes. The size being known to the compiler, no call is made per piece.
template <std::size_t Bytes> void copy_fixed(Strided<char> to, Strided<const char> from, std::int64_t count) {
  for (std::int64_t t = 0; t < count; ++t, to.at += to.step, from.at += from.step) std::memcpy(to.at, from.at, Bytes);
}

} // namespace

void copy_pieces(Strided<char> to, Strided<const char> from, std::int64_t count, std::size_t bytes) {
  switch (bytes) {
  case 4:
    return copy_fixed<4>(to, from, count);
  case 8:
    return copy_fixed<8>(to, from, count);
  case 12:
    return copy_fixed<12>(to, from, count);
  case 16:
    return copy_fixed<16>(to, from, count);
  case 24:
    return copy_fixed<24>(to, from, count);
  case 32:
    return copy_fixed<32>(to, from, count);
  case 48:
    return copy_fixed<48>(to, from, count);
  case 64:
    return copy_fixed<64>(to, from, count);
  case 128:
    return copy_fixed<128>(to, from, count);
  case 256:
    return copy_fixed<256>(to, from, count);
  default:
    break;
  }
  for (std::int64_t t = 0; t < count; ++t, to.at += to.step, from.at += from.step) std::memcpy(to.at, from.at, bytes);
}

void copy_pieces_non_temporal(Strided<char> to, Strided<const char> from, std::int64_t count, std::size_t bytes,
                              std::int64_t distance) {
  for (std::int64_t t = 0; t < count; ++t, to.at += to.step, from.at += from.step) {
    if (distance != 0) prefetch(from.at + distance, bytes);
    copy_non_temporal(to.at, from.at, bytes);
  }
}

} // namespace redist::detail
