// SPDX-License-Identifier: BSD-3-Clause
// What redist and the rooms above ask of BLACS.
#pragma once
#include <mpi.h>

#include "redist/descriptor.hpp"

extern "C" {
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_pinfo(int* mypnum, int* nprocs);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridexit(int ctxt);
MPI_Comm Cblacs2sys_handle(int handle);
}

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
