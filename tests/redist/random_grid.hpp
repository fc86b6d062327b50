// SPDX-License-Identifier: BSD-3-Clause
// Random numbers and grids that are the same on all ranks.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include "gemr2d_routines.hpp"

struct Random {
  std::mt19937 engine;
  int pick(int low, int high) { return low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1)); }
};

/// A context of some of the `world` processes, in any order; where this one stands in it, -1: it does not.
struct RandomGrid {
  int ctxt = -1, nprow, npcol, row = -1, col = -1;

  RandomGrid(Random& random, int world) : nprow(random.pick(1, world)), npcol(random.pick(1, world / nprow)) {
    std::vector<int> ranks;
    for (int r = 0; r < world; ++r) ranks.push_back(r);
    std::shuffle(ranks.begin(), ranks.end(), random.engine);
    Cblacs_get(-1, 0, &ctxt);
    Cblacs_gridmap(&ctxt, ranks.data(), nprow, nprow, npcol);
    int p = -1, q = -1;
    if (ctxt >= 0) Cblacs_gridinfo(ctxt, &p, &q, &row, &col);
    if (row < 0) ctxt = -1;
  }
};
