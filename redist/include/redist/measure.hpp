// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

#include "advise/machine.hpp"

namespace redist {

class Executor;

/// Measures what advise::exchange_cost needs for these processes: message latency and bandwidth, the rate at which
/// they copy all at once, and the cores that they share. The figures come from short exchanges of at most 3 MB into
/// fresh memory, as a change of the grid makes them; they take about ten milliseconds. The bandwidth is that between
/// two hosts; on one host a message is two copies, and takes as long as one. A single process measures the rate of its
/// copies alone. Collective over comm; the same result on all ranks.
/// @param executor over the ranks of comm
/// @throws Error{mpi_failure, out_of_memory}, agreed
advise::Machine measure_machine(MPI_Comm comm, Executor& executor);

} // namespace redist
