// SPDX-License-Identifier: BSD-3-Clause
// The BLACS in C, as far as they are called here: ScaLAPACK has no header.
#pragma once
#include <mpi.h>

extern "C" {
void Cblacs_pinfo(int* mypnum, int* nprocs);
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridmap(int* ctxt, int* map, int ld, int nprow, int npcol);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridexit(int ctxt);
void Cblacs_abort(int ctxt, int code);
int Cblacs_pnum(int ctxt, int row, int col);
int Csys2blacs_handle(MPI_Comm comm);
MPI_Comm Cblacs2sys_handle(int handle);
void Cfree_blacs_system_handle(int handle);
}
