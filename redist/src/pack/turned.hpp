// SPDX-License-Identifier: BSD-3-Clause
// What only transposed, conjugated and trapezoidal matrices need.
#pragma once
#include <cstdint>

#include "pack/packed_view.hpp"

namespace redist::detail {

/// PackedView::pack() where packed columns are rows of the array.
void pack_transposed(const PackedView& view, std::int64_t first, std::int64_t count, char* packed);
/// Packed columns first_column .. first_column+columns-1 straight from a transposed source into another array: tile by
/// tile through a buffer that fits the first-level cache.
void copy_transposed(const PackedView& source, const PackedView& target, std::int64_t first_column,
                     std::int64_t columns);
/// PackedView::unpack() where only some rows of each column may be written.
void unpack_limited(const PackedView& view, std::int64_t first, std::int64_t count, const char* packed);
/// Changes the sign of the imaginary parts of `count` packed elements, when the view says so.
void conjugate(const PackedView& view, char* packed, std::int64_t count);

} // namespace redist::detail
