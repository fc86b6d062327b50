// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridmap/placement.hpp"

namespace blacs_dyn {

/// A grid's shape in processes, nprow x npcol.
struct Shape {
  int nprow = 0;
  int npcol = 0;
  int size() const { return nprow * npcol; }
  bool operator==(const Shape& other) const { return nprow == other.nprow && npcol == other.npcol; }
};

constexpr int max_grid_axis = (1 << 20) - 1; ///< a request travels as one 64-bit number, 20 bits per axis

constexpr std::int64_t max_processes = 1 << 20;

/// Rows and columns from 1, at most max_grid_axis each and max_processes together. @throws Error{bad_argument} naming
/// `where`.
void check_shape(Shape shape, std::string_view where);

/// "3x4". @throws Error{bad_argument} naming `where` ("DYNGRID_GRID").
Shape parse_shape(std::string_view text, std::string_view where);
std::string to_string(Shape shape);

/// "optimal", "global", "local1", "local2". @throws Error{bad_argument}
gridmap::Placement parse_placement(std::string_view text, std::string_view where);
const char* to_string(gridmap::Placement placement);

/// One entry of DYNGRID_RESIZE_AT.
struct TimedRequest {
  long step = 0; ///< before this step, counted from 0: the resize points of the program
  Shape to;
  std::optional<gridmap::Placement> placement;
};

/// "5:3x3,10:4x4@local2,15:2x2": steps ascending, at most one entry a step. Empty text: no entries.
/// @throws Error{bad_argument} that quotes the entry.
std::vector<TimedRequest> parse_schedule(std::string_view text, std::string_view where);

/// Most square shape of exactly `nprocs` processes with nprow <= npcol.
Shape squarest(int nprocs);

} // namespace blacs_dyn
