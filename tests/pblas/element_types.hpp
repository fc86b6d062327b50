// SPDX-License-Identifier: BSD-3-Clause
// Real and complex elements alike, for the tests of kernels and factorizations.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

namespace elements {

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;
template <class T> constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

template <class T> T conj(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// Element (i, j) of matrix `seed`, between -1 and 1: a hash.
template <class T> T element_of(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  const auto number = [&](std::uint64_t salt) {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i) * 0xBF58476D1CE4E5B9u +
                      static_cast<std::uint64_t>(j) * 0x94D049BB133111EBu + salt;
    x ^= x >> 31, x *= 0xD6E8FEB86659FD93u, x ^= x >> 29, x *= 0xD6E8FEB86659FD93u, x ^= x >> 32;
    return static_cast<Real<T>>(static_cast<double>(x >> 11) / (1ull << 52) - 1);
  };
  if constexpr (is_complex<T>)
    return {number(1), number(2)};
  else
    return number(1);
}

} // namespace elements
