// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

/// In which order the positions of an axis get what is theirs.
enum class DealOrder {
  block = 1, ///< one stretch for each
  cyclic = 2 ///< in rounds: as many as the position with the least has blocks, or a divisor or limit of that
};

/// n elements in whole blocks of nb (the last one cut short) for positions with these shares, which are proportions. No
/// shares: all are alike, and the axis is uniform. Otherwise each position has blocks by largest remainder, at least
/// one where there are enough.
/// @throws Error{bad_argument}
Axis deal_out(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<double>& shares, DealOrder order);

} // namespace gridmap
