// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines by a program that nobody changes, carried out where they run best (DYNGRID_CALLS).
#pragma once

namespace control {
class CallsBoard;
}

namespace blacs_dyn::calls {

/// What calls took so far; outlives everything. Local.
const control::CallsBoard& board();
/// The application has a socket of its own from here on. Local.
void stop_listening();
/// All contexts are being closed: those of other places are forgotten. Local.
void contexts_are_closed();

} // namespace blacs_dyn::calls
