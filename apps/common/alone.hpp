// SPDX-License-Identifier: BSD-3-Clause
// Comparison with what one process works out alone.
#pragma once

#include "app.hpp"
#include "pieces.hpp"

#include <dyngrid.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace apps {

/// How many elements of an n x n matrix are not those that alone() returns on process 0, column by column. Collective.
template <class Element, class Alone> double differing(const dyngrid_matrix* matrix, std::int64_t n, Alone alone) {
  int rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  std::vector<Element> expected(static_cast<std::size_t>(n * n));
  if (rank == 0) expected = alone();
  in_pieces(expected, [](Element* first, int count) {
    MPI_Bcast(first, count * static_cast<int>(sizeof(Element)), MPI_BYTE, 0, dyngrid_comm());
  });
  double wrong = 0;
  dyngrid::for_each<Element>(matrix, [&](std::int64_t i, std::int64_t j, Element e) {
    wrong += e == expected[static_cast<std::size_t>(i + j * n)] ? 0 : 1;
  });
  return sum_over_grid(wrong);
}

} // namespace apps
