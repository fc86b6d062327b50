// SPDX-License-Identifier: BSD-3-Clause
// Real and complex elements alike, for the tests of kernels and factorizations.
#pragma once
#include <complex>
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

} // namespace elements
