// SPDX-License-Identifier: BSD-3-Clause
// Queries for the special properties of Open MPI 5 and its launcher PRRTE. Its abilities and limits: docs/mpi.md.
// Before main it sets what a growth needs from MPI_Init on: control/mpi_settings.hpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace blacs_dyn::openmpi5 {

/// Whether mpirun may start more processes than it has slots: spawned ones inherit that. Asked of PMIx; false when the
/// client has none.
bool may_oversubscribe();

std::string remote_spawn_trouble();
std::string join_trouble();

void add_spawn_info(std::vector<std::pair<std::string, std::string>>& info, int count);

} // namespace blacs_dyn::openmpi5
