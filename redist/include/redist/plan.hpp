// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "redist/layout.hpp"
#include "redist/rank_plan.hpp"

namespace redist {

enum class Schedule { automatic, caterpillar, circulant, matching, async };
enum class Op { none, transpose, conjugate_transpose };

/// A rectangle of a matrix, 0-based: rows i .. i+m-1, columns j .. j+n-1.
struct Window {
  std::int64_t i = 0, j = 0, m = -1, n = -1; ///< m, n < 0: as the other window has it; when both are, to the end
};

struct PlanOptions {
  Schedule schedule = Schedule::automatic;
  Op op = Op::none;
  Window from; ///< of the source
  Window to;   ///< of the target; same m x n (n x m when transposed)
};

/// Whole-machine figures, from the one-axis tables, without listing pairs.
struct PlanTotals {
  std::int64_t messages = 0;         ///< between different ranks
  std::int64_t moved_elements = 0;   ///< that change their rank
  std::int64_t kept_elements = 0;    ///< that stay on their rank
  std::int64_t max_in = 0;           ///< elements, largest over ranks
  std::int64_t max_out = 0;
};

namespace detail {
struct PlanTables;
}

/// Which elements go from where to where when a matrix changes from one layout to another. Pure: no MPI, no matrix data.
///
/// The plan is the product of two one-axis plans, one along the target's rows and one along the target's columns. With
/// Op::transpose the source's columns face the target's rows and the source's rows the target's columns.
///
/// Immutable; copies share their tables.
class Plan {
public:
  /// Cost: time O(blocks of both layouts in one joint period of an axis), once.
  /// @throws Error{bad_argument, shape_mismatch} when an axis or a grid is not valid, an axis and its grid differ in size, a
  ///   window leaves its matrix, or the two windows differ in size. The same on every rank, as all arguments are global.
  Plan(Layout from, Layout to, PlanOptions options = {});

  /// What `rank` sends, receives and keeps, in the order of the schedule. Ranks in neither grid get an empty plan.
  /// Cost: time and memory O(my neighbours + my runs).
  RankPlan for_rank(int rank) const;
  PlanTotals totals() const;
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
