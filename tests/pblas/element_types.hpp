// SPDX-License-Identifier: BSD-3-Clause
// Real and complex elements alike, and matrices of them on one process, for the tests of kernels and factorizations.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

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

/// Column-major.
template <class T> struct Dense {
  int m, n;
  std::vector<T> x;

  Dense(int rows, int cols) : m(rows), n(cols), x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {}
  T& operator()(std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i + j * m)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i + j * m)]; }
  int ld() const { return m > 1 ? m : 1; }
};
template <class T> double largest(const Dense<T>& a) {
  double most = 0;
  for (const T& x : a.x)
    most = std::isnan(std::abs(x)) ? std::numeric_limits<double>::infinity() : std::max<double>(most, std::abs(x));
  return most;
}
template <class T> double difference(Dense<T> a, const Dense<T>& b) {
  for (std::size_t k = 0; k < a.x.size(); ++k) a.x[k] -= b.x[k];
  return largest(a);
}

} // namespace elements
