// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/command_line.hpp"
#include "shared/launch.hpp"

namespace command {

/// The common part of `run` and `restart`.
struct RunOptions {
  RunRequest request;
  std::string mpirun = DYNGRID_MPIRUN;
  bool preload = false, dry_run = false, explain = false;
};
/// Options of both, except the program.
void add_run_options(base::CommandLine& app, RunOptions& options);
/// Becomes mpirun with the application, or prints the line that would. @throws Failure
void run_application(const RunOptions& options);

} // namespace command
