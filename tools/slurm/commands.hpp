// SPDX-License-Identifier: BSD-3-Clause
// The sub-command `dyngrid slurm`. It is present where the Slurm agent was built.
#pragma once

#include "base/command_line.hpp"

namespace command {

void add_slurm(base::CommandLine& root);

} // namespace command
