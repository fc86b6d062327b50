// SPDX-License-Identifier: BSD-3-Clause
// What only B := alpha op(A) + beta B needs, with alpha and beta other than 1 and 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pack/copy.hpp"
#include "pack/packed_view.hpp"

namespace redist::detail {

/// Alpha and beta of one matrix. The rules are those of PxGEADD: with alpha = 0 no element of A is read, with beta = 0
/// none of B, so that a NaN there does no harm.
struct Scaling {
  /// For `count` pieces of `length` elements: what lies at `to` becomes alpha * from + beta * to. `from` may be
  /// unaligned; the two do not overlap.
  using Add = void (*)(const Scaling&, Strided<char> to, Strided<const char> from, std::int64_t count,
                       std::int64_t length);
  Add add = nullptr; ///< null: alpha is 1 and beta is 0, an ordinary copy
  alignas(16) char alpha[16] = {};
  alignas(16) char beta[16] = {};
};

/// @param type s d c z i; integers are added and multiplied modulo 2^32
/// @param alpha, beta elements of that type
Scaling scaling_of(char type, const void* alpha, const void* beta);

/// PackedView::unpack() of a target with a scaling, without row limits.
void unpack_scaled(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed);
/// All rows of a message from a column of the source straight to one of the target, which has a scaling.
void add_column(const PackedView& source, const PackedView& target, const char* from, char* to);
/// Elements that lie one after the other on both sides.
inline void put(const PackedView& target, char* to, const char* from, std::size_t bytes) {
  if (target.scaling == nullptr)
    std::memcpy(to, from, bytes);
  else
    target.scaling->add(*target.scaling, {to, 0}, {from, 0}, 1, static_cast<std::int64_t>(bytes) / target.esize);
}

} // namespace redist::detail
