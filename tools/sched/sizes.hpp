// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <utility>
#include <vector>

namespace sched {

/// The numbers of processors a job can use, at least one of them.
class Sizes {
public:
  Sizes() = default;
  /// Ascending, from 1, none of them twice.
  explicit Sizes(std::vector<int> list) : list_(std::move(list)) {}

  const std::vector<int>& list() const { return list_; }
  int smallest() const { return list_.front(); }
  int largest() const { return list_.back(); }
  /// The largest size of at most n, 0 when there is none.
  int at_most(int n) const;
  /// The next size above n, 0 when there is none.
  int above(int n) const;
  /// Position of n in list(), -1 when it is not there.
  int index_of(int n) const;

private:
  std::vector<int> list_;
};

} // namespace sched
