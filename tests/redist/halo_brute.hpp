// SPDX-License-Identifier: BSD-3-Clause
// Borders worked out one index at a time: what the tests of halos compare with.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "brute.hpp"
#include "redist/halo.hpp"

namespace brute {

/// What lies at each place of one axis of a ghosted array.
struct GhostedPlace {
  std::int64_t glo = -1; ///< -1: outside the matrix
  bool border = true;
};

inline std::vector<GhostedPlace> ghosted(const gridmap::Axis& axis, int position, const redist::HaloSides& sides) {
  const std::vector<Placed> placed = places_of(axis);
  const auto owner = [&](std::int64_t i) {
    return i < 0 || i >= axis.n ? -1 : placed[static_cast<std::size_t>(i)].position;
  };
  std::vector<GhostedPlace> places;
  const auto border = [&](std::int64_t i) {
    const bool inside = i >= 0 && i < axis.n;
    places.push_back({inside ? i : sides.periodic ? ((i % axis.n) + axis.n) % axis.n : -1, true});
  };
  for (std::int64_t i = 0; i < axis.n; ++i) {
    if (owner(i) != position) continue;
    if (owner(i - 1) != position)
      for (int k = sides.lo; k > 0; --k) border(i - k);
    places.push_back({i, false});
    if (owner(i + 1) != position)
      for (int k = 1; k <= sides.hi; ++k) border(i + k);
  }
  return places;
}

inline redist::Layout random_layout(std::mt19937& random, int nprow, int npcol, int first_rank, int largest_n) {
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  redist::Layout layout;
  layout.grid = redist::Grid::row_major(nprow, npcol, first_rank);
  std::shuffle(layout.grid.ranks.begin(), layout.grid.ranks.end(), random);
  for (const auto& [axis, nprocs] : {std::pair{&layout.rows, nprow}, std::pair{&layout.cols, npcol}})
    *axis = naive::random_axis(random, pick(0, 9) == 0 ? pick(0, 2) : pick(1, largest_n), nprocs);
  return layout;
}

inline redist::HaloOptions random_options(std::mt19937& random) {
  redist::HaloOptions options;
  for (redist::HaloSides* sides : {&options.rows, &options.cols})
    *sides = {static_cast<int>(random() % 5), static_cast<int>(random() % 5), random() % 2 == 0};
  if (options.rows.lo + options.rows.hi + options.cols.lo + options.cols.hi == 0) options.cols.hi = 1;
  options.neighbours = random() % 2 == 0 ? redist::Neighbours::four : redist::Neighbours::eight;
  return options;
}

} // namespace brute
