// SPDX-License-Identifier: BSD-3-Clause
// The definition of a distribution, carried out one index at a time: what the tests of plans compare with.
#pragma once
#include <cstdint>
#include <vector>

#include "gridmap/axis.hpp"

namespace brute {

struct Dealt {
  int position;
  std::int64_t local;
};

inline std::vector<Dealt> deal(const gridmap::Axis& axis, const std::vector<int>& owners = {}) {
  std::vector<Dealt> dealt;
  std::vector<std::int64_t> filled(static_cast<std::size_t>(axis.nprocs), 0);
  for (std::size_t j = 0; static_cast<std::int64_t>(dealt.size()) < axis.n; ++j) {
    const int position =
        owners.empty()
            ? static_cast<int>((static_cast<std::size_t>(axis.src) + j) % static_cast<std::size_t>(axis.nprocs))
            : owners[j % owners.size()];
    for (std::int64_t i = 0; i < axis.sizes[j % axis.sizes.size()] && static_cast<std::int64_t>(dealt.size()) < axis.n;
         ++i)
      dealt.push_back({position, filled[static_cast<std::size_t>(position)]++});
  }
  return dealt;
}

} // namespace brute
