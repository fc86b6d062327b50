// SPDX-License-Identifier: BSD-3-Clause
// Items in a row, dealt out to processes of different speed: everybody gets one stretch. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace gridmap {

struct ChainRequest {
  std::vector<double> costs;  ///< of each item, in seconds at speed 1; finite, at least 0
  std::vector<double> speeds; ///< of each process, in the order of the stretches; finite, above 0
  /// What a step takes of each process besides its items, in seconds: its messages. Counted with no item too. Empty: 0.
  std::vector<double> fixed_s;
};

/// Process i has the items first[i] .. first[i+1]-1; first[0] = 0, the last one is the number of items.
struct Chain {
  std::vector<std::int64_t> first;
  double seconds = 0;     ///< largest of cost of the stretch / speed + fixed_s
  std::vector<int> order; ///< the process at each stretch: 0, 1, ... where the order was given
  std::int64_t moved = 0; ///< weight of the items whose owner changes; 0 where no owners were given
};

/// The stretches with the least largest time, for processes in the given order. Exact: no other stretches are faster.
/// Zero-cost items and processes without items are allowed.
/// Source: the parametric search of Pinar, Tabak, Aykanat 2008, over prefix sums; by bisection until no smaller double
/// can be reached.
/// Cost: O(processes * log items) for each of some 60 probes.
/// @throws Error{bad_argument, shape_mismatch}
Chain balance_chain(const ChainRequest& request);

/// The same where the order of the processes is free, too. Exact (`proved`) up to `most_free_order` processes, by
/// dynamic programming over sets of processes; above, exchanges of two stretches while they help, from the given order.
struct FreeChain {
  Chain chain;
  bool proved = false;
};
constexpr int most_free_order = 12;
FreeChain balance_chain_in_any_order(const ChainRequest& request);

/// Where the items are now, and what moving one weighs.
struct ChainOwners {
  std::vector<int> owners;           ///< process of each item, as in speeds; -1: somebody who is not among them
  std::vector<std::int64_t> weights; ///< elements of each item, at least 0; empty: 1 each
};

/// The stretches in the given order that move least, among those that take at most `seconds`.
/// Cost: O(items * processes), by a window over the borders.
/// @throws Error{bad_argument, shape_mismatch}; not_found when no stretches take so little; unsupported above 2^24
/// items
///         times processes
Chain least_movement(const ChainRequest& request, const ChainOwners& now, double seconds);

/// Time against movement: stretches of which none is both faster and nearer to where the items are, fastest first. At
/// most `most` of them: when there are more, the difference in time between two neighbours is at least a `most`-th of
/// that between the first and the last.
/// @throws as least_movement
std::vector<Chain> chain_front(const ChainRequest& request, const ChainOwners& now, int most = 32);

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
