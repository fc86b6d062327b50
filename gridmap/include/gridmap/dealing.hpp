// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

/// Order in which the positions of an axis get their blocks.
enum class DealOrder {
  block = 1,  ///< one stretch for each
  cyclic = 2, ///< in rounds: as many as the position with the least has blocks, or a divisor or limit of that
  factor = 3  ///< as factor_order(): each has its share of the remaining matrix at any step of a factorization
};

/// Which position has each of `blocks` blocks of one axis, so that a factorization, which works on all blocks from the
/// k-th on for k = 0, 1, ..., is balanced in all its steps. Blocks are handed out from the last to the first, each to
/// the position that is done first with one more: the blocks from any k on then take as little time as any allocation
/// of them lets them, and the sum over all steps is the least there is. Relatives: [BoudetRastelloRobert1999],
/// [LastovetskyReddy2007].
/// @throws Error{bad_argument}
std::vector<int> factor_order(std::int64_t blocks, const std::vector<double>& speeds);

/// An axis of which each block of nb lies on its owner, one of 0 .. nprocs-1 (the last block cut short): a size of 0
/// skips a position.
Axis axis_of_owners(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<int>& owners);

/// Work of the columns from `first` to before `end` of an LU of an m x n matrix, or of a Cholesky factorization, in
/// elements that are updated: the sum of (m - j) (n - j). Columns from min(m, n) on have none.
double factor_work(std::int64_t m, std::int64_t n, std::int64_t first, std::int64_t end);

/// n elements in whole blocks of nb (the last one cut short) for positions with these shares, which are proportions. No
/// shares: all are alike, and the axis is uniform. Otherwise each position has blocks by largest remainder, at least
/// one where there are enough and its share is not 0. In factor order a size of 0 skips a position, and blocks are
/// joined where the list would be long.
/// @throws Error{bad_argument}
Axis deal_out(std::int64_t n, std::int64_t nb, int nprocs, const std::vector<double>& shares, DealOrder order);

} // namespace gridmap
