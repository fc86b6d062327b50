// SPDX-License-Identifier: BSD-3-Clause
// A sub-command of `dyngrid`: a function that adds it to the command line, in the table of main.cpp. Its callback does
// the work and prints. Errors are thrown as base::Error or Failure. In main() they become one line on stderr and an
// exit status.
#pragma once

#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "shared/failure.hpp"

namespace command {

using base::CommandLine;

void add_load(CommandLine& root);
void add_plan(CommandLine& root);
void add_restart(CommandLine& root);
void add_ps(CommandLine& root);
void add_watch(CommandLine& root);
void add_resize(CommandLine& root);
void add_history(CommandLine& root);
void add_checkpoint(CommandLine& root);
void add_run(CommandLine& root);
void add_doctor(CommandLine& root);
void add_env(CommandLine& root);
void add_completion(CommandLine& root);
/// What the last of `words` (those after the program's name) can be: "WORD<tab>HELP" each, or one line :files or
/// :command. The shell chooses those that begin as the last word does.
std::vector<std::string> completions(const CommandLine& root, const std::vector<std::string>& words);

// dyngrid plan SUBJECT
void add_plan_balance(CommandLine& plan);
void add_plan_decision(CommandLine& plan);
void add_plan_exchange(CommandLine& plan);
void add_plan_hosts(CommandLine& plan);
void add_plan_mapping(CommandLine& plan);
void add_plan_phases(CommandLine& plan);
void add_plan_placement(CommandLine& plan);
void add_plan_selection(CommandLine& plan);
void add_plan_shapes(CommandLine& plan);

} // namespace command
