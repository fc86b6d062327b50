// SPDX-License-Identifier: BSD-3-Clause
// One-axis distributions unrolled for one cycle, and the intersection of two of them.
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"
#include "redist/rank_plan.hpp"

namespace redist::detail {

/// The blocks of an axis up to where the pattern of sizes *and* owners repeats, empty blocks left out.
///
/// Index i lies `i / cycle` cycles after block `find(i % cycle)`. When the pattern does not repeat within n,
/// `cycle` is n.
class AxisTable {
public:
  /// @throws Error{bad_argument}
  explicit AxisTable(const gridmap::Axis& axis);

  std::int64_t n() const { return n_; }
  int nprocs() const { return nprocs_; }
  std::int64_t cycle() const { return cycle_; }
  std::int64_t per_cycle(int p) const { return per_cycle_[static_cast<std::size_t>(p)]; }
  std::size_t blocks() const { return owner_.size(); }
  std::int64_t start(std::size_t j) const { return start_[j]; }
  std::int64_t size(std::size_t j) const { return start_[j + 1] - start_[j]; }
  int owner(std::size_t j) const { return owner_[j]; }
  /// Local index, in its cycle, of the first element of block j on its owner.
  std::int64_t local(std::size_t j) const { return local_[j]; }
  /// Block that holds index `rest` of a cycle, 0 <= rest < cycle.
  std::size_t find(std::int64_t rest) const;
  /// Blocks of position p in a cycle, ascending: blocks_of_[first_of(p)] .. blocks_of_[first_of(p + 1) - 1].
  const std::uint32_t* begin_of(int p) const { return blocks_of_.data() + first_of_[static_cast<std::size_t>(p)]; }
  const std::uint32_t* end_of(int p) const { return blocks_of_.data() + first_of_[static_cast<std::size_t>(p) + 1]; }

private:
  std::int64_t n_ = 0;
  int nprocs_ = 1;
  std::int64_t cycle_ = 1;
  std::int64_t uniform_ = 0; ///< block size when all but a cut last block have it, else 0
  std::vector<std::int64_t> start_;
  std::vector<int> owner_;
  std::vector<std::int64_t> local_;
  std::vector<std::int64_t> per_cycle_;
  std::vector<std::uint32_t> blocks_of_;
  std::vector<std::size_t> first_of_;
};

/// `length` indices from `begin` on of an axis.
struct Span {
  const AxisTable* axis = nullptr;
  std::int64_t begin = 0;
};

/// Appends a stretch: as a part of the last run where it follows that in both local arrays, as one more piece of it
/// where it continues its steps, else as a run.
void append(RunList& list, std::int64_t from, std::int64_t to, std::int64_t len);

/// What one position has in common with one position of the other axis.
struct Neighbour {
  int position = 0;
  RunList list;
};

/// Runs from position p of `from` to every position of `to` that gets something, ascending. The lists of a
/// pair are the same whichever side asks for them.
std::vector<Neighbour> runs_from(Span from, Span to, std::int64_t length, int p);
/// Runs to position q of `to` from every position of `from` that gives something, ascending.
std::vector<Neighbour> runs_to(Span from, Span to, std::int64_t length, int q);

/// Elements that go from each position to each: the rows of a sparse matrix, columns ascending.
struct OverlapTable {
  struct Entry {
    int to = 0;
    std::int64_t elements = 0;
  };
  std::vector<std::size_t> first; ///< one per source position, and the end
  std::vector<Entry> entries;
  std::vector<std::int64_t> out; ///< sums by source position
  std::vector<std::int64_t> in;  ///< sums by target position

  const Entry* begin(int p) const { return entries.data() + first[static_cast<std::size_t>(p)]; }
  const Entry* end(int p) const { return entries.data() + first[static_cast<std::size_t>(p) + 1]; }
  std::int64_t at(int p, int q) const;
};

/// Cost: time O(blocks of both axes in one joint period), memory O(positions + pairs that share something).
OverlapTable overlap(Span from, Span to, std::int64_t length);

} // namespace redist::detail
