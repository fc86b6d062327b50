// SPDX-License-Identifier: BSD-3-Clause
// What the copies ask of BLACS.
#pragma once
#include <mpi.h>

extern "C" {
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_pinfo(int* mypnum, int* nprocs);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridexit(int ctxt);
MPI_Comm Cblacs2sys_handle(int handle);
}
