// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace base {

/// A grid's shape in processes, nprow x npcol.
struct GridShape {
  int nprow = 0;
  int npcol = 0;
  int size() const { return nprow * npcol; }
  bool operator==(GridShape other) const { return nprow == other.nprow && npcol == other.npcol; }
  bool operator!=(GridShape other) const { return !(*this == other); }
  bool operator<(GridShape other) const { return nprow != other.nprow ? nprow < other.nprow : npcol < other.npcol; }
};

constexpr int max_grid_axis = (1 << 20) - 1; ///< a request travels as one 64-bit number, 20 bits per axis
constexpr std::int64_t max_processes = 1 << 20;

std::string to_string(GridShape shape); ///< "3x4"

/// Reads "3x4", blanks around it allowed; rows and columns from 1, at most max_grid_axis each. Nothing when the text
/// says something else, or more than max_processes.
std::optional<GridShape> grid_shape_from(std::string_view text);
/// The same. @throws Error{bad_argument} "<where> is "3y4", expected rows x columns as in 3x4".
GridShape parse_grid_shape(std::string_view text, std::string_view where);
/// "2x2-3x3": from one grid to another. @throws Error{bad_argument}
std::pair<GridShape, GridShape> parse_grid_change(std::string_view text, std::string_view where);

/// Rows and columns from 1, at most max_grid_axis each and max_processes together. @throws Error{bad_argument} naming
/// `where`.
void check_grid_shape(GridShape shape, std::string_view where);

/// Most square shape of exactly `nprocs` processes with nprow <= npcol.
GridShape squarest(int nprocs);

} // namespace base
