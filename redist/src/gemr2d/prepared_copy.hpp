// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gemr2d/gemr2d.hpp"
#include "gemr2d/given.hpp"
#include "redist/exchange.hpp"
#include "redist/plan.hpp"

namespace redist::detail {

/// The plans of one call, worked out from the calls of all ranks.
struct PreparedCopy {
  Call key;
  std::int64_t serial = 0;          ///< counts the plans of the set, the same on all its ranks
  std::vector<RankPlan> plans;      ///< one, or one per strip of a trapezoid
  std::optional<Exchange> exchange; ///< with an executor
  std::vector<Pointers> pointers;   ///< of this call

  std::vector<const RankPlan*> all_plans() const {
    std::vector<const RankPlan*> all;
    for (const RankPlan& plan : plans) all.push_back(&plan);
    return all;
  }
  void put_in(const Pointers& where) { pointers.assign(plans.size(), where); }
};

/// This rank's plans from one matrix to the other. Pure.
/// @param schedule of all of them
std::unique_ptr<PreparedCopy> plan_copy(const Call& call, Trapezoid part, const AgreedMatrix& a, const AgreedMatrix& b,
                                        int rank, Schedule schedule);

} // namespace redist::detail
