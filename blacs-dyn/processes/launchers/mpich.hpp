// SPDX-License-Identifier: BSD-3-Clause
// Queries for the special properties of MPICH. Its abilities and limits: docs/mpi.md.
#pragma once
#include <string>

#include "base/mpi_version.hpp"

namespace blacs_dyn::mpich {

/// Why it starts no processes; empty when nothing is known against it. Pure.
std::string spawn_trouble(const base::MpiVersion& mpi);

} // namespace blacs_dyn::mpich
