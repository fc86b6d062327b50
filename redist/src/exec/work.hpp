// SPDX-License-Identifier: BSD-3-Clause
// What one rank has to do in an exchange. Pure, no MPI.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "exec/stream.hpp"
#include "pack/packed_view.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

/// One of several rounds: the s-th part of every column run of every message.
struct Slab {
  int index = 0;
  int of = 1;
  /// Columns of run r of which this slab takes `columns`, from the `skip`-th on.
  void part_of(const Run& r, std::int64_t& skip, std::int64_t& columns) const;
};

/// Both ends of what stays here, or of what is read straight from another rank's array.
struct LocalCopy {
  PackedView source;
  PackedView target;
  std::int64_t first = 0;
  std::int64_t count = 0;
  int transfer = 0;
  int peer = -1; ///< whose array it is, -1: mine
};

struct Work {
  std::vector<Stream> out; ///< the next higher rank's first, so that not all ranks fall on the same receiver
  std::vector<Stream> in;
  std::unordered_map<int, std::size_t> in_of_rank;
  std::vector<LocalCopy> copies; ///< the last one is done first
  std::int64_t bytes_kept = 0;

  std::int64_t bytes_out() const; ///< of all streams
  std::int64_t bytes_in() const;
  /// Puts in where the matrices lie, one of `pointers` for each, and goes back to the beginning of all streams.
  void bind(const std::vector<Pointers>& pointers);
};

/// Puts the pointers into one end of a message.
void bind(PackedView& view, const Pointers& pointers);

/// From what size on a target is stored non-temporally, and panels are: less is better left in it.
constexpr std::int64_t non_temporal_bytes = std::int64_t{1} << 20;

/// Whether rank `rank` of `size` can do this, wherever the matrices lie. @throws Error{bad_type, bad_argument,
/// null_pointer}
void check_plans(const std::vector<const RankPlan*>& plans, int rank, int size);
/// Whether this rank's shares can lie there. @throws Error{bad_argument, null_pointer}
void check_pointers(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers, int rank,
                    int size);

/// @param plans valid ones
/// @param is_shared whether what goes to and comes from a rank passes through shared memory
/// Cost: time and memory O(messages and pieces of this rank).
Work work_of(const std::vector<const RankPlan*>& plans, Slab slab, int rank, int size,
             const std::function<bool(int)>& is_shared);

/// Gets the pages of targets that were not written to yet: one page fault per 4 KiB while unpacking would cost more
/// than the copying itself.
void prepare_targets(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers);

} // namespace redist::detail
