// SPDX-License-Identifier: BSD-3-Clause
#include "pack/scaled.hpp"

#include <complex>
#include <cstring>

#include "pack/walk.hpp"
#include "redist/element.hpp"

namespace redist::detail {

namespace {

template <class T> T load(const char* at) { // packed elements may be unaligned
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T> T times(T a, T b) {
  return a * b;
}
/// As Fortran multiplies, without C++'s search for infinities.
template <class R> std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

enum class Factor { zero, one, other };

template <Factor factor, class T> T scaled(T by, T value) {
  if constexpr (factor == Factor::one) return value;
  return times(by, value);
}

template <class T, Factor alpha, Factor beta>
void add_piece([[maybe_unused]] T a, [[maybe_unused]] T b, char* __restrict to,
               [[maybe_unused]] const char* __restrict from, std::int64_t length) {
  for (std::int64_t k = 0; k < length; ++k) {
    const auto at = k * static_cast<std::int64_t>(sizeof(T));
    T sum{};
    if constexpr (alpha != Factor::zero) sum = scaled<alpha>(a, load<T>(from + at));
    if constexpr (beta != Factor::zero) {
      const T old = scaled<beta>(b, load<T>(to + at));
      if constexpr (alpha != Factor::zero)
        sum += old;
      else
        sum = old; // 0 + -0 would be another zero
    }
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

template <class T, Factor alpha, Factor beta>
void add(const Scaling& by, Strided<char> to, Strided<const char> from, std::int64_t count, std::int64_t length) {
  const T a = load<T>(by.alpha), b = load<T>(by.beta);
  for (std::int64_t t = 0; t < count; ++t, to.at += to.step, from.at += from.step)
    add_piece<T, alpha, beta>(a, b, to.at, from.at, length);
}

template <class T> Factor factor_of(const char* value) {
  const T x = load<T>(value);
  return x == T(0) ? Factor::zero : x == T(1) ? Factor::one : Factor::other;
}

template <class T> Scaling::Add add_of(const Scaling& by) {
  constexpr Factor zero = Factor::zero, one = Factor::one, other = Factor::other;
  static constexpr Scaling::Add by_factors[3][3] = {{add<T, zero, zero>, add<T, zero, one>, add<T, zero, other>},
                                                    {nullptr, add<T, one, one>, add<T, one, other>},
                                                    {add<T, other, zero>, add<T, other, one>, add<T, other, other>}};
  return by_factors[static_cast<int>(factor_of<T>(by.alpha))][static_cast<int>(factor_of<T>(by.beta))];
}

} // namespace

Scaling scaling_of(char type, const void* alpha, const void* beta) {
  Scaling by;
  std::memcpy(by.alpha, alpha, static_cast<std::size_t>(element_bytes(type)));
  std::memcpy(by.beta, beta, static_cast<std::size_t>(element_bytes(type)));
  switch (type) {
  case 's':
    by.add = add_of<float>(by);
    break;
  case 'd':
    by.add = add_of<double>(by);
    break;
  case 'c':
    by.add = add_of<std::complex<float>>(by);
    break;
  case 'z':
    by.add = add_of<std::complex<double>>(by);
    break;
  default:
    by.add = add_of<std::uint32_t>(by); // an overflow of signed integers is not defined
  }
  return by;
}

void unpack_scaled(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed) {
  const int esize = view.esize;
  walk(view, first, count, [&](std::int64_t j, std::int64_t row, std::int64_t rows) {
    char* const column = view.column(j);
    if (rows < view.rows->total) {
      walk_part_of_column(view, column, row, rows, [&](char* at, std::size_t bytes) {
        put(view, at, packed, bytes);
        packed += bytes;
      });
      return;
    }
    for (const Run& r : view.rows->runs) {
      view.scaling->add(*view.scaling, {column + r.to * esize, r.to_step * esize}, {packed, r.len * esize}, r.count,
                        r.len);
      packed += r.len * r.count * esize;
    }
  });
}

void add_column(const PackedView& source, const PackedView& target, const char* from, char* to) {
  const int esize = source.esize;
  for (const Run& r : source.rows->runs)
    target.scaling->add(*target.scaling, {to + r.to * esize, r.to_step * esize},
                        {from + r.from * esize, r.from_step * esize}, r.count, r.len);
}

} // namespace redist::detail
