// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include <mpi.h>

#include "base/mpi/comm.hpp"
#include "gemr2d/given.hpp"
#include "gemr2d/prepared_copy.hpp"
#include "redist/executor.hpp"

namespace redist::detail {

/// A set of processes, in order, over which something was copied. Programs open a context for each copy, so an executor
/// and the last plans are kept for the set, once it has made some copies. Until then copies go without an executor
/// (exec/once.hpp).
///
/// All processes of a set must agree, without communication, on whether it has an executor. So one is made only in a
/// collective call, from figures that all of them gathered. It is destroyed with the last context over the set, which
/// is a collective call, too, or never (is_kept). A set without an executor may be forgotten by each process alone.
struct ProcessSet {
  base::Group group;
  int rank = 0, size = 1;
  bool is_of_one_world = false; ///< all of it are in my MPI_COMM_WORLD: no process can leave it before MPI_Finalize
  bool is_kept = false;
  int contexts = 0; ///< over it, that have copied
  int load = 0;     ///< of the copies so far
  std::unique_ptr<Executor> executor;
  std::list<std::unique_ptr<PreparedCopy>> plans; ///< latest first; only with an executor
  std::int64_t made = 0;
};

/// What is kept for one context.
struct State {
  MPI_Comm comm = MPI_COMM_NULL; ///< the context's own, borrowed
  ProcessSet* set = nullptr;
  int load = 0;
};

/// Local. What it finds of sets with an executor is the same on all of their ranks.
State& state_of(int ctxt);

/// Makes the executor when it is time to: the same on all ranks, since they decide by the calls of all.
void make_executor(State& state, const std::vector<CallOfRank>& calls);

/// Whether this process has room for one more executor that stays.
bool has_room();

} // namespace redist::detail
