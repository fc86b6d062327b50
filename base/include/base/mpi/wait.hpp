// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace base {

/// Waits without burning the core that another process may need to come up. Cancels nothing.
void wait_asleep(MPI_Request* request);
/// Moves on whatever this process has under way in MPI, messages of the program included. A large message gets on only
/// while both of its ends are inside MPI, so a process that waits for something else looks in from time to time.
/// @param comm one that others take part in: with MPICH a look into MPI_COMM_SELF moves nothing else.
/// @throws Error{mpi_failure}
void let_mpi_progress(MPI_Comm comm);
/// Cancels requests that will not be waited for, since an exception is under way: MPI may no longer touch the buffers.
void call_off(int count, MPI_Request* requests) noexcept;

} // namespace base
