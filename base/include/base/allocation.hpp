// SPDX-License-Identifier: BSD-3-Clause
// The hosts that a batch system has given a job. mpirun takes all of them where it is given none: in an allocation of
// Slurm, PBS or Torque, LSF or Grid Engine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// The value of a variable of the environment; empty where it is not set.
using VariableOf = std::function<std::string(const char* name)>;

/// The hosts in the list of PBS, LSF or Grid Engine, each once; none where there is no such list.
std::vector<std::string> allocated_hosts(const VariableOf& variable);
/// Their number, that of Slurm's nodes too; 0: this is no job of a batch system.
int count_allocated_hosts(const VariableOf& variable);
/// Whether an mpirun takes itself for one of such a job by this variable.
bool is_of_an_allocation(std::string_view name);

} // namespace base
