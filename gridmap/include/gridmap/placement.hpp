// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

enum class Placement { optimal = 0, global = 1, local1 = 2, local2 = 3 }; ///< numbers of dyngrid/gridmap.h

/// Old processes are numbered row-major 0 .. P-1 in the old grid; new ones P, P+1, ...
struct PlacementRequest {
  Axis rows_from, cols_from; ///< of the matrix that counts, on the old grid (nprocs = its rows, columns)
  Axis rows_to, cols_to;     ///< the same matrix on the new grid
  Placement method = Placement::optimal;
  /// Elements that it is worth to keep old process i in the new grid when the grid shrinks (huge: must stay); empty: 0 for all. `optimal` only.
  std::vector<std::int64_t> stay_bonus;
};

struct PlacementResult {
  int nprow = 0, npcol = 0;
  std::vector<int> grid;        ///< row-major, number of the process at each position of the new grid
  std::int64_t moved_elements = 0;    ///< whose owner changes
  std::int64_t retained_elements = 0; ///< whose owner stays
  std::int64_t max_in = 0, max_out = 0; ///< elements, largest over processes
};

/// Any grid to any grid: growth, shrinking, one axis up and the other down, the same number of processes. Pure.
/// @throws Error{bad_argument, shape_mismatch}
PlacementResult place(const PlacementRequest& request);

} // namespace gridmap
