// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "gridmap/axis.hpp"

namespace redist {

/// A process grid as numbers: ranks in some communicator, row-major. No MPI here.
struct Grid {
  int nprow = 0;
  int npcol = 0;
  std::vector<int> ranks; ///< ranks[p * npcol + q] is the rank at grid position (p, q); every rank at most once

  static Grid row_major(int nprow, int npcol, int first_rank = 0);
  int rank_at(int p, int q) const { return ranks[static_cast<std::size_t>(p) * static_cast<std::size_t>(npcol) + static_cast<std::size_t>(q)]; }
  /// (row, column) of a rank, (-1, -1) when it is not in the grid.
  std::pair<int, int> position_of(int rank) const;
  int size() const { return nprow * npcol; }
};

/// A matrix spread over a grid: the product of two axes.
struct Layout {
  gridmap::Axis rows;
  gridmap::Axis cols;
  Grid grid;
};

} // namespace redist
