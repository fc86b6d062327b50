// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace blacs_dyn {

/// ScaLAPACK's own routines behind those that we replace. Looked up after us in the order of linking, so -ldyngrid
/// stands before -lscalapack.
/// @throws Error{unsupported} when there is no BLACS in the program.
namespace stock {
void pinfo(int* iam, int* nprocs);
void setup(int* iam, int* nprocs);
void get(int context, int what, int* value);
void get_fortran(int context, int what,
                 int* value); ///< system contexts are Fortran communicators there, and numbers of a table in C
void exit(int not_done);
void gridmap(int* context, int* map, int ld, int nprow, int npcol);
void gridmap_fortran(int* context, int* map, const int* ld, const int* nprow, const int* npcol);
void gridexit(int context);
} // namespace stock

/// The address of the next definition of `name` after ours. @throws Error{unsupported}
void* next_symbol(const char* name);

} // namespace blacs_dyn
