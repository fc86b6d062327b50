// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the handles of dyngrid/redist.h.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dyngrid/redist.h"
#include "redist/layout.hpp"
#include "redist/plan.hpp"
#include "redist/rank_plan.hpp"

struct dyngrid_layout {
  redist::Layout layout;
};

struct dyngrid_plan {
  redist::Plan plan;
  int element_bytes;
  std::string text;

  dyngrid_plan(redist::Plan made, int bytes) : plan(std::move(made)), element_bytes(bytes), text(plan.describe()) {}
  /// A rank's own part for elements of a type, worked out the first time it is asked for; lives as long as the plan.
  const redist::RankPlan& of_rank(int rank, char type = 'd') const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<const redist::RankPlan>& mine = of_rank_[{rank, type}];
    if (!mine) mine = std::make_unique<const redist::RankPlan>(plan.for_rank(rank, type));
    return *mine;
  }

private:
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, char>, std::unique_ptr<const redist::RankPlan>> of_rank_;
};
