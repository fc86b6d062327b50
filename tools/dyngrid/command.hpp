// SPDX-License-Identifier: BSD-3-Clause
// A sub-command of `dyngrid`: a function that adds it to the command line, in the table of main.cpp. Its
// callback does the work and prints. Errors are thrown: base::Error or Failure, and become one line on
// stderr and an exit status in main().
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "failure.hpp"

namespace command {

void add_topology(CLI::App& root);
void add_place(CLI::App& root);
void add_plan(CLI::App& root);
void add_map(CLI::App& root);
void add_restart(CLI::App& root);
void add_select(CLI::App& root);
void add_ps(CLI::App& root);
void add_watch(CLI::App& root);
void add_resize(CLI::App& root);
void add_grow(CLI::App& root);
void add_shrink(CLI::App& root);
void add_history(CLI::App& root);
void add_simulate(CLI::App& root);
void add_submit(CLI::App& root);
void add_queue(CLI::App& root);
void add_cancel(CLI::App& root);
void add_run(CLI::App& root);
void add_slurm(CLI::App& root);
void add_doctor(CLI::App& root);
void add_env(CLI::App& root);
void add_completion(CLI::App& root);
void add_man(CLI::App& root);

} // namespace command
