// SPDX-License-Identifier: BSD-3-Clause
// What is special to Open MPI 4, behind questions. What it can and cannot do: docs/mpi.md.
#pragma once
#include <string>
#include <string_view>

namespace blacs_dyn::openmpi4 {

/// Whether mpirun may start more processes than it has slots.
bool may_oversubscribe();

/// What --ompi-server said to mpirun; null when it said nothing.
const char* name_server();

/// Whether mpirun hands this variable on to its processes to tell them about themselves; another mpirun that is started
/// from one of them must not see it. What a user sets for every run, transports and the like, is not.
bool is_of_its_mpirun(std::string_view name);

} // namespace blacs_dyn::openmpi4
