// SPDX-License-Identifier: BSD-3-Clause
// Items in a row, dealt out to processes of different speed: each gets one stretch. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace gridmap {

struct ChainRequest {
  std::vector<double> costs;  ///< of each item, in seconds at speed 1; finite, at least 0
  std::vector<double> speeds; ///< of each process, in the order of the stretches; finite, above 0
  /// Seconds of a step of each process besides its items: its messages. Counted with no item too. Empty: 0.
  std::vector<double> fixed_s;
};

/// Process i has the items first[i] .. first[i+1]-1; first[0] = 0, the last one is the number of items.
struct Chain {
  std::vector<std::int64_t> first;
  double seconds = 0; ///< largest of cost of the stretch / speed + fixed_s
};

/// The stretches with the least largest time, for processes in the given order. Exact: no other stretches are faster.
/// Zero-cost items and processes without items are allowed.
/// Source: the parametric search of Pinar, Tabak, Aykanat 2008, over prefix sums; by bisection until no smaller double
/// can be reached.
/// Cost: O(processes * log items) for each of some 60 probes.
/// @throws Error{bad_argument, shape_mismatch}
Chain balance_chain(const ChainRequest& request);

/// A matrix of cells with unequal work on a grid whose places are given: row i of the grid gets one stretch of the
/// matrix's rows, column j one of its columns.
struct CellsRequest {
  std::int64_t m = 0, n = 0;
  std::vector<double> costs; ///< row-major m x n, seconds at speed 1; finite, at least 0
  int nprow = 1, npcol = 1;
  std::vector<double> speeds;  ///< row-major, of the processes; finite, above 0
  std::vector<double> fixed_s; ///< row-major; empty: 0
};

struct Cells {
  std::vector<std::int64_t> first_row, first_col; ///< as Chain::first
  double seconds = 0;
};

/// Rows exact for the columns there are, columns exact for the rows, in turn, while the time falls: rectilinear
/// partitioning after Nicol 1994. Never slower than equal stretches. On 1 x P and P x 1 grids exact.
/// @throws Error{bad_argument, shape_mismatch}
Cells balance_cells(const CellsRequest& request);

} // namespace gridmap
