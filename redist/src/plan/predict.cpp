// SPDX-License-Identifier: BSD-3-Clause
#include "redist/predict.hpp"

#include <algorithm>

#include "redist/plan.hpp"

namespace redist {
namespace {

Layout layout_of(const MatrixSize& a, base::GridShape grid) {
  const auto axis = [](std::int64_t n, std::int64_t nb, int nprocs) {
    return nb > 0 ? gridmap::Axis::block_cyclic(n, nb, nprocs) : gridmap::Axis::block(n, nprocs);
  };
  return {axis(a.m, a.mb, grid.nprow), axis(a.n, a.nb, grid.npcol), Grid::row_major(grid.nprow, grid.npcol)};
}

} // namespace

advise::Cost predict_exchange(const std::vector<MatrixSize>& matrices, base::GridShape from, base::GridShape to,
                              const advise::Machine& machine) {
  advise::Cost cost;
  for (const MatrixSize& a : matrices) {
    PlanOptions options;
    options.schedule = Schedule::async;
    const Plan plan(layout_of(a, from), layout_of(a, to), options);
    cost += advise::exchange_cost(machine, plan.volume(a.element_bytes));
  }
  return cost;
}

base::GridShape used_grid(const std::vector<MatrixSize>& matrices, base::GridShape grid) {
  if (matrices.empty()) return grid;
  const auto used = [](std::int64_t n, std::int64_t nb, int nprocs) {
    const std::int64_t blocks = nb > 0 ? (n + nb - 1) / nb : n;
    return static_cast<int>(std::min<std::int64_t>(nprocs, blocks));
  };
  base::GridShape all{0, 0};
  for (const MatrixSize& a : matrices) {
    all.nprow = std::max(all.nprow, used(a.m, a.mb, grid.nprow));
    all.npcol = std::max(all.npcol, used(a.n, a.nb, grid.npcol));
  }
  return all;
}

} // namespace redist
