// SPDX-License-Identifier: BSD-3-Clause
// Preemptive open shop: the times of all messages, one partner at a time, in the shortest time there is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redist::detail {

struct Edge {
  int source = 0;
  int target = 0;
  std::int64_t weight = 0; ///< at least 1
};

/// In step k every source sends `length[k]` to at most one target, every target receives from at most one
/// source.
struct Matchings {
  int sources = 0;
  int targets = 0;
  std::vector<std::int64_t> length;
  std::vector<int> target_of; ///< [step * sources + source], -1 for none
  std::vector<int> source_of; ///< [step * targets + target]

  std::size_t steps() const { return length.size(); }
  std::int64_t total() const;
};

/// Splits the edges into matchings. Their lengths add up to exactly the largest sum of the edges of one source or
/// target: no schedule is shorter. By Gonzalez and Sahni's rule a matching which covers all critical nodes always
/// exists. Taken is the longest such matching that halving a threshold finds, to keep steps few.
///
/// `first` (empty: none): by source, the target that it should have in the first step, -1 for none; a
/// matching along edges. It is kept for as long as the total allows, which may be no time at all.
/// Deterministic. Stops with `false` once it has spent `budget` elementary operations (0: no limit), `result`
/// is then empty.
bool open_shop(int sources, int targets, const std::vector<Edge>& edges, std::int64_t budget, Matchings& result,
               const std::vector<int>& first = {});

} // namespace redist::detail
