// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <CLI/CLI.hpp>

/// `dyngrid plan`: what moves, in how many steps and how long it takes when a matrix goes from one grid to
/// another. Needs no MPI. Prints to stdout from CLI's callback; wrong arguments end in CLI::ValidationError
/// or gridmap::Error.
void add_plan_command(CLI::App& app);
