// SPDX-License-Identifier: BSD-3-Clause
#include "scale/stock.hpp"

#include <algorithm>

#ifdef SCALE_HAS_PDGEMR2D
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int nprow, int npcol);
void Cblacs_gridmap(int* context, int* ranks, int ld, int nprow, int npcol);
void Cblacs_gridinfo(int context, int* nprow, int* npcol, int* myrow, int* mycol);
void Cpdgemr2d(int m, int n, double* a, int ia, int ja, int* desc_a, double* b, int ib, int jb, int* desc_b,
               int context);
}

namespace scale {
namespace {

int context_of(const base::GridShape& grid) {
  std::vector<int> ranks(static_cast<std::size_t>(grid.size())); // column-major: of a grid whose ranks are row-major
  for (int p = 0; p < grid.nprow; ++p)
    for (int q = 0; q < grid.npcol; ++q) ranks[static_cast<std::size_t>(p + q * grid.nprow)] = p * grid.npcol + q;
  int context = 0;
  Cblacs_get(0, 0, &context);
  Cblacs_gridmap(&context, ranks.data(), grid.nprow, grid.nprow, grid.npcol);
  return context;
}

std::vector<int> descriptor(std::int64_t n, const Side& side, int context) {
  const int order = static_cast<int>(n), nb = static_cast<int>(side.nb);
  int nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  if (context >= 0) Cblacs_gridinfo(context, &nprow, &npcol, &myrow, &mycol);
  const std::size_t rows = myrow < 0 ? 0 : indices_of(n, side.nb, myrow, nprow).size();
  return {1, context, order, order, nb, nb, 0, 0, std::max(1, static_cast<int>(rows))};
}

} // namespace

bool has_pdgemr2d() {
  return true;
}

StockCopy::StockCopy(const Change& change)
    : change_(change), from_context_(context_of(change.from.grid)), to_context_(context_of(change.to.grid)) {
  Cblacs_get(0, 0, &all_);
  Cblacs_gridinit(&all_, "R", 1, change.ranks());
}

void StockCopy::run(const double* from, double* to) {
  std::vector<int> desc_from = descriptor(change_.n, change_.from, from_context_);
  std::vector<int> desc_to = descriptor(change_.n, change_.to, to_context_);
  const int n = static_cast<int>(change_.n);
  Cpdgemr2d(n, n, const_cast<double*>(from), 1, 1, desc_from.data(), to, 1, 1, desc_to.data(), all_);
}

} // namespace scale
#else
namespace scale {

bool has_pdgemr2d() {
  return false;
}
StockCopy::StockCopy(const Change& change) : change_(change) {}
void StockCopy::run(const double*, double*) {}

} // namespace scale
#endif
