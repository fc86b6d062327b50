// SPDX-License-Identifier: BSD-3-Clause
// Local parts of distributed matrices, in blocks of one size or of many: which global element a local one is.
#pragma once

#include <dyngrid.h>

#include <cstdint>
#include <vector>

namespace apps {

namespace detail {
inline std::vector<std::int64_t> global_indices(const int* desc, char axis, std::int64_t count, int position, int procs) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) // ScaLAPACK's maps count from 1
    indices[static_cast<std::size_t>(k)] = dyngrid_desc_indxl2g(desc, axis, static_cast<int>(k) + 1, position, procs) - 1;
  return indices;
}
} // namespace detail

/// Calls visit(i_glo, j_glo, element) for every element of mine, column by column. Local.
template <class Element, class Visit> void for_each_local(const dyngrid_matrix* matrix, Visit visit) {
  std::int64_t m_loc = 0, n_loc = 0, lld = 1;
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_matrix_shape(matrix, &m_loc, &n_loc, &lld);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  auto* local = static_cast<Element*>(dyngrid_local(matrix));
  const std::vector<std::int64_t> i_glo = detail::global_indices(dyngrid_desc(matrix), 'R', m_loc, myrow, nprow);
  const std::vector<std::int64_t> j_glo = detail::global_indices(dyngrid_desc(matrix), 'C', n_loc, mycol, npcol);
  for (std::int64_t j = 0; j < n_loc; ++j)
    for (std::int64_t i = 0; i < m_loc; ++i) visit(i_glo[static_cast<std::size_t>(i)], j_glo[static_cast<std::size_t>(j)], local[i + j * lld]);
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
