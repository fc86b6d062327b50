// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <mpi.h>

#include "redist/executor.hpp"
#include "redist/plan.hpp"

namespace redist {

/// The five figures of this machine that gridmap::exchange_cost needs, for these processes and this transport.
/// Measured in less than two seconds: about half of them the first time, and because the speed of a machine changes
/// with what others do on it, the rest in up to four of the later calls that are at least five seconds apart. From then
/// on they are read from a file. Collective over comm; the same on all ranks.
///
/// The file is `dyngrid/machine<version>-<host>-<transport>-<ranks>` under XDG_CACHE_HOME, or ~/.cache; without either
/// nothing is kept.
/// @throws Error{mpi_failure, out_of_memory}
Machine measure_machine(MPI_Comm comm, Transport transport = Transport::automatic, bool measure_again = false);

/// What measure_machine found earlier for this number of ranks, from its file. Empty when there is none. Local.
std::optional<Machine> known_machine(int ranks, Transport transport = Transport::automatic);

/// Where rank 0 keeps them; empty: nowhere. Local.
std::string machine_file(int ranks, Transport transport);

} // namespace redist
