// SPDX-License-Identifier: BSD-3-Clause
// What a change of grid and blocks has to move, counted without redist. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/grid_shape.hpp"

namespace scale {

/// A square matrix in square blocks, dealt out over a grid whose ranks are row-major from 0.
struct Side {
  base::GridShape grid;
  std::int64_t nb = 1;
};

struct Change {
  std::int64_t n = 0; ///< rows and columns
  Side from, to;

  int ranks() const { return from.grid.size() > to.grid.size() ? from.grid.size() : to.grid.size(); }
};

/// Global indices, ascending, of the indices of one axis that position `p` of `nprocs` has.
std::vector<std::int64_t> indices_of(std::int64_t n, std::int64_t nb, int p, int nprocs);

/// Global rows and columns of the local array of a rank; none outside the grid.
struct Share {
  std::vector<std::int64_t> rows, cols;

  Share(std::int64_t n, const Side& side, int rank);
  std::size_t elements() const { return rows.size() * cols.size(); }
};

int owner_of(const Side& side, std::int64_t i, std::int64_t j);

/// Elements that leave and reach each rank; what stays on its rank is not counted.
struct Traffic {
  std::vector<std::int64_t> out, in;

  /// Of the busiest rank, one way. A link that carries both directions at once takes no less than this.
  std::int64_t largest() const;
};
Traffic traffic_of(const Change& change);

} // namespace scale
