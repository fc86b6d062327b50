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
  int rank_at(int p, int q) const {
    return ranks[static_cast<std::size_t>(p) * static_cast<std::size_t>(npcol) + static_cast<std::size_t>(q)];
  }
  /// (row, column) of a rank, (-1, -1) when it is not in the grid.
  std::pair<int, int> position_of(int rank) const;
  /// Rank r becomes ranks_now[r]: the same processes in another communicator.
  void renumber(const std::vector<int>& ranks_now);
  int size() const { return nprow * npcol; }
};

/// The local array of one process. 0 x 0 outside the grid.
struct LocalSize {
  std::int64_t rows = 0, cols = 0;

  std::int64_t lld() const { return rows > 1 ? rows : 1; }
};

/// A matrix spread over a grid: the product of two axes.
///
/// An axis that is replicated is not cut, and has nprocs = 1. `cols_replicated`: each process column holds the whole
/// matrix, cut over its processes by `rows`. `rows_replicated`: each process row does, cut by `cols`. Both: each
/// process does. As a source each process takes from the copy that it has a part of, or from one of the others; as a
/// target all copies are written.
struct Layout {
  gridmap::Axis rows;
  gridmap::Axis cols;
  Grid grid;
  bool rows_replicated = false, cols_replicated = false;

  /// On the grid that the axes say, of ranks 0, 1, 2, ...
  static Layout row_major(gridmap::Axis rows, gridmap::Axis cols);
  static Layout replicated_on(Grid grid, std::int64_t m, std::int64_t n);
  bool is_replicated() const { return rows_replicated || cols_replicated; }
  /// How many processes hold each element.
  std::int64_t copies() const;
  /// Rows and columns of the local array at grid position (p, q).
  std::int64_t local_rows(int p) const;
  std::int64_t local_cols(int q) const;
  /// Where a rank is along the two axes: 0 along one that is replicated, (-1, -1) of a rank without a part.
  std::pair<int, int> axes_of(int rank) const;
  /// The local array of a rank; 0 x 0 without a part.
  LocalSize local_size_of(int rank) const;
  /// @throws Error{bad_argument, shape_mismatch} that calls this layout `which`.
  void validate(const char* which) const;
};

/// A number for how rows and columns are cut and dealt out, to compare between processes. Histories keep it: it
/// stays the same.
std::int64_t fingerprint(const std::vector<const Layout*>& layouts);

} // namespace redist
