// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace base {

/// Waits without burning the core that another process may need to come up. Cancels nothing.
void wait_asleep(MPI_Request* request);
/// True when all completed within `seconds`.
bool wait_asleep_for(int count, MPI_Request* requests, double seconds);
/// Cancels requests that will not be waited for, since an exception is under way: MPI may no longer touch the buffers.
void call_off(int count, MPI_Request* requests) noexcept;

} // namespace base
