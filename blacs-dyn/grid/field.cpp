// SPDX-License-Identifier: BSD-3-Clause
#include "grid/field.hpp"

#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/status.hpp"
#include "dyngrid/layout.h"

namespace blacs_dyn {

using base::Error;
using base::Status;
using gridmap::FieldDimension;
using gridmap::FieldDimensions;

namespace {

constexpr const char* routine = "blacs-dyn: dyngrid_field_create";

void check_length(const FieldDimensions& dimensions, const char* of_matrix) {
  std::int64_t length = 1;
  for (const FieldDimension& d : dimensions) {
    if (__builtin_mul_overflow(length, std::max<std::int64_t>(1, d.extent), &length)) length = INT64_MAX;
    if (length > INT_MAX)
      throw Error(Status::bad_argument,
                  "{}: extents {} are the {} of the field's matrix, expected a product of at most {}", routine,
                  gridmap::extents_text(dimensions), of_matrix, INT_MAX);
  }
}

} // namespace

FieldDimensions FieldAsked::read() const {
  if (dims < 1 || dims > DYNGRID_FIELD_DIMS)
    throw Error(Status::bad_argument, "{}: dims is {}, expected 1 .. {}", routine, dims, int{DYNGRID_FIELD_DIMS});
  if (!extents) throw Error(Status::null_pointer, "{}: extents is null", routine);
  const auto checked = [&](const char* what, int d, std::int64_t value) {
    if (value < 0 || value > INT_MAX)
      throw Error(Status::bad_argument, "{}: {}[{}] is {}, expected 0 .. {}", routine, what, d, value, INT_MAX);
    return value;
  };
  FieldDimensions dimensions;
  for (int d = 0; d < dims; ++d) {
    const std::int64_t extent = checked("extents", d, extents[d]);
    const std::int64_t block = blocks ? checked("blocks", d, blocks[d]) : 0;
    dimensions.push_back(
        {extent, block, process_dims ? static_cast<int>(checked("process_dims", d, process_dims[d])) : 0});
  }
  const auto [rows, columns] = gridmap::rows_and_columns(dimensions);
  check_length(rows, "rows");
  check_length(columns, "columns");
  return dimensions;
}

void FieldPart::add(const FieldDimensions& dimensions, int nprocs, int position) {
  const bool has_part = position >= 0;
  const std::vector<int> cut =
      has_part ? gridmap::parts_of(dimensions, nprocs) : std::vector<int>(dimensions.size(), 0);
  std::vector<int> mine = has_part ? gridmap::coordinates(cut, position) : std::vector<int>(dimensions.size(), -1);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const gridmap::Axis axis = has_part ? gridmap::axis_of(dimensions[d], cut[d]) : gridmap::Axis{};
    parts.push_back(cut[d]);
    coordinates.push_back(mine[d]);
    extents.push_back(axis.local_size(mine[d]));
    stretches.push_back(has_part ? axis.stretches(mine[d]) : std::vector<gridmap::Axis::Stretch>{});
  }
}

redist::Layout split_at(std::size_t split, const FieldDimensions& rows, const FieldDimensions& cols,
                        const redist::Layout& lies) {
  FieldDimensions all = rows;
  all.insert(all.end(), cols.begin(), cols.end());
  std::vector<int> parts = gridmap::parts_of(rows, lies.rows.nprocs);
  const std::vector<int> of_cols = gridmap::parts_of(cols, lies.cols.nprocs);
  parts.insert(parts.end(), of_cols.begin(), of_cols.end());
  int nprow = 1, npcol = 1;
  for (std::size_t d = 0; d < all.size(); ++d) {
    all[d].parts = parts[d];
    (d < split ? nprow : npcol) *= parts[d];
  }
  const auto end_of_rows = all.begin() + static_cast<std::ptrdiff_t>(split);
  redist::Layout other{gridmap::field_axis({all.begin(), end_of_rows}, nprow),
                       gridmap::field_axis({end_of_rows, all.end()}, npcol),
                       {nprow, npcol, {}}};
  // positions over all dimensions, the first running fastest, have the same numbers whatever the split
  for (int p = 0; p < nprow; ++p)
    for (int q = 0; q < npcol; ++q) {
      const int number = p + nprow * q;
      other.grid.ranks.push_back(lies.grid.rank_at(number % lies.rows.nprocs, number / lies.rows.nprocs));
    }
  return other;
}

std::string field_text(const FieldDimensions& dimensions) {
  std::vector<std::int64_t> blocks;
  std::vector<int> parts;
  for (const FieldDimension& d : dimensions) {
    blocks.push_back(d.block);
    parts.push_back(d.parts);
  }
  return fmt::format("field of {} in blocks of {}, process_dims {}", gridmap::extents_text(dimensions),
                     fmt::join(blocks, " x "), fmt::join(parts, " x "));
}

} // namespace blacs_dyn
