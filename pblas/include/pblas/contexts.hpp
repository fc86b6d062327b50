// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace pblas {

/// Data that these routines keep for a BLACS context (communicators of its rows and columns, an executor of redist)
/// goes with the context by itself; this lets go of all of it earlier, oldest first. Collective over all processes that
/// called a routine in them.
void forget_all_contexts();
/// Large calls in this context are ours under DYNGRID_PBLAS=auto (way.hpp), until it is closed. Local, on all of its
/// processes, since they must decide alike.
void prefer_ours(int ctxt);
/// Contexts that something is kept for. Local, for tests.
std::size_t remembered_contexts();

} // namespace pblas
