// SPDX-License-Identifier: BSD-3-Clause
// The programs inside Slurm's jobs: the agent in the application's own, a node in each of the others.
#pragma once

#include <string>

#include "words.hpp"

namespace slurm {

/// In the application's job: starts it, and adds nodes to it and removes them until it ends. Returns its exit status.
/// @throws command::Failure before anything was started.
int run_agent(const Request& request, const std::string& dyngrid);

/// On a node: reports to the place that standard input names, runs groups on request, and reports when Slurm requests
/// the node back. Returns the exit status.
int run_node();

/// Called by the application for each new group (DYNGRID_START=command). Gives it to the agent whose place is in
/// `file`. Waits until the group is in the grid (status 0) or is given up (1).
int hand_over(const std::string& file);

} // namespace slurm
