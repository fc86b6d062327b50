// SPDX-License-Identifier: BSD-3-Clause
// What calls took, for whoever asks: while the program runs, and in the history.
#pragma once
#include <string>

#include "base/grid_shape.hpp"
#include "control/call_report.hpp"

namespace blacs_dyn::calls {

/// Of this process; outlives everything.
control::CallsBoard& counts();

/// At the first call: who tells is process 0 of an application of ours, else of MPI_COMM_WORLD. Local.
void find_teller();
bool is_teller();
/// By the process that tells, once for each `what`. Local.
void say_once(const std::string& what, const std::string& text);
/// A program that knows nothing of dyngrid gets the job's socket all the same, from its first call on, of the process
/// that tells. An application of ours has one already. Local.
void listen(base::GridShape grid);
/// The end: the table on standard error, and a line in the history. Local, of the process that tells.
void tell_and_keep();

} // namespace blacs_dyn::calls
