// SPDX-License-Identifier: BSD-3-Clause
// Arrays of more elements than an int counts: MPI takes them in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace apps {

/// Calls act(first, count) for each piece of the array in turn: a pointer to its first element, and its length as an
/// int, at most `most`.
template <class Element, class Act>
void in_pieces(std::vector<Element>& array, Act act, std::size_t most = std::size_t{1} << 26) {
  for (std::size_t first = 0; first < array.size(); first += most)
    act(&array[first], static_cast<int>(std::min(most, array.size() - first)));
}

} // namespace apps
