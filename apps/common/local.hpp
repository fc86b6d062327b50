// SPDX-License-Identifier: BSD-3-Clause
// Initial values of the local parts of distributed matrices.
#pragma once

#include <cstdint>
#include <dyngrid.hpp>

namespace apps {

/// Sets every element of mine to value(i_glo, j_glo). Local.
template <class Element, class Value> void fill(const dyngrid_matrix* matrix, Value value) {
  dyngrid::for_each<Element>(matrix, [&](std::int64_t i, std::int64_t j, Element& element) { element = value(i, j); });
}

/// A number of [0, range) that depends on (i, j, seed) only: the same whatever the grid. Local.
inline std::int64_t mixed(std::int64_t i, std::int64_t j, std::uint64_t seed, std::int64_t range) {
  std::uint64_t h =
      static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(j) * 0xC2B2AE3D27D4EB4FU + seed;
  h ^= h >> 31;
  h *= 0xD6E8FEB86659FD93U;
  h ^= h >> 32;
  return static_cast<std::int64_t>(h % static_cast<std::uint64_t>(range));
}

} // namespace apps
