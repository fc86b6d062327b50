// SPDX-License-Identifier: BSD-3-Clause
// Cost of moving matrices from grid to grid, before they are planned. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "advise/machine.hpp"
#include "base/grid_shape.hpp"
#include "base/names.hpp"

namespace redist {

/// Over which processes of a grid a matrix is; the numbers of DYNGRID_ON_GRID and those behind it.
enum class Over {
  grid,
  row,         ///< over all, as one row of processes
  column,      ///< likewise
  first,       ///< the first rows and columns; of 1 x 1: process (0, 0)
  all,         ///< each has the whole matrix
  each_row,    ///< each process row has, over its processes
  each_column, ///< each process column has
};

/// As users write them.
inline const base::Names& over_names() {
  static const base::Names names{"grid", "row", "column", "first", "all", "each-row", "each-column"};
  return names;
}

/// The grid over which its rows and columns are, one of its copies. most: rows and columns of Over::first.
base::GridShape processes_of(Over over, base::GridShape most, base::GridShape grid);

/// Properties of a matrix on which its exchange depends. A field is taken as the matrix of its first dimensions by its
/// last ones.
struct MatrixSize {
  std::int64_t m = 0, n = 0;   ///< in elements
  std::int64_t mb = 0, nb = 0; ///< of a block; 0: one block for each process
  int element_bytes = 8;
  Over over = Over::grid;
  base::GridShape most{1, 1}; ///< rows and columns of Over::first
};

/// advise::exchange_cost of all of them, each moved as it comes (Schedule::async) between grids whose ranks are
/// row-major. Copies are counted as if they were one matrix over the grid.
advise::Cost predict_exchange(const std::vector<MatrixSize>& matrices, base::GridShape from, base::GridShape to,
                              const advise::Machine& machine);

/// The first rows and columns of `grid` that hold all processes with elements of some matrix: fewer where there are
/// fewer blocks. The grid itself without a matrix.
base::GridShape used_grid(const std::vector<MatrixSize>& matrices, base::GridShape grid);

} // namespace redist
