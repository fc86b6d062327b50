// SPDX-License-Identifier: BSD-3-Clause
// A matrix of cells with unequal work on a grid whose places are given: row i of the grid gets one stretch of the
// matrix's rows, column j one of its columns. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "base/cut.hpp"

namespace advise {

using base::Borders;

struct CellsRequest {
  std::int64_t m = 0, n = 0;
  std::vector<double> costs; ///< row-major m x n, seconds at speed 1; finite, at least 0
  int nprow = 1, npcol = 1;
  std::vector<double> speeds; ///< row-major, of the processes; finite, above 0
};

struct Cells {
  Borders first_row, first_col;
  double seconds = 0; ///< of the slowest process
};

/// Rows exact for the present columns, columns exact for the rows, in turn, while the time falls: rectilinear
/// partitioning after Nicol 1994. Never slower than equal stretches. On 1 x P and P x 1 grids exact.
/// @throws Error{bad_argument, shape_mismatch}
Cells balance_cells(const CellsRequest& request);

} // namespace advise
