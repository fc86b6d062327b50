// SPDX-License-Identifier: BSD-3-Clause
// The sub-commands of `dyngrid` that talk to dyngrid-sched. They are present where the scheduler was built.
#pragma once

#include "base/command_line.hpp"
#include "control/client.hpp"

namespace command {

/// The running dyngrid-sched. @throws Failure
control::Client scheduler();

void add_submit(base::CommandLine& root);
void add_queue(base::CommandLine& root);
void add_cancel(base::CommandLine& root);

} // namespace command
