// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gridmap/axis.hpp"
#include "gridmap/field.hpp"
#include "redist/layout.hpp"

namespace blacs_dyn {

/// What a program says of a field; blocks and process_dims may be null: 0 of all dimensions.
struct FieldAsked {
  int dims = 0;
  const std::int64_t* extents = nullptr;
  const std::int64_t* blocks = nullptr;
  const int* process_dims = nullptr;

  /// @throws Error{bad_argument, null_pointer}
  gridmap::FieldDimensions read() const;
};

/// What one process has of a field, dimension by dimension.
struct FieldPart {
  std::vector<int> parts;       ///< over how many the dimension is cut; 0 on a process without a part
  std::vector<int> coordinates; ///< which of them this process has; -1 on a process without a part
  std::vector<std::int64_t> extents;
  std::vector<std::vector<gridmap::Axis::Stretch>> stretches;

  /// position: which of `nprocs` this process has; -1: no part
  void add(const gridmap::FieldDimensions& dimensions, int nprocs, int position);
};

/// The same field, in the same local arrays, as the matrix whose rows are its first `split` dimensions. rows, cols:
/// dimensions of its own rows and columns; lies: how it lies by these. Pure.
/// @throws Error{bad_argument} when a list of its runs is too long
redist::Layout split_at(std::size_t split, const gridmap::FieldDimensions& rows, const gridmap::FieldDimensions& cols,
                        const redist::Layout& lies);

/// "field of 5 x 100 x 100 in blocks of 0 x 0 x 8, process_dims 1 x 0 x 0"
std::string field_text(const gridmap::FieldDimensions& dimensions);

} // namespace blacs_dyn
