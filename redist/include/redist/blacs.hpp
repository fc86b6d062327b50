// SPDX-License-Identifier: BSD-3-Clause
// Where a process stands in a BLACS context.
#pragma once
#include <mpi.h>

#include "base/mpi/blacs.hpp"
#include "redist/descriptor.hpp"

namespace redist {

/// Where this process stands in a context's grid; all -1 outside.
inline GridPosition position_in(int ctxt) {
  GridPosition here;
  if (ctxt >= 0) Cblacs_gridinfo(ctxt, &here.nprow, &here.npcol, &here.myrow, &here.mycol);
  const bool is_inside = here.myrow >= 0 && here.mycol >= 0 && here.myrow < here.nprow && here.mycol < here.npcol;
  return is_inside ? here : GridPosition{};
}

/// The context's own, borrowed.
inline MPI_Comm communicator_of(int ctxt) {
  constexpr int own_communicator = 10;
  int handle = -1;
  Cblacs_get(ctxt, own_communicator, &handle);
  return Cblacs2sys_handle(handle);
}

} // namespace redist
