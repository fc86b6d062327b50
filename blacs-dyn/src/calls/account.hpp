// SPDX-License-Identifier: BSD-3-Clause
// What calls took, for whoever asks: while the program runs, and in the history.
#pragma once
#include "base/grid_shape.hpp"
#include "control/call_report.hpp"

namespace blacs_dyn::calls {

/// Of this process; outlives everything.
control::CallsBoard& counts();

/// True on the process that tells: process 0 of an application of ours, else of MPI_COMM_WORLD. Local.
bool is_first_process();
/// A program that knows nothing of dyngrid gets the job's socket all the same, from its first call on; process 0 calls
/// it. An application of ours has one already. Local.
void listen(base::GridShape grid);
/// The end: the table on standard error, and a line in the history. Local, of the process that tells.
void tell_and_keep();

} // namespace blacs_dyn::calls
