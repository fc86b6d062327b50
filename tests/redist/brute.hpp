// SPDX-License-Identifier: BSD-3-Clause
// The definition of a distribution, carried out one index at a time: what the tests of plans compare with.
#pragma once
#include <cstdint>
#include <vector>

#include "../gridmap/naive.hpp"

namespace brute {

struct Placed {
  int position;
  std::int64_t local;
};

inline std::vector<Placed> places_of(const gridmap::Axis& axis) {
  std::vector<Placed> placed;
  std::vector<std::int64_t> filled(static_cast<std::size_t>(axis.nprocs), 0);
  for (const int position : naive::owners(axis))
    placed.push_back({position, filled[static_cast<std::size_t>(position)]++});
  return placed;
}

} // namespace brute
