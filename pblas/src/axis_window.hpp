// SPDX-License-Identifier: BSD-3-Clause
// A part of an axis, and which process owns what of it. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace pblas {

/// Indices first .. first+count-1 of an axis. Inside it indices count from 0. What a position has of it lies together
/// in its local array, in ascending order.
class AxisWindow {
public:
  /// Neighbouring indices that one position has. Neighbours of the same owner are joined.
  struct Piece {
    std::int64_t first = 0, count = 0;
    int owner = 0;
    std::int64_t local = 0; ///< of `first`, counted from the position's first index of the window

    std::int64_t last() const { return first + count; }
  };

  AxisWindow() = default;
  AxisWindow(gridmap::Axis axis, std::int64_t first, std::int64_t count);

  const gridmap::Axis& axis() const { return axis_; }
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  /// Indices of the window on position p.
  std::int64_t local_count(int p) const { return local_counts_[static_cast<std::size_t>(p)]; }
  /// Of the position that has most.
  std::int64_t most_local() const { return *std::max_element(local_counts_.begin(), local_counts_.end()); }
  /// Local index, in the whole axis, of the first of them.
  std::int64_t local_first(int p) const { return local_firsts_[static_cast<std::size_t>(p)]; }
  /// Those of position p among the first i of the window.
  std::int64_t count_before(int p, std::int64_t i) const {
    return i == 0 ? 0 : axis_.count_before(p, first_ + i) - local_first(p);
  }
  int owner(std::int64_t i) const { return piece_of(i).owner; }
  const Piece& piece_of(std::int64_t i) const;
  /// The pieces of i .. j-1, cut at both ends.
  std::vector<Piece> pieces_between(std::int64_t i, std::int64_t j) const;
  /// The end of the piece that i is in.
  std::int64_t end_of_piece(std::int64_t i) const { return piece_of(i).last(); }
  /// The indices of position p, ascending.
  std::vector<std::int64_t> indices(int p) const;
  /// Of each index of position p, ascending, where `other`, a window of as many indices, has it.
  std::vector<int> owners_in(const AxisWindow& other, int p) const;

  /// True when every index has the same owner in both.
  bool lies_as(const AxisWindow& other) const;
  /// The same indices as a window of an axis that begins with the block that the first of them is in, and ends with the
  /// last of them: what a copy of the window needs.
  AxisWindow trimmed() const;

private:
  gridmap::Axis axis_;
  std::int64_t first_ = 0, count_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> local_counts_, local_firsts_;
};

} // namespace pblas
