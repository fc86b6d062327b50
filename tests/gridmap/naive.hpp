// SPDX-License-Identifier: BSD-3-Clause
// The definition of an axis written out element by element, independent of the code under test.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gridmap/axis.hpp"

namespace naive {

/// Owner of each element.
inline std::vector<int> owners(const gridmap::Axis& axis) {
  std::vector<int> result;
  std::size_t j = 0;
  int owner = axis.src;
  while (static_cast<std::int64_t>(result.size()) < axis.n) {
    if (!axis.owners.empty()) owner = axis.owners[j];
    for (std::int64_t i = 0; i < axis.sizes[j] && static_cast<std::int64_t>(result.size()) < axis.n; ++i)
      result.push_back(owner);
    j = (j + 1) % axis.sizes.size();
    owner = (owner + 1) % axis.nprocs;
  }
  return result;
}

/// Of every kind.
inline gridmap::Axis random_axis(std::mt19937& gen, std::int64_t n, int nprocs) {
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
  const int src = pick(0, nprocs - 1);
  switch (pick(0, 4)) {
  case 0:
    return gridmap::Axis::block_cyclic(n, pick(1, 5), nprocs, src);
  case 1:
    return gridmap::Axis::block(n, nprocs, src);
  case 2: {
    gridmap::Axis axis{n, {}, src, nprocs};
    for (int k = pick(1, 9); k > 0; --k) {
      axis.sizes.push_back(k == 1 ? pick(1, 4) : pick(0, 4));
      axis.owners.push_back(pick(0, nprocs - 1));
    }
    return axis;
  }
  case 3: { // one to each process: cut at random places
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(nprocs));
    for (auto& size : sizes) size = pick(0, static_cast<int>(n));
    std::sort(sizes.begin(), sizes.end() - 1);
    sizes.back() = n;
    std::adjacent_difference(sizes.begin(), sizes.end(), sizes.begin());
    return gridmap::Axis::variable(sizes, src);
  }
  default: {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(pick(1, 9)));
    for (auto& size : sizes) size = pick(0, 4);
    sizes[static_cast<std::size_t>(pick(0, static_cast<int>(sizes.size()) - 1))] = pick(1, 4);
    return gridmap::Axis::heterogeneous(n, sizes, nprocs, src);
  }
  }
}

} // namespace naive
