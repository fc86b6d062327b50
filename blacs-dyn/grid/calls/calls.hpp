// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines that come to this library: to run where the program asked (dyngrid_run_on), or where
// libdyngrid-calls decides.
#pragma once
#include <memory>

namespace blacs_dyn {
class Control;
class Processes;
} // namespace blacs_dyn

namespace blacs_dyn::calls {

/// The application whose process 0 prints the messages about calls, and whose clients see them. Both live as long as
/// this process; control: null but on process 0. Local.
void belong_to(const Processes& processes, const std::unique_ptr<Control>& control);
/// DYNGRID_CALLS names routines, and no call of one of them came here. Local.
bool were_none_seen();
/// DYNGRID_CALLS names routines, and libdyngrid-calls.so is not loaded. Local.
bool is_library_missing();
/// See dyngrid_run_on. Local. @throws Error{bad_argument}, run_on_end Error{bad_state}
void run_on(int nprow, int npcol, int nb, const char* routines);
void run_on_begin(int nprow, int npcol, int nb, const char* routines);
void run_on_end();
/// All contexts are being closed: those of other places are forgotten. Local.
void contexts_are_closed();

} // namespace blacs_dyn::calls
