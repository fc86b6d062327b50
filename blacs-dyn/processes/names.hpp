// SPDX-License-Identifier: BSD-3-Clause
// Names of base, gridmap and control that this room and those above it use.
#pragma once

#include "base/grid_shape.hpp"
#include "control/process_set.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/timetable.hpp"

namespace blacs_dyn {

using Shape = base::GridShape;
using TimedRequest = gridmap::TimedResize;
using base::max_processes;
using base::squarest;
using base::to_string;
using control::Change;
using control::GridMap;
using control::GroupPolicy;
using control::GrowthForm;
using control::has;
using control::HostShare;
using control::NewGroup;
using control::position;
using control::ProcessSet;
using control::SpawnGroup;
using gridmap::to_string;

} // namespace blacs_dyn
