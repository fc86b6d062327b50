// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "advise/machine.hpp"
#include "redist/layout.hpp"
#include "redist/rank_plan.hpp"
#include "redist/schedule.hpp"

namespace redist {

enum class Op { none, transpose, conjugate_transpose };
/// Of 'N', 'T' or 'C', as the BLAS has them. @throws Error{bad_argument}
Op op_of(char transpose);

/// Machine parameters of a prediction. A plan that chooses by it must get the same figures on every rank.
using Machine = advise::Machine;

/// A rectangle of a matrix, 0-based: rows i .. i+m-1, columns j .. j+n-1.
struct Window {
  std::int64_t i = 0, j = 0, m = -1,
               n = -1; ///< m, n < 0: as the other window has it; when both are, to the end
};

struct PlanOptions {
  Schedule schedule = Schedule::automatic;
  Op op = Op::none;
  Window from;           ///< of the source
  Window to;             ///< of the target; same m x n (n x m when transposed)
  int element_bytes = 8; ///< for the choice of Schedule::automatic
  Machine machine;       ///< for the same; equal on every rank
};

/// Whole-machine figures, from the one-axis tables, without listing pairs.
struct PlanTotals {
  std::int64_t messages = 0;       ///< between different ranks
  std::int64_t moved_elements = 0; ///< that change their rank
  std::int64_t kept_elements = 0;  ///< that stay on their rank
  std::int64_t max_in = 0;         ///< elements, largest over ranks
  std::int64_t max_out = 0;
  std::int64_t max_touched = 0;  ///< elements out, in and kept of one rank, largest over ranks
  std::int64_t max_partners = 0; ///< messages out of or into one rank, largest over ranks
  std::int64_t ranks = 0;        ///< in either grid

  /// One-port lower bound: no order of messages, one partner at a time, takes less than this many elements'
  /// time.
  std::int64_t lower_bound() const { return max_in > max_out ? max_in : max_out; }
};

/// Figures of a plan under a schedule.
struct ScheduleFigures {
  Schedule schedule = Schedule::async;
  std::int64_t steps = 0; ///< in which anything is sent
  std::int64_t sum_of_largest =
      0;                        ///< elements: over the steps, the largest message; for async the largest load of a rank
  std::int64_t lower_bound = 0; ///< elements, PlanTotals::lower_bound()
  std::vector<std::int64_t> largest;    ///< elements by step
  std::vector<std::int64_t> contention; ///< messages out of or into one rank by step, largest over ranks
};

namespace detail {
struct PlanTables;
}

/// Which elements go from where to where when a matrix changes from one layout to another. Pure: no MPI, no
/// matrix data.
///
/// The plan is the product of two one-axis plans, one along the target's rows and one along the target's
/// columns. With Op::transpose the source's columns face the target's rows and the source's rows the target's
/// columns.
///
/// Immutable; copies share their tables.
class Plan {
public:
  /// Cost: time O(blocks of both layouts in one joint period of an axis), once.
  /// @throws Error{bad_argument, shape_mismatch} when an axis or a grid is not valid, an axis and its grid
  /// differ in size, a
  ///   window leaves its matrix, or the two windows differ in size. The same on every rank, as all arguments
  ///   are global.
  Plan(Layout from, Layout to, PlanOptions options = {});

  /// The data that `rank` sends, receives and keeps, in the order of the schedule. Ranks in neither grid get an empty
  /// plan. Cost: time and memory O(my neighbours + my runs).
  /// @param type of the elements: s d c z i. Whether it is one of them is checked when an exchange is prepared.
  RankPlan for_rank(int rank, char type = 'd') const;
  PlanTotals totals() const;

  /// The schedule in use; never automatic.
  Schedule schedule() const;
  /// Figures of the schedule in use. Cost: none to speak of but for `caterpillar`, which goes through all
  /// messages.
  ScheduleFigures figures() const;
  /// Data sent and copied in the schedule in use, for gridmap's cost model.
  advise::PlanVolume volume(int element_bytes) const;
  /// Seconds that carrying out this plan takes: advise::exchange_cost of volume().
  double predicted_seconds(const Machine& machine, int element_bytes) const;
  /// For each of `ranks` ranks: the busiest takes predicted_seconds, others less as they send and receive less. Cost:
  /// that of for_rank for all of them.
  std::vector<double> predicted_seconds_of_ranks(const Machine& machine, int element_bytes, int ranks) const;
  /// A few lines for people.
  std::string describe() const;

  const Layout& from() const { return from_; }
  const Layout& to() const { return to_; }
  const PlanOptions& options() const { return options_; } ///< windows filled in

private:
  Layout from_;
  Layout to_;
  PlanOptions options_;
  std::shared_ptr<const detail::PlanTables> tables_;
};

} // namespace redist
