// SPDX-License-Identifier: BSD-3-Clause
// Parts used by both halves of JobState: the application's thread and the listener's thread.
#pragma once

#include <vector>

#include "advise/decide.hpp"
#include "control/protocol.hpp"
#include "control/resize_request.hpp"

namespace control {

/// Whether to carry out a request, and by which grid.
advise::Decision decide(const advise::Situation& here, const ResizeRequest& request);
/// The hosts and the form that were decided on.
void take_choice(ResizeRequest& request, const advise::Decision& decision);

Json json_of(const std::vector<advise::GroupInfo>& groups);
/// The hosts of the processes of the grid, by the requested names; null: too many hosts for one line.
Json hosts_of(const std::vector<advise::ProcessInfo>& processes);

} // namespace control
