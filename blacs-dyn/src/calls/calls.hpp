// SPDX-License-Identifier: BSD-3-Clause
// Calls of ScaLAPACK's routines by a program that nobody changes, carried out where they run best (DYNGRID_CALLS).
#pragma once

namespace blacs_dyn::calls {

/// All contexts are being closed: those of other places are forgotten. Local.
void contexts_are_closed();

} // namespace blacs_dyn::calls
