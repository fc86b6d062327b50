// SPDX-License-Identifier: BSD-3-Clause
#include "redist/predict.hpp"

#include "redist/plan.hpp"

namespace redist {
namespace {

Layout layout_of(const MatrixSize& a, gridmap::GridShape grid) {
  const auto axis = [](std::int64_t n, std::int64_t nb, int nprocs) {
    return nb > 0 ? gridmap::Axis::block_cyclic(n, nb, nprocs) : gridmap::Axis::block(n, nprocs);
  };
  return {axis(a.m, a.mb, grid.nprow), axis(a.n, a.nb, grid.npcol), Grid::row_major(grid.nprow, grid.npcol)};
}

} // namespace

gridmap::Cost predict_exchange(const std::vector<MatrixSize>& matrices, gridmap::GridShape from, gridmap::GridShape to,
                               const gridmap::Machine& machine) {
  gridmap::Cost cost;
  for (const MatrixSize& a : matrices) {
    PlanOptions options;
    options.schedule = Schedule::async;
    const Plan plan(layout_of(a, from), layout_of(a, to), options);
    cost += gridmap::exchange_cost(machine, plan.volume(a.element_bytes));
  }
  return cost;
}

} // namespace redist
