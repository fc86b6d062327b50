// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gridmap/axis.hpp"

namespace gridmap {

/// One dimension of a field, an array of several dimensions on a process grid.
struct FieldDimension {
  std::int64_t extent = 0;
  std::int64_t block = 0; ///< dealt out in turn; 0: one block for each part
  int parts = 0;          ///< over which it is cut on every grid; 0: chosen for each grid

  bool operator==(const FieldDimension& other) const {
    return extent == other.extent && block == other.block && parts == other.parts;
  }
};

/// Neighbouring dimensions of a field, the first running fastest. They make one axis of its matrix: the local array of
/// each position holds the product of its parts, as a dense array.
using FieldDimensions = std::vector<FieldDimension>;

/// Over how many parts each dimension is cut on nprocs positions; their product is nprocs. Free dimensions are cut so
/// that the largest local array with a border of one element on each side has the fewest elements; of equals, later
/// dimensions are cut more. Pure.
/// @throws Error{bad_argument} when no product is nprocs
std::vector<int> parts_of(const FieldDimensions& dimensions, int nprocs);

/// How one dimension lies on its parts.
Axis axis_of(const FieldDimension& dimension, int parts);

/// The part of each dimension that position p has; p counts them as an array index does, the first running fastest.
std::vector<int> coordinates(const std::vector<int>& parts, int p);

/// The axis of all dimensions together: index i_1 + n_1 (i_2 + n_2 (i_3 ...)) lies where each of its indices does.
/// @throws Error{bad_argument} as parts_of(), or when the list of its runs is longer than Axis::most_sizes
Axis field_axis(const FieldDimensions& dimensions, int nprocs);

/// Dimensions in the order of the array, split where its matrix has the end of a column: the last dimension that may be
/// cut, and what follows, are the columns. One that is cut alone belongs to the rows.
std::pair<FieldDimensions, FieldDimensions> rows_and_columns(const FieldDimensions& all);
/// Of dimensions that may be cut.
int count_cut(const FieldDimensions& all);

/// "5 x 100 x 100"; "1" of none.
std::string extents_text(const FieldDimensions& dimensions);

} // namespace gridmap
