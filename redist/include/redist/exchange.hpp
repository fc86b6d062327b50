// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include "redist/executor.hpp"
#include "redist/rank_plan.hpp"

namespace redist {

namespace detail {
struct Prepared;
}

/// One exchange of any number of matrices over an executor's ranks, prepared once and run as often as needed, with the
/// matrices wherever they lie:
///
///     const Plan plan(from, to);
///     const RankPlan mine = plan.for_rank(rank, 'd');
///     const Exchange exchange = Exchange::prepare({&mine}, executor);
///     exchange.run({{a, lld_a, b, lld_b}});
///
/// The rank plans outlive it. It keeps the cursors of its run, so one thread at a time uses it; after the executor is
/// closed it refuses.
class Exchange {
public:
  /// Works out messages, groups, turns and copy runs, and gets all buffers. `plans` are this rank's, one for each
  /// matrix. Collective.
  /// @throws Error{bad_type, bad_argument, null_pointer, rank_mismatch, out_of_memory, bad_state}, agreed
  static Exchange prepare(const std::vector<const RankPlan*>& plans, Executor& executor);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// Moves the matrices; `pointers` has one entry for each. Collective. Allocates nothing (an array that another rank
  /// reads in place is mapped there the first time).
  /// @throws Error{bad_argument, null_pointer}, agreed; Error{bad_state, timeout, mpi_failure}
  ExecuteReport run(const std::vector<Pointers>& pointers) const;

private:
  friend class Executor;
  explicit Exchange(std::unique_ptr<detail::Prepared> prepared);
  std::unique_ptr<detail::Prepared> prepared_;
};

} // namespace redist
