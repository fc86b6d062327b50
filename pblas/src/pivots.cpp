// SPDX-License-Identifier: BSD-3-Clause
#include "pivots.hpp"

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "blas.hpp"

namespace pblas {

using base::at;

void write_pivots(const AxisWindow& rows, int myrow, const std::vector<std::int64_t>& pivots, int ia, int* ipiv) {
  for (const auto& piece : rows.pieces_between(0, static_cast<std::int64_t>(pivots.size())))
    for (std::int64_t t = 0; piece.owner == myrow && t < piece.count; ++t)
      ipiv[rows.local_first(myrow) + piece.local + t] = static_cast<int>(pivots[at(piece.first + t)] + ia);
}

std::vector<std::int64_t> read_pivots(const Grid& grid, const AxisWindow& rows, int ia, const int* ipiv) {
  const int nprow = grid.here().nprow, myrow = grid.here().myrow;
  std::vector<int> counts, places{0}, all(at(rows.count()));
  for (int p = 0; p < nprow; ++p) {
    counts.push_back(blas::to_int(rows.local_count(p)));
    places.push_back(places.back() + counts.back());
  }
  const int* mine = counts[at(myrow)] > 0 ? ipiv + rows.local_first(myrow) : nullptr;
  base::check_mpi(
      MPI_Allgatherv(mine, counts[at(myrow)], MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, grid.col()),
      "MPI_Allgatherv");
  std::vector<std::int64_t> pivots(all.size());
  for (const auto& piece : rows.pieces())
    for (std::int64_t t = 0; t < piece.count; ++t)
      pivots[at(piece.first + t)] = all[at(places[at(piece.owner)] + piece.local + t)] - ia;
  return pivots;
}

} // namespace pblas
