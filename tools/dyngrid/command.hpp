// SPDX-License-Identifier: BSD-3-Clause
// A sub-command of `dyngrid`: a function that adds it to the command line, in the table of main.cpp. Its callback does
// the work and prints. Errors are thrown as base::Error or Failure. In main() they become one line on stderr and an
// exit status.
#pragma once

#include "base/command_line.hpp"
#include "shared/failure.hpp"

namespace command {

using base::CommandLine;

void add_balance(CommandLine& root);
void add_calls(CommandLine& root);
void add_phases(CommandLine& root);
void add_decide(CommandLine& root);
void add_load(CommandLine& root);
void add_topology(CommandLine& root);
void add_place(CommandLine& root);
void add_plan(CommandLine& root);
void add_map(CommandLine& root);
void add_restart(CommandLine& root);
void add_select(CommandLine& root);
void add_speeds(CommandLine& root);
void add_ps(CommandLine& root);
void add_watch(CommandLine& root);
void add_resize(CommandLine& root);
void add_grow(CommandLine& root);
void add_shrink(CommandLine& root);
void add_history(CommandLine& root);
void add_checkpoint(CommandLine& root);
void add_run(CommandLine& root);
void add_doctor(CommandLine& root);
void add_env(CommandLine& root);
void add_completion(CommandLine& root);

} // namespace command
