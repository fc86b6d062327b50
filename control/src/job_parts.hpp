// SPDX-License-Identifier: BSD-3-Clause
// What both halves of JobState use: that of the application's thread and that of the one that listens.
#pragma once

#include <utility>
#include <vector>

#include "control/decide.hpp"
#include "control/protocol.hpp"
#include "control/resize_request.hpp"

namespace control {

inline std::pair<int, int> key_of(gridmap::GridShape shape) {
  return {shape.nprow, shape.npcol};
}

/// Whether a request is to be followed, and by which grid.
Decision decide(const Situation& here, const ResizeRequest& wish);
/// The hosts and the form that were decided on.
void take_choice(ResizeRequest& wish, const Decision& decision);

Json json_of(const std::vector<GroupInfo>& groups);
/// Where the processes of the grid are, by the names that were asked for; null: on too many hosts for one line.
Json hosts_of(const std::vector<ProcessInfo>& processes);
Json json_of(const ChangeCost& cost);

} // namespace control
