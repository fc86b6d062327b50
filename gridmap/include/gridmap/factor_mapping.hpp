// SPDX-License-Identifier: BSD-3-Clause
// Processors of different speed for an LU or Cholesky factorization, which works on less of the matrix at every step.
// Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/mapping.hpp"

namespace gridmap {

/// The owners of the blocks of nb rows and of nb columns.
struct FactorMapping {
  Mapping map;                             ///< places and shares; rows and cols are those of the blocks
  std::vector<int> row_owners, col_owners; ///< of each block, the grid row or column
  double t_steps = 0;                      ///< sum over steps of the slowest processor's rows * cols / speed
  double t_cyclic = 0;                     ///< the same with blocks dealt out in turn, on the same places
  double t_least = 0;                      ///< if all speed were used in all steps
};

/// Step k works on the rows and columns of all blocks from the k-th on. Places as map_processors() has them (in_place:
/// as they are given), blocks of rows and columns in factor_order() of their shares, then exchanges of owners while
/// they make t_steps less. On one axis of whole blocks that is the least there is.
/// @throws Error{bad_argument, shape_mismatch}
FactorMapping map_for_factors(const MappingRequest& request, std::int64_t nb, bool in_place = false);

} // namespace gridmap
