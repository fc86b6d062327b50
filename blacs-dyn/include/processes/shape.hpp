// SPDX-License-Identifier: BSD-3-Clause
// Names of base and gridmap that this room uses.
#pragma once

#include "base/grid_shape.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/timetable.hpp"

namespace blacs_dyn {

using Shape = base::GridShape;
using TimedRequest = gridmap::TimedResize;
using base::max_processes;
using base::squarest;
using base::to_string;
using gridmap::to_string;

} // namespace blacs_dyn
