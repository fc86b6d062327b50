// SPDX-License-Identifier: BSD-3-Clause
// What is special to MPICH, behind questions. What it can and cannot do: docs/mpi.md.
#pragma once
#include <string>

#include "base/mpi_version.hpp"

namespace blacs_dyn::mpich {

/// Why it starts no processes; empty when nothing is known against it. Pure.
std::string spawn_trouble(const base::MpiVersion& mpi);

} // namespace blacs_dyn::mpich
