// SPDX-License-Identifier: BSD-3-Clause
// The statistics of calls, as dyngrid shows them while the program runs.
#pragma once
#include <string>

#include "calls/call_decider.hpp"
#include "control/call_report.hpp"

namespace blacs_dyn::calls {

/// The statistics of the calls of this process; outlives everything.
control::CallsBoard& counts();

/// At the first call: the process that prints is process 0 of an application of ours, else of MPI_COMM_WORLD. Local.
void find_printing_process();
/// By the process that prints, once for each `what`. Local.
void print_once(const std::string& what, const std::string& text);
/// A program that never calls dyngrid gets the job's socket, of the process that prints. Once. Local.
void show(base::GridShape grid);
CallHost& host();

} // namespace blacs_dyn::calls
