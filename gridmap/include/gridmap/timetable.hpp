// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/grid_shape.hpp"
#include "gridmap/placement.hpp"

namespace gridmap {

/// One entry of a timetable of resizes.
struct TimedResize {
  long step = 0; ///< before this step, counted from 0: the resize points of the program
  base::GridShape to;
  std::optional<Placement> placement{};
};

/// "5:3x3,10:4x4@local2,15:2x2": steps ascending, at most one entry a step. Empty text: no entries.
/// @throws Error{bad_argument} that quotes the entry of `where`.
std::vector<TimedResize> parse_timetable(std::string_view text, std::string_view where);

} // namespace gridmap
