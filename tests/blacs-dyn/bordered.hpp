// SPDX-License-Identifier: BSD-3-Clause
// What the places of an array with borders hold, counted index by index from the definition in dyngrid/halo.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "dyngrid/halo.h"
#include "dyngrid/layout.h"
#include "follow.hpp"

namespace follow {

/// What has borders: its extents, and the sides of each dimension.
struct Bordered {
  std::string name;
  std::vector<std::int64_t> extents;
  std::vector<int> lo, hi, periodic;
  int neighbours;
};

/// A place of one dimension of the ghosted array; -1: outside.
struct Place {
  std::int64_t glo = -1;
  bool is_border = true;
};

/// Calls f(k, places) for all places of a dense array, the first dimension running fastest.
template <class F> void for_places(const std::vector<std::vector<Place>>& of, F&& f) {
  std::size_t count = 1;
  for (const auto& list : of) count *= list.size();
  std::vector<Place> at(of.size());
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k;
    for (std::size_t d = 0; d < of.size(); ++d) {
      at[d] = of[d][rest % of[d].size()];
      rest /= of[d].size();
    }
    f(k, at);
  }
}

/// Of an element: its number in the whole array, the first dimension running fastest.
inline std::int64_t number_of(const Bordered& b, const std::vector<Place>& at) {
  std::int64_t number = 0;
  for (std::size_t d = at.size(); d-- > 0;) number = number * b.extents[d] + at[d].glo;
  return number;
}

/// The places of this process, in its local and in its ghosted array.
struct Places {
  std::vector<std::vector<Place>> local, ghosted;
  std::size_t elements = 1; ///< of the ghosted array
};

inline Places places_of(const Bordered& b, const dyngrid_halo* halo) {
  const std::size_t dims = b.extents.size();
  Places mine{std::vector<std::vector<Place>>(dims), std::vector<std::vector<Place>>(dims)};
  std::int64_t extents[DYNGRID_FIELD_DIMS] = {};
  expect(dyngrid_halo_extents(halo, extents) == static_cast<int>(dims), "dimensions");
  int row_stretches = -1, col_stretches = -1;
  expect(dyngrid_halo_shape(halo, nullptr, nullptr, &row_stretches, &col_stretches) == 0, "shape");
  expect(row_stretches >= 0 && (dims == 1 ? col_stretches == 0 : col_stretches >= 0), "stretches");
  for (std::size_t d = 0; d < dims; ++d) {
    mine.ghosted[d].resize(static_cast<std::size_t>(extents[d]));
    mine.elements *= static_cast<std::size_t>(extents[d]);
    std::int64_t glo = 0, loc = 0, at = 0, size = 0;
    for (std::int64_t k = 0; dyngrid_halo_range(halo, static_cast<int>(d), k, &glo, &loc, &at, &size) == 1; ++k) {
      expect(loc == static_cast<std::int64_t>(mine.local[d].size()), "stretches follow each other in the local array");
      for (std::int64_t i = -b.lo[d]; i < size + b.hi[d]; ++i) {
        const bool is_border = i < 0 || i >= size;
        const std::int64_t n = b.extents[d], index = glo + i;
        const bool is_there = b.periodic[d] != 0 || (index >= 0 && index < n);
        const Place place{is_there ? (index % n + n) % n : -1, is_border};
        mine.ghosted[d][static_cast<std::size_t>(at + i)] = place;
        if (!is_border) mine.local[d].push_back(place);
      }
    }
  }
  return mine;
}

/// Each place of the ghosted array has value(number of its element), or `outside`.
template <class Value>
void compare_ghosted(const Bordered& b, const Places& mine, const double* u, double outside, Value&& value) {
  for_places(mine.ghosted, [&](std::size_t k, const std::vector<Place>& at) {
    int borders = 0;
    bool is_there = true;
    for (const Place& place : at) {
      borders += place.is_border ? 1 : 0;
      is_there = is_there && place.glo >= 0;
    }
    is_there = is_there && (borders < 2 || b.neighbours == DYNGRID_NEIGHBOURS_EIGHT);
    expect(u[k] == (is_there ? value(number_of(b, at)) : outside), b.name + ": place " + std::to_string(k));
  });
}

} // namespace follow
