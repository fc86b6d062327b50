// SPDX-License-Identifier: BSD-3-Clause
// The BLACS contexts of this process: which of them a change of the grid closes, and tables of stock BLACS that are
// large enough while others stay open.
#pragma once
#include <string>

#include <mpi.h>

#include "base/mpi/comm.hpp"

namespace blacs_dyn::contexts {

/// The communicator of all processes of an open context, which is the context's own. Local.
MPI_Comm comm_of(int context);
bool is_open(int context);

/// While stock BLACS makes a grid in a session: its tables have room for all processes of `base`, which the grid is
/// made of, and it checks the grid against their number. base_is_ours: the context is closed at the next change of the
/// grid, as are those that are made of it. Local.
class Making {
public:
  Making(MPI_Comm base, bool base_is_ours);
  ~Making();
  void made(int context); ///< what came of it; below 0: this process is not in the grid

private:
  bool is_ours_;
  int before_ = 0;
};
/// Processes of the communicator that stock BLACS makes a grid of in this moment; 0 when it makes none.
int processes_in_making();

/// Closes the contexts that use dyngrid's communicators. Closes also those with processes of several MPI worlds
/// (mpirun's, each spawn's) of which one is not in `staying`: worlds leave and sleep without each other. The others
/// stay as they are. Numbers of closed contexts are not used again, so that a second close of one harms no other.
/// Collective over the processes of each; local to the BLACS.
/// @param staying, world  the new grid's processes, and those that were started with this one; both outlive the call.
/// @param by  what closes them, as a routine says that is given one of them later
void close_ours(const base::Group& staying, const base::Group& world, const std::string& by);
/// All contexts, as blacs_exit does.
void close_all(int not_done);
/// The same at the end of MPI, unless stock BLACS is doing it itself.
void close_rest();

} // namespace blacs_dyn::contexts
