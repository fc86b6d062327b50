// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace redist {

/// The drop-in p?gemr2d keeps an Executor and a few plans for the processes of a BLACS context, in their
/// order, once there have been some copies over them. Where all of these are of one MPI_COMM_WORLD it stays
/// when the context goes, for the next context over them (of at most 8 such sets); otherwise it goes with the
/// last context. Contexts are let go of by themselves when their communicator is freed (blacs_gridexit);
/// this does it earlier for all of them, oldest first. Collective over all processes that called p?gemr2d in them.
void forget_all_contexts();
/// The same, and whatever stays without a context. Collective over all processes that called p?gemr2d
/// together with this one.
void forget_process_sets();
/// Contexts, and sets of processes with an Executor, that have something kept here. Local, for tests.
std::size_t remembered_contexts();
std::size_t remembered_executors();

} // namespace redist
