// SPDX-License-Identifier: BSD-3-Clause
#include "grid/matrix_grid.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace blacs_dyn {

using base::at;
using base::Error;
using base::Status;

void MatrixGrid::check(const char* routine) const {
  if (kind < Kind::grid || kind > Kind::each_column)
    throw Error(Status::bad_argument,
                "blacs-dyn: {}: shape is {}, expected DYNGRID_ON_GRID ({}) .. DYNGRID_ON_EACH_COLUMN ({})", routine,
                static_cast<int>(kind), static_cast<int>(DYNGRID_ON_GRID), static_cast<int>(DYNGRID_ON_EACH_COLUMN));
  for (const auto& [what, value] : {std::pair("nprow_at_most", most.nprow), std::pair("npcol_at_most", most.npcol)})
    if (value < 1)
      throw Error(Status::bad_argument, "blacs-dyn: {}: {} is {}, expected at least 1", routine, what, value);
}

int MatrixGrid::copies_on(Shape grid) const {
  switch (kind) {
  case Kind::all:
    return grid.size();
  case Kind::each_row:
    return grid.nprow;
  case Kind::each_column:
    return grid.npcol;
  default:
    return 1;
  }
}

GridMap MatrixGrid::map_on(const GridMap& grid, char axis) const {
  const bool is_cut = (kind == Kind::each_row && axis == 'C') || (kind == Kind::each_column && axis == 'R');
  GridMap map;
  map.shape = is_cut ? grid.shape : redist::processes_of(kind, most, grid.shape);
  if (is_cut || kind < Kind::first) map.speeds = grid.speeds; // those of all processes
  if (kind == Kind::first)
    for (int p = 0; p < map.shape.nprow && !grid.speeds.empty(); ++p)
      for (int q = 0; q < map.shape.npcol; ++q) map.speeds.push_back(grid.speeds[at(p * grid.shape.npcol + q)]);
  return map;
}

redist::Layout MatrixGrid::layout(gridmap::Axis rows, gridmap::Axis cols, Shape grid) const {
  if (is_copied())
    return {std::move(rows), std::move(cols), redist::Grid::row_major(grid.nprow, grid.npcol),
            kind != Kind::each_column, kind != Kind::each_row};
  redist::Layout layout = redist::Layout::row_major(std::move(rows), std::move(cols));
  if (kind == Kind::first)
    for (int& rank : layout.grid.ranks) {
      const int p = rank / layout.grid.npcol, q = rank % layout.grid.npcol;
      rank = p * grid.npcol + q;
    }
  return layout;
}

std::string MatrixGrid::text() const {
  switch (kind) {
  case Kind::row:
    return " on one row of processes";
  case Kind::column:
    return " on one column of processes";
  case Kind::first:
    return fmt::format(" on at most {} processes", to_string(most));
  case Kind::all:
    return " whole on each process";
  case Kind::each_row:
    return " whole on each row of processes";
  case Kind::each_column:
    return " whole on each column of processes";
  case Kind::grid:
    break;
  }
  return {};
}

} // namespace blacs_dyn
