// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "dyngrid/layout.h"
#include "gridmap/axis.hpp"
#include "processes/names.hpp"
#include "redist/layout.hpp"
#include "redist/predict.hpp"

namespace blacs_dyn {

/// On which processes of the grid a matrix lies, and how they are arranged for it; the same on every grid. Pure.
struct MatrixGrid {
  using Kind = redist::Over;
  static_assert(static_cast<int>(Kind::row) == DYNGRID_ON_ROW &&
                static_cast<int>(Kind::each_column) == DYNGRID_ON_EACH_COLUMN);
  Kind kind = Kind::grid;
  Shape most{1, 1}; ///< of Kind::first

  /// @throws Error{bad_argument}
  void check(const char* routine) const;
  bool is_whole() const { return kind == Kind::grid; }
  bool is_copied() const { return kind >= Kind::all; }
  int copies_on(Shape grid) const; ///< how many processes have each element
  /// The processes as its rows ('R') or columns ('C') are over them: what its rules are asked with. Without ids. An
  /// axis that is cut over the processes of each row or column is asked for as that of a matrix over the whole grid, so
  /// that the two lie alike.
  GridMap map_on(const GridMap& grid, char axis) const;
  /// rows, cols: over the processes of map_on(). Ranks are row-major numbers in `grid`.
  redist::Layout layout(gridmap::Axis rows, gridmap::Axis cols, Shape grid) const;
  std::string text() const; ///< " on one row of processes"; empty of the whole grid

  bool operator==(const MatrixGrid& other) const { return kind == other.kind && most == other.most; }
};

} // namespace blacs_dyn
