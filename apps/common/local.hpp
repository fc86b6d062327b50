// SPDX-License-Identifier: BSD-3-Clause
// Local parts of block-cyclic matrices: which global element a local one is.
#pragma once

#include <dyngrid.h>

#include <cstdint>
#include <type_traits>

namespace apps {

/// Calls visit(i_glo, j_glo, element) for every element of mine, column by column. Local.
template <class Element, class Visit> void for_each_local(const dyngrid_matrix* matrix, Visit visit) {
  const int* desc = dyngrid_desc(matrix);
  const std::int64_t mb = desc[4], nb = desc[5];
  std::int64_t m_loc = 0, n_loc = 0, lld = 1;
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_matrix_shape(matrix, &m_loc, &n_loc, &lld);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  auto* local = static_cast<Element*>(dyngrid_local(matrix));
  for (std::int64_t j = 0; j < n_loc; ++j) {
    const std::int64_t j_glo = (j / nb * npcol + mycol) * nb + j % nb;
    for (std::int64_t i = 0; i < m_loc; ++i) {
      const std::int64_t i_glo = (i / mb * nprow + myrow) * mb + i % mb;
      visit(i_glo, j_glo, local[i + j * lld]);
    }
  }
}

/// Sets every element of mine to value(i_glo, j_glo). Local.
template <class Element, class Value> void fill(const dyngrid_matrix* matrix, Value value) {
  for_each_local<Element>(matrix, [&](std::int64_t i, std::int64_t j, Element& element) { element = value(i, j); });
}

/// A number of [0, range) that depends on (i, j, seed) only: the same whatever the grid. Local.
inline std::int64_t mixed(std::int64_t i, std::int64_t j, std::uint64_t seed, std::int64_t range) {
  std::uint64_t h = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(j) * 0xC2B2AE3D27D4EB4FU + seed;
  h ^= h >> 31;
  h *= 0xD6E8FEB86659FD93U;
  h ^= h >> 32;
  return static_cast<std::int64_t>(h % static_cast<std::uint64_t>(range));
}

} // namespace apps
