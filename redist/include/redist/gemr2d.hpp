// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace redist {

/// The drop-in p?gemr2d keeps an Executor and a few plans per BLACS context. They go by themselves when the
/// context's communicator is freed (blacs_gridexit); these two let go of them earlier. Collective over the
/// context's processes; a context that has none is fine.
void forget_context(int ctxt);
/// Of all contexts, oldest first. Collective over all processes that called p?gemr2d in them.
void forget_all_contexts();
/// Contexts that have something kept here. Local, for tests.
std::size_t remembered_contexts();

} // namespace redist
