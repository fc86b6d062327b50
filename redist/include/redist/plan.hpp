// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

#include "redist/layout.hpp"
#include "redist/rank_plan.hpp"

namespace redist {

enum class Schedule { automatic, caterpillar, circulant, matching, async };
enum class Op { none, transpose, conjugate_transpose };

/// A rectangle of a matrix, 0-based: rows i .. i+m-1, columns j .. j+n-1.
struct Window {
  std::int64_t i = 0, j = 0, m = -1, n = -1; ///< m, n < 0: to the end
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

/// Which elements go from where to where when a matrix changes from one layout to another. Pure: no MPI, no matrix data.
class Plan {
public:
  /// @throws Error{bad_argument, shape_mismatch}
  Plan(Layout from, Layout to, PlanOptions options = {});

  /// What `rank` sends, receives and keeps, in the order of the schedule. Cost: time and memory O(my neighbours + my runs).
  RankPlan for_rank(int rank) const;
  PlanTotals totals() const;
  std::string describe() const;

  const Layout& from() const { return from_; }
  const Layout& to() const { return to_; }

private:
  Layout from_;
  Layout to_;
  PlanOptions options_;
};

} // namespace redist
