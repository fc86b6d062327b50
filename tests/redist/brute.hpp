// SPDX-License-Identifier: BSD-3-Clause
// The definition of a distribution, carried out one index at a time: what the tests of plans compare with.
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace brute {

struct Placed {
  int position;
  std::int64_t local;
};

inline std::vector<Placed> places_of(const gridmap::Axis& axis) {
  std::vector<Placed> placed;
  std::vector<std::int64_t> filled(static_cast<std::size_t>(axis.nprocs), 0);
  for (std::size_t j = 0; static_cast<std::int64_t>(placed.size()) < axis.n; ++j) {
    const int position =
        axis.owners.empty()
            ? static_cast<int>((static_cast<std::size_t>(axis.src) + j) % static_cast<std::size_t>(axis.nprocs))
            : axis.owners[j % axis.owners.size()];
    for (std::int64_t i = 0; i < axis.sizes[j % axis.sizes.size()] && static_cast<std::int64_t>(placed.size()) < axis.n;
         ++i)
      placed.push_back({position, filled[static_cast<std::size_t>(position)]++});
  }
  return placed;
}

} // namespace brute
