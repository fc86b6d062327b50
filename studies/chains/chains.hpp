// SPDX-License-Identifier: BSD-3-Clause
// Items in a row, dealt out to processes of different speed, beyond gridmap/chain.hpp: processes in any order, and time
// against movement. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "advise/chain.hpp"

namespace chains {

using advise::ChainRequest;

/// The process order[i] has the items first[i] .. first[i+1]-1; first[0] = 0, the last one is the number of items.
struct Chain {
  std::vector<std::int64_t> first;
  double seconds = 0;     ///< largest of cost of the stretch / speed + fixed_s
  std::vector<int> order; ///< the process at each stretch: 0, 1, ... where the order was given
  std::int64_t moved = 0; ///< weight of the items whose owner changes; 0 where no owners were given
};

/// As advise::balance_chain() where the order of the processes is free, too. Exact (`proved`) up to `most_free_order`
/// processes, by dynamic programming over sets of processes; above, exchanges of two stretches while they help, from
/// the given order.
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

} // namespace chains
