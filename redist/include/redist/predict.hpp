// SPDX-License-Identifier: BSD-3-Clause
// Cost of moving matrices from grid to grid, before they are planned. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "advise/machine.hpp"
#include "base/grid_shape.hpp"

namespace redist {

/// Properties of a matrix on which its exchange depends.
struct MatrixSize {
  std::int64_t m = 0, n = 0;   ///< in elements
  std::int64_t mb = 0, nb = 0; ///< of a block; 0: one block for each process
  int element_bytes = 8;
};

/// advise::exchange_cost of all of them, each moved as it comes (Schedule::async) between grids whose ranks are
/// row-major.
advise::Cost predict_exchange(const std::vector<MatrixSize>& matrices, base::GridShape from, base::GridShape to,
                              const advise::Machine& machine);

/// The part of `grid` whose processes have elements of some matrix: fewer rows or columns where there are fewer blocks.
/// The grid itself without a matrix.
base::GridShape used_grid(const std::vector<MatrixSize>& matrices, base::GridShape grid);

} // namespace redist
