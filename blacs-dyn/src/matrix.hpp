// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dyngrid.h"
#include "gridmap/axis.hpp"
#include "processes/shape.hpp"
#include "redist/shared_array.hpp"

namespace blacs_dyn {

/// How one axis of a matrix lies on a grid of any shape: in blocks of one size, or as the user's rule says.
struct AxisRule {
  char which = 'R';
  std::int64_t n = 0;
  std::int64_t nb = 1;
  dyngrid_distribution rule = nullptr; ///< null: blocks of nb
  void* context = nullptr;

  /// @throws Error{bad_argument} when the rule fails or what it says cannot be.
  gridmap::Axis on(Shape grid) const;
};

/// A matrix on one grid, as seen from one process.
struct Lay {
  gridmap::Axis rows, cols;
  std::int64_t m_loc = 0, n_loc = 0; ///< 0 outside the grid

  std::int64_t lld() const { return m_loc > 1 ? m_loc : 1; }
};

} // namespace blacs_dyn

/// A matrix that follows the grid. The handle of the C interface.
struct dyngrid_matrix {
  std::string name;
  char type = 'd';
  blacs_dyn::AxisRule rows{'R'}, cols{'C'};
  blacs_dyn::Lay lay;
  redist::SharedArray local;
  std::vector<int> desc;
  bool is_placed = false; ///< false on a newcomer before its first resize point

  bool has_rule() const { return rows.rule || cols.rule; }
  bool has_same_form(const dyngrid_matrix& other) const;
  std::string form() const; ///< "'d' 100 x 100 in 8 x 8 blocks"
  /// The matrix on a grid of another shape, from row-major position `at`. @throws Error{bad_argument, shape_mismatch}
  blacs_dyn::Lay on(blacs_dyn::Shape shape, int at) const;
  /// Bytes of the local array; one element at least, so that the pointer is never null in the grid.
  std::size_t bytes(const blacs_dyn::Lay& lay) const;
  void place(blacs_dyn::Lay lay, redist::SharedArray local, int context);
  void unplace(); ///< this process has no part of it any more
};

namespace blacs_dyn {

using Matrix = dyngrid_matrix;

std::size_t element_bytes(char type); ///< 0 for an unknown type
/// A number for where things lie, to compare between processes.
std::int64_t fingerprint(const std::vector<Lay>& lays);

} // namespace blacs_dyn
