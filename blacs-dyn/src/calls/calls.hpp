// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines by a program that nobody changes, carried out where they run best (DYNGRID_CALLS).
#pragma once

namespace control {
class CallsBoard;
}

namespace blacs_dyn::calls {

/// What calls took so far; outlives everything. Local.
const control::CallsBoard& board();
/// DYNGRID_CALLS names routines, and no call of one of them came here. Local.
bool were_none_seen();
/// See dyngrid_run_on. Local. @throws Error{bad_argument}, run_on_end Error{bad_state}
void run_on(int nprow, int npcol, int nb, const char* routines);
void run_on_begin(int nprow, int npcol, int nb, const char* routines);
void run_on_end();
/// All contexts are being closed: those of other places are forgotten. Local.
void contexts_are_closed();

} // namespace blacs_dyn::calls
