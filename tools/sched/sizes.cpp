// SPDX-License-Identifier: BSD-3-Clause
#include "sizes.hpp"

#include <algorithm>

namespace sched {

int Sizes::at_most(int n) const {
  const auto above = std::upper_bound(list_.begin(), list_.end(), n);
  return above == list_.begin() ? 0 : *(above - 1);
}

int Sizes::above(int n) const {
  const auto found = std::upper_bound(list_.begin(), list_.end(), n);
  return found == list_.end() ? 0 : *found;
}

int Sizes::index_of(int n) const {
  const auto found = std::lower_bound(list_.begin(), list_.end(), n);
  return found == list_.end() || *found != n ? -1 : static_cast<int>(found - list_.begin());
}

} // namespace sched
