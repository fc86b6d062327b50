// SPDX-License-Identifier: BSD-3-Clause
// What runs inside Slurm's jobs: the agent in the application's own, a node in each of the others.
#pragma once

#include <string>

#include "words.hpp"

namespace slurm {

/// In the application's job: starts it, and brings nodes to it and takes them away until it ends. Its exit status.
/// @throws command::Failure before anything was started.
int run_agent(const Request& request, const std::string& dyngrid);

/// On a node: says that it is there, at the place that standard input names, runs groups when it is told, and says when
/// Slurm wants the node back. Exit status.
int run_node();

/// Called by the application for each new group (DYNGRID_JOIN_START): gives it to the agent whose place is in `file`,
/// and waits until the group is in the grid (status 0) or is not to be (1).
int hand_over(const std::string& file);

} // namespace slurm
