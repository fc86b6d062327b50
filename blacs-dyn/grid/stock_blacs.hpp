// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "processes/names.hpp"

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

/// Why the program's own BLACS does not know a grid that was made with ours: some part of ScaLAPACK is in the program,
/// and keeps contexts of its own. Empty: it knows it. Local.
std::string trouble_with_blacs(int context, Shape grid);

/// Grids that came to dyngrid's set-up routines. Local.
extern int grids_seen;
/// After dyngrid's first grid: whether the program's BLACS called dyngrid's set-up routines for it, or its own. Local.
void note_first_grid(int seen_before);
/// Why no new process can join a grid; empty: it can, as far as the BLACS is concerned. Local.
const std::string& growth_trouble();

/// DYNGRID_VERBOSE is on. Local.
bool is_verbose();

/// Prints on standard error which library's p?gemr2d this program calls, once and under DYNGRID_VERBOSE. One process
/// prints it. Local.
void say_whose_copier();

/// Why nothing that this library replaces has been called. Local.
std::string why_nothing_is_called();

/// The address of the next definition of `name` after ours. @throws Error{unsupported}
void* next_symbol(const char* name);

} // namespace blacs_dyn
