// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <mpi.h>

namespace redist {

/// Whether all processes that a grid was made of are still there to talk. Its communicator carries it as an attribute,
/// and so does every duplicate; splits do not. Executors and halos look at it, since an exchange over a communicator
/// with a process that has left or sleeps would wait for ever.
struct GridLife {
  bool is_whole = true;
};

/// The duplicates made from here on share `life` with comm. Local.
void tie_to_grid(MPI_Comm comm, const std::shared_ptr<GridLife>& life);
/// @throws Error{bad_argument, bad_state} naming `what` when comm is MPI_COMM_NULL, or belongs to a grid that is not
/// whole any more. Local; the others may not be there to agree.
void require_whole_grid(MPI_Comm comm, const char* what);

} // namespace redist
