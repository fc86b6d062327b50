// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <initializer_list>
#include <string>

namespace redist {

/// BLACS contexts that a change of the grid has closed. A routine that is given one would find no process in it, and
/// the processes would wait for each other. All local.

/// by: "the change at step 3".
void context_was_closed(int ctxt, std::string by);
void context_is_open(int ctxt); ///< its number was used again
/// Ends the process with a message that names `routine` and the context, when one of these was closed.
void refuse_closed_contexts(const std::string& routine, std::initializer_list<int> contexts);

} // namespace redist
