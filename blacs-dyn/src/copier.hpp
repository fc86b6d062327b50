// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <list>
#include <optional>

#include <mpi.h>

#include "holdings.hpp"
#include "redist/executor.hpp"
#include "redist/rank_plan.hpp"

namespace blacs_dyn {

/// Copies between matrices on one grid. Keeps its executor and the last plans until the grid changes.
class Copier {
public:
  /// All of `from` into `to`, which have the same form but for their distributions and are not the same one.
  /// Collective over `site.grid`.
  /// @param revision  of the holdings: another one when a matrix was made or freed
  /// @throws agreed Error
  void copy(const Matrix& from, Matrix& to, const Holdings::Site& site, std::int64_t revision);
  void close(); ///< collective over the grid of the last copy; nothing when there was none

private:
  struct Kept {
    const Matrix *from, *to;
    redist::RankPlan plan;
  };
  static constexpr std::size_t plans_kept = 8;

  std::optional<redist::Executor> executor_;
  std::list<Kept> plans_; ///< latest first
  std::int64_t revision_ = -1;
};

} // namespace blacs_dyn
