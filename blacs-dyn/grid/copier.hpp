// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "grid/grid.hpp"
#include "grid/matrices.hpp"
#include "redist/exchange.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/rank_plan.hpp"

namespace blacs_dyn {

class MachineFigures;

/// Copies between matrices on one grid. Keeps its executor, which new layouts and phases use too, and the last
/// exchanges until the grid changes.
class Copier {
public:
  Copier(const Grid& grid, const Matrices& matrices, const MachineFigures& machine)
      : grid_(grid), matrices_(matrices), machine_(machine) {}

  /// All of `from` into `to`, which have the same form but for their distributions. Collective over the grid.
  /// @throws agreed Error
  void copy(const Matrix* from, Matrix* to);
  /// to = alpha op(from) + beta to; see dyngrid_add. Collective over the grid.
  /// @throws agreed Error
  void add(char op, const void* alpha, const Matrix* from, const void* beta, Matrix* to);
  /// The executor that moves data on this grid. Collective over it the first time.
  redist::Executor& executor();
  /// How a copy of elements of this type is planned on this grid. Local, once executor() is there.
  redist::PlanOptions plan_options(char type) const;
  void forget() { kept_.clear(); } ///< local: a matrix lies otherwise, though none was made or freed
  void close();                    ///< collective over the grid of the last copy; nothing when there was none

private:
  /// Copies without alpha and beta. The arguments are the same on all processes.
  void move(redist::Op op, const void* alpha, const Matrix& from, const void* beta, Matrix& to);
  void plan(redist::Op op, const Matrix& from, const Matrix& to);
  struct Kept {
    redist::Op op;
    const Matrix *from, *to;
    std::int64_t from_lld, to_lld;
    redist::RankPlan plan;
    std::vector<const redist::RankPlan*> plans = {}; ///< this one
    std::vector<redist::Pointers> pointers = {};     ///< of this copy: one, made beforehand
    std::optional<redist::Exchange> exchange = {};   ///< of the plan; prepared by the first copy
  };
  static constexpr std::size_t exchanges_kept = 8;

  const Grid& grid_;
  const Matrices& matrices_;
  const MachineFigures& machine_;
  std::optional<redist::Executor> executor_;
  std::list<Kept> kept_;       ///< latest first
  std::int64_t revision_ = -1; ///< of the matrices that they are for
};

} // namespace blacs_dyn
