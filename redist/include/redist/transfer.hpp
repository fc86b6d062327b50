// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

#include "redist/rank_plan.hpp"

namespace redist {

/// One matrix of an exchange, and where it is.
struct TransferPlan {
  const RankPlan* plan = nullptr; ///< borrowed; null: nothing to do on this rank
  char type = 'd';                ///< s d c z i
  /// Two numbers per local column of the target, or null: in column j only local rows row_limits[2j] ..
  /// row_limits[2j+1]-1 are written. Borrowed, as the plan is.
  const std::int64_t* row_limits = nullptr;
};

/// Where it lies. `from` is this rank's share of the source (null when it has none), `to` its share of the target;
/// they do not overlap.
struct Pointers {
  const void* from = nullptr;
  std::int64_t lld_from = 1;
  void* to = nullptr;
  std::int64_t lld_to = 1;
};

/// Both, for an exchange that is made once.
struct Transfer {
  const RankPlan* plan = nullptr;
  const void* from = nullptr;
  std::int64_t lld_from = 1;
  void* to = nullptr;
  std::int64_t lld_to = 1;
  char type = 'd';
  const std::int64_t* row_limits = nullptr;

  TransferPlan what() const { return {plan, type, row_limits}; }
  Pointers where() const { return {from, lld_from, to, lld_to}; }
};

} // namespace redist
