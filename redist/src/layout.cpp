// SPDX-License-Identifier: BSD-3-Clause
#include "redist/layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/fnv1a.hpp"
#include "base/status.hpp"

namespace redist {

Grid Grid::row_major(int nprow, int npcol, int first_rank) {
  Grid grid{nprow, npcol, std::vector<int>(static_cast<std::size_t>(nprow) * static_cast<std::size_t>(npcol))};
  std::iota(grid.ranks.begin(), grid.ranks.end(), first_rank);
  return grid;
}

std::pair<int, int> Grid::position_of(int rank) const {
  if (rank >= 0 && rank < size() && ranks[static_cast<std::size_t>(rank)] == rank) // of most grids all are there
    return {rank / npcol, rank % npcol};
  for (int p = 0; p < nprow; ++p)
    for (int q = 0; q < npcol; ++q)
      if (rank_at(p, q) == rank) return {p, q};
  return {-1, -1};
}

void Grid::renumber(const std::vector<int>& ranks_now) {
  for (int& rank : ranks) rank = ranks_now[static_cast<std::size_t>(rank)];
}

Layout Layout::row_major(gridmap::Axis rows, gridmap::Axis cols) {
  Grid grid = Grid::row_major(rows.nprocs, cols.nprocs);
  return {std::move(rows), std::move(cols), std::move(grid)};
}

Layout Layout::replicated_on(Grid grid, std::int64_t m, std::int64_t n) {
  Layout layout{gridmap::Axis::block(m, 1), gridmap::Axis::block(n, 1), std::move(grid)};
  layout.rows_replicated = layout.cols_replicated = true;
  return layout;
}

std::int64_t Layout::copies() const {
  return (rows_replicated ? std::int64_t{grid.nprow} : 1) * (cols_replicated ? grid.npcol : 1);
}

std::int64_t Layout::local_rows(int p) const {
  if (rows_replicated) return rows.n;
  return rows.local_size(p);
}

std::int64_t Layout::local_cols(int q) const {
  if (cols_replicated) return cols.n;
  return cols.local_size(q);
}

std::pair<int, int> Layout::axes_of(int rank) const {
  const auto [p, q] = grid.position_of(rank);
  if (p < 0) return {-1, -1};
  return {rows_replicated ? 0 : p, cols_replicated ? 0 : q};
}

LocalSize Layout::local_size_of(int rank) const {
  const auto [p, q] = axes_of(rank);
  return p < 0 ? LocalSize{} : LocalSize{local_rows(p), local_cols(q)};
}

void Layout::validate(const char* which) const {
  using base::Error;
  using base::Status;
  if (grid.nprow < 1 || grid.npcol < 1)
    throw Error(Status::bad_argument, "redist: {} grid is {}x{}, expected at least 1x1", which, grid.nprow, grid.npcol);
  const std::size_t size = static_cast<std::size_t>(grid.nprow) * static_cast<std::size_t>(grid.npcol);
  if (grid.ranks.size() != size)
    throw Error(Status::shape_mismatch, "redist: {} grid {}x{} lists {} ranks, expected {}", which, grid.nprow,
                grid.npcol, grid.ranks.size(), size);
  std::vector<int> sorted = grid.ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0)
    throw Error(Status::bad_argument, "redist: {} grid has rank {}, expected at least 0", which, sorted.front());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw Error(Status::bad_argument, "redist: {} grid has rank {} twice", which, *twice);
  rows.validate();
  cols.validate();
  const int p = rows_replicated ? 1 : grid.nprow;
  const int q = cols_replicated ? 1 : grid.npcol;
  if (rows.nprocs != p || cols.nprocs != q)
    throw Error(Status::shape_mismatch, "redist: {} axes lie over {}x{} processes, expected {}x{} on a {}x{} grid{}",
                which, rows.nprocs, cols.nprocs, p, q, grid.nprow, grid.npcol, is_replicated() ? ", replicated" : "");
}

std::int64_t fingerprint(const std::vector<const Layout*>& layouts) {
  base::Fnv1a hash;
  for (const Layout* one : layouts)
    for (const gridmap::Axis* axis : {&one->rows, &one->cols}) {
      hash.number(static_cast<std::int64_t>(axis->sizes.size()));
      for (const std::int64_t size : axis->sizes) hash.number(size);
      if (axis->src != 0) hash.number(axis->src);
      for (const int owner : axis->owners) hash.number(owner);
    }
  return hash.positive();
}

} // namespace redist
