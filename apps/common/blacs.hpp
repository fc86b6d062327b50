// SPDX-License-Identifier: BSD-3-Clause
// A grid of all processes for programs that use BLACS alone.
#pragma once

#include "base/mpi/blacs.hpp"

namespace apps {

struct BlacsGrid {
  int ctxt = -1, nprow = 0, npcol = 0, myrow = -1, mycol = -1;

  BlacsGrid() = default;
  BlacsGrid(int p, int q) {
    Cblacs_get(0, 0, &ctxt);
    Cblacs_gridinit(&ctxt, "R", p, q);
    Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  }
};

} // namespace apps
