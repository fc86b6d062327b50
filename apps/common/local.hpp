// SPDX-License-Identifier: BSD-3-Clause
// Initial values of the local parts of distributed matrices, and sums of them by formulae.
#pragma once

#include <cstdint>
#include <dyngrid.hpp>
#include <vector>

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

/// The sums of term(i, j) over j < n, for each i < n; every process takes some of the rows. Collective.
template <class Term> std::vector<double> row_sums(std::int64_t n, Term term) {
  int rank = 0, size = 1;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  MPI_Comm_size(dyngrid_comm(), &size);
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t i = rank; i < n; i += size)
    for (std::int64_t j = 0; j < n; ++j) sums[static_cast<std::size_t>(i)] += term(i, j);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  return sums;
}

} // namespace apps
