// SPDX-License-Identifier: BSD-3-Clause
// Parts used by both halves of JobState: the application's thread and the listener's thread.
#pragma once

#include <utility>
#include <vector>

#include "control/decide.hpp"
#include "control/protocol.hpp"
#include "control/resize_request.hpp"

namespace control {

inline std::pair<int, int> key_of(base::GridShape shape) {
  return {shape.nprow, shape.npcol};
}

/// Whether to carry out a request, and by which grid.
Decision decide(const Situation& here, const ResizeRequest& wish);
/// The hosts and the form that were decided on.
void take_choice(ResizeRequest& wish, const Decision& decision);

Json json_of(const std::vector<GroupInfo>& groups);
/// The hosts of the processes of the grid, by the requested names; null: too many hosts for one line.
Json hosts_of(const std::vector<ProcessInfo>& processes);
Json json_of(const ChangeCost& cost);

} // namespace control
