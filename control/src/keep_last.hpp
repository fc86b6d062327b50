// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace control {

/// Removes all but the last `most` elements.
template <class T> void keep_last(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
}
/// Adds one as the last of them.
template <class T> void add_last(std::vector<T>& list, T one, std::size_t most) {
  list.push_back(std::move(one));
  keep_last(list, most);
}

} // namespace control
