// SPDX-License-Identifier: BSD-3-Clause
// What one rank has to do in an exchange. Pure, no MPI.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "exec/stream.hpp"
#include "pack/packed_view.hpp"
#include "pack/scaled.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

/// One of several rounds, which take about the same number of columns of each message: a long run of columns gives each
/// slab its part, successive short ones are divided as one.
struct Slab {
  int index = 0;
  int of = 1;
  /// Calls take(run, skip, columns): this slab takes `columns` of the run, from the `skip`-th on.
  template <class Take> void each_part(const RunList& list, Take&& take) const;

private:
  bool is_long(const Run& r) const { return r.len * r.count >= std::int64_t{8} * of; }
};

template <class Take> void Slab::each_part(const RunList& list, Take&& take) const {
  const std::vector<Run>& runs = list.runs;
  for (std::size_t k = 0; k < runs.size();) {
    if (is_long(runs[k])) {
      const Run& r = runs[k++];
      // whole pieces are quicker; of few pieces the slabs would be very unequal
      const std::int64_t unit = r.count >= std::int64_t{8} * of ? r.len : 1;
      const std::int64_t units = r.count * r.len / unit;
      const std::int64_t begin = units * index / of * unit, end = units * (index + 1) / of * unit;
      if (begin < end) take(r, begin, end - begin);
      continue;
    }
    std::int64_t columns = 0, before = 0;
    std::size_t last = k;
    for (; last < runs.size() && !is_long(runs[last]); ++last) columns += runs[last].len * runs[last].count;
    const std::int64_t first = columns * index / of, behind = columns * (index + 1) / of;
    for (; k < last; ++k) {
      const std::int64_t mine = runs[k].len * runs[k].count;
      const std::int64_t begin = std::max(first, before), end = std::min(behind, before + mine);
      if (begin < end) take(runs[k], begin - before, end - begin);
      before += mine;
    }
  }
}

/// Both ends of what stays here, or of what is read straight from another rank's array.
struct LocalCopy {
  PackedView source;
  PackedView target;
  std::int64_t first = 0;
  std::int64_t count = 0;
  int peer = -1; ///< whose array it is, -1: mine
};

/// The plans of all matrices, with their messages put together by partner.
struct Work {
  /// @param plans_  this rank's, one for each matrix; they outlive the work
  /// @param is_shared whether what goes to and comes from a rank passes through shared memory
  /// @throws Error{bad_type, bad_argument, null_pointer} when rank `rank_` of `size_` cannot do this, wherever the
  /// matrices lie
  /// Cost: time and memory O(messages and pieces of this rank).
  Work(std::vector<const RankPlan*> plans_, Slab slab, int rank_, int size_, const std::function<bool(int)>& is_shared);
  Work(const Work&) = delete; // streams point to it
  Work& operator=(const Work&) = delete;

  const std::vector<const RankPlan*> plans;
  const int rank, size;
  std::vector<Stream> out; ///< the next higher rank's first, so that not all ranks fall on the same receiver
  std::vector<Stream> in;
  std::unordered_map<int, std::size_t> in_of_rank;
  std::vector<Piece> keeps; ///< of the messages to myself
  std::int64_t bytes_kept = 0;
  bool has_large_target = false;  ///< it is stored non-temporally; a small one is better left in the cache
  std::vector<Pointers> pointers; ///< where the matrices lie in the run under way
  std::vector<Scaling> scalings;  ///< what becomes of their elements in it
  std::int64_t scaling_print = 0; ///< of all alphas and betas; 0 when all are copies

  std::int64_t bytes_out() const; ///< of all streams
  std::int64_t bytes_in() const;
  /// A run begins: the matrices lie at `where`, and all streams are at their beginning. Allocates nothing.
  /// @throws Error{bad_argument, null_pointer} when this rank's shares cannot lie there
  void bind(const std::vector<Pointers>& where);

  const RankPlan& plan_of(const Piece& piece) const { return *plans[static_cast<std::size_t>(piece.matrix)]; }
  /// The end of a message in this rank's share of the source.
  PackedView source_of(const Piece& piece, const Message& message) const;
  /// The end in its share of the target.
  PackedView target_of(const Piece& piece, const Message& message) const;
  const Message& kept_message_of(const Piece& keep) const;
  LocalCopy copy_of(const Piece& keep) const;
};

/// From what size on a target is stored non-temporally, and panels are: less is better left in it.
constexpr std::int64_t non_temporal_bytes = std::int64_t{1} << 20;

/// Gets the pages of targets that were not written to yet: one page fault per 4 KiB while unpacking would cost more
/// than the copying itself.
void prepare_targets(const Work& work);

} // namespace redist::detail
