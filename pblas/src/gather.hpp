// SPDX-License-Identifier: BSD-3-Clause
// Panels of a matrix on all processes that need them, in the order in which the matrix has its rows and columns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "operand.hpp"
#include "ring.hpp"

namespace pblas {

/// How slices of the processes of a row or a column of the grid come to all of them: by MPI, or read in place. What was
/// given stays to be read until the next but one, or the end of this.
class Gathering {
public:
  Gathering(MPI_Comm comm, int rank, int size, const std::vector<std::int64_t>& processes) : comm_(comm), size_(size) {
    if (!processes.empty()) in_place_.emplace(comm, rank, processes);
  }
  int size() const { return size_; }

  /// Slices joined; lengths in elements, the same everywhere. Collective over comm.
  template <class T> std::vector<T> all(const std::vector<T>& mine, const std::vector<std::int64_t>& lengths);

private:
  MPI_Comm comm_;
  int size_;
  std::optional<InPlace> in_place_;
};

/// Along my row and my column of a grid.
struct Gatherings {
  Gathering row, col;

  explicit Gatherings(const Grid& grid)
      : row(grid.row(), grid.here().mycol, grid.here().npcol, grid.row_processes()),
        col(grid.col(), grid.here().myrow, grid.here().nprow, grid.col_processes()) {}
};

template <class T> std::vector<T> Gathering::all(const std::vector<T>& mine, const std::vector<std::int64_t>& lengths) {
  const std::vector<std::int64_t> offsets = offsets_of(lengths);
  std::vector<T> all(base::at(offsets.back()));
  if (in_place_) {
    std::copy(mine.begin(), mine.end(), all.data() + offsets[base::at(in_place_->rank())]);
    in_place_->start(reinterpret_cast<char*>(all.data()), offsets.data(), sizeof(T));
    in_place_->finish();
    return all;
  }
  std::vector<int> counts, places;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    counts.push_back(blas::to_count(lengths[r]));
    places.push_back(blas::to_count(offsets[r]));
  }
  base::check_mpi(MPI_Allgatherv(mine.data(), blas::to_count(static_cast<std::int64_t>(mine.size())),
                                 blas::mpi_type<T>(), all.data(), counts.data(), places.data(), blas::mpi_type<T>(),
                                 comm_),
                  "MPI_Allgatherv");
  return all;
}

template <class T> std::vector<T> packed(const blas::Block<const T>& block) {
  std::vector<T> made(base::at(block.m * block.n));
  blas::pack<T>(block, made.data());
  return made;
}

/// Columns k .. k_end-1 of A, its local rows first .. end-1: (end - first) x (k_end - k) on every process of a row of
/// the grid. Collective over it.
template <class T>
std::vector<T> gather_cols(Gatherings& by, const Operand<const T>& a, std::int64_t k, std::int64_t k_end,
                           std::int64_t first, std::int64_t end) {
  const std::int64_t height = end - first;
  const std::int64_t before = a.cols.count_before(a.mycol(), k);
  std::vector<std::int64_t> lengths;
  for (int q = 0; q < a.grid->here().npcol; ++q)
    lengths.push_back(height * (a.cols.count_before(q, k_end) - a.cols.count_before(q, k)));
  std::vector<T> mine =
      packed<T>({a.local(first, before), a.lld, height, a.cols.count_before(a.mycol(), k_end) - before});
  if (by.row.size() == 1) return mine;
  const std::vector<T> all = by.row.all(mine, lengths);
  const std::vector<std::int64_t> offsets = offsets_of(lengths);
  std::vector<T> panel(all.size());
  for (const auto& piece : a.cols.pieces_between(k, k_end))
    std::copy_n(all.data() + offsets[base::at(piece.owner)] +
                    (piece.local - a.cols.count_before(piece.owner, k)) * height,
                piece.count * height, panel.data() + (piece.first - k) * height);
  return panel;
}

/// Rows that the processes of a column of the grid hold in part, put together: process p brings those of
/// `rows.pieces_between(k, k_end)` that are its own, packed, `width` columns. (k_end - k) x width on each.
template <class T>
std::vector<T> join_rows(Gathering& col, const AxisWindow& rows, std::int64_t k, std::int64_t k_end, std::int64_t width,
                         const std::vector<T>& mine) {
  if (col.size() == 1) return mine;
  std::vector<std::int64_t> heights, lengths;
  for (int p = 0; p < col.size(); ++p) {
    heights.push_back(rows.count_before(p, k_end) - rows.count_before(p, k));
    lengths.push_back(heights.back() * width);
  }
  const std::vector<T> all = col.all(mine, lengths);
  const std::vector<std::int64_t> offsets = offsets_of(lengths);
  std::vector<T> panel(all.size());
  for (const auto& piece : rows.pieces_between(k, k_end)) {
    const std::int64_t height = heights[base::at(piece.owner)];
    const T* from = all.data() + offsets[base::at(piece.owner)] + piece.local - rows.count_before(piece.owner, k);
    for (std::int64_t j = 0; j < width; ++j)
      std::copy_n(from + j * height, piece.count, panel.data() + piece.first - k + j * (k_end - k));
  }
  return panel;
}

/// Rows k .. k_end-1 of A, its local columns first .. end-1, on every process of a column of the grid. Collective over
/// it.
template <class T>
std::vector<T> gather_rows(Gatherings& by, const Operand<const T>& a, std::int64_t k, std::int64_t k_end,
                           std::int64_t first, std::int64_t end) {
  const std::int64_t before = a.rows.count_before(a.myrow(), k);
  const std::int64_t mine = a.rows.count_before(a.myrow(), k_end) - before;
  return join_rows(by.col, a.rows, k, k_end, end - first,
                   packed<T>({a.local(before, first), a.lld, mine, end - first}));
}

/// The block of rows and columns k .. k_end-1 on all processes. Collective over the grid.
template <class T>
std::vector<T> gather_block(Gatherings& by, const Operand<const T>& a, std::int64_t k, std::int64_t k_end) {
  const std::int64_t before = a.rows.count_before(a.myrow(), k), after = a.rows.count_before(a.myrow(), k_end);
  return join_rows(by.col, a.rows, k, k_end, k_end - k, gather_cols(by, a, k, k_end, before, after));
}

} // namespace pblas
