// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sched {

/// The numbers of processors a job can use, ascending, at least one of them.
///
/// Written as the numbers of dyngrid_allow (advise::parse_set): "6", "2:9", "8:32:4", "4:32:*2", lists of
/// these with commas; or "any": 1 to the number of processors.
class Sizes {
public:
  Sizes() = default;
  /// @param most the end of "any"; sizes above it are kept: at_most() skips them.
  /// @throws base::Error{bad_argument} naming `where`.
  static Sizes parse(std::string_view text, int most, std::string_view where);
  explicit Sizes(std::vector<int> list);

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

/// "4,8,12"
std::string to_string(const Sizes& sizes);

} // namespace sched
