// SPDX-License-Identifier: BSD-3-Clause
#include "redist/layout.hpp"

#include <numeric>

namespace redist {

Grid Grid::row_major(int nprow, int npcol, int first_rank) {
  Grid grid{nprow, npcol, std::vector<int>(static_cast<std::size_t>(nprow) * static_cast<std::size_t>(npcol))};
  std::iota(grid.ranks.begin(), grid.ranks.end(), first_rank);
  return grid;
}

std::pair<int, int> Grid::position_of(int rank) const {
  for (int p = 0; p < nprow; ++p)
    for (int q = 0; q < npcol; ++q)
      if (rank_at(p, q) == rank) return {p, q};
  return {-1, -1};
}

} // namespace redist
