// SPDX-License-Identifier: BSD-3-Clause
#include "redist/predict.hpp"

#include <algorithm>

#include "redist/plan.hpp"

namespace redist {
namespace {

Layout layout_of(const MatrixSize& a, base::GridShape grid) {
  using gridmap::Axis;
  return Layout::row_major(Axis::equal(a.m, a.mb, grid.nprow), Axis::equal(a.n, a.nb, grid.npcol));
}

bool is_copied(const MatrixSize& a) {
  return a.over >= Over::all;
}

/// The first rows and columns of `grid` that hold all processes with elements, where `used` of processes_of() have
/// some.
base::GridShape part_of(const MatrixSize& a, base::GridShape used, base::GridShape grid) {
  switch (a.over) {
  case Over::row:
  case Over::column: // row by row of the grid
    return {(used.size() + grid.npcol - 1) / grid.npcol, std::min(used.size(), grid.npcol)};
  case Over::all:
    return grid;
  case Over::each_row:
    return {grid.nprow, used.npcol};
  case Over::each_column:
    return {used.nprow, grid.npcol};
  default:
    return used;
  }
}

} // namespace

base::GridShape processes_of(Over over, base::GridShape most, base::GridShape grid) {
  switch (over) {
  case Over::row:
    return {1, grid.size()};
  case Over::column:
    return {grid.size(), 1};
  case Over::first:
    return {std::min(most.nprow, grid.nprow), std::min(most.npcol, grid.npcol)};
  case Over::all:
    return {1, 1};
  case Over::each_row:
    return {1, grid.npcol};
  case Over::each_column:
    return {grid.nprow, 1};
  case Over::grid:
    break;
  }
  return grid;
}

advise::Cost predict_exchange(const std::vector<MatrixSize>& matrices, base::GridShape from, base::GridShape to,
                              const advise::Machine& machine) {
  advise::Cost cost;
  for (const MatrixSize& a : matrices) {
    PlanOptions options;
    options.schedule = Schedule::async;
    const auto on = [&a](base::GridShape grid) {
      return layout_of(a, is_copied(a) ? grid : processes_of(a.over, a.most, grid));
    };
    const Plan plan(on(from), on(to), options);
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
    const base::GridShape over = processes_of(a.over, a.most, grid);
    const base::GridShape part = part_of(a, {used(a.m, a.mb, over.nprow), used(a.n, a.nb, over.npcol)}, grid);
    all = {std::max(all.nprow, part.nprow), std::max(all.npcol, part.npcol)};
  }
  return all;
}

} // namespace redist
