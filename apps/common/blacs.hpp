// SPDX-License-Identifier: BSD-3-Clause
// A grid of all processes for programs that use BLACS alone.
#pragma once

extern "C" {
void Cblacs_get(int ctxt, int what, int* value);
void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
void Cblacs_gridexit(int ctxt);
}

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
