// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <mpi.h>

#include "redist/rank_plan.hpp"

namespace redist::detail {

/// Moves the matrices without an executor: one message from each rank to each of its partners, over `comm` as
/// it is. Nothing is set up and nothing stays, so for a copy or two of a small matrix it is the quickest way;
/// buffers hold all that this rank sends and receives, so it is none for large ones.
///
/// Collective in the sense that partners must come; no others are waited for, and nothing is agreed.
/// @param tag  not used by others on `comm`. Exchanges may follow each other with the same one.
/// @throws Error{bad_type, bad_argument, null_pointer, mpi_failure} on this rank alone; std::bad_alloc
void exchange_once(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers, MPI_Comm comm,
                   int tag);

} // namespace redist::detail
