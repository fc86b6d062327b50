/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors in C on a real grid: a 2 x 2 BLACS grid of 4 processes. The exit code is the number of what went wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../expect.h"
#include "dyngrid/redist.h"

extern void Cblacs_get(int ctxt, int what, int* value);
extern void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol);
extern void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
extern void Cblacs_gridexit(int ctxt);

int main(int argc, char** argv) {
  int ctxt, nprow, npcol, myrow, mycol, info = 99, wrong, all = 0;
  const int row_sizes[2] = {3, 1}, col_sizes[1] = {2};
  int desc[DYNGRID_DESC_LENGTH(2, 1)];
  MPI_Init(&argc, &argv);
  Cblacs_get(-1, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "Row", 2, 2);
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &myrow, &mycol);
  /* 10 rows in 3 1 3 1 2: row 0 holds 3 + 3 + 2, row 1 holds 1 + 1 */
  EXPECT(dyngrid_desc_init(desc, 10, 8, 2, row_sizes, 1, col_sizes, 0, 1, ctxt, myrow == 0 ? 8 : 2, &info) ==
         DYNGRID_SUCCESS);
  EXPECT(info == 0 && desc[0] == DYNGRID_DTYPE && desc[1] == ctxt && desc[4] == 2 && desc[10] == 1);
  EXPECT(dyngrid_desc_numroc(desc, 'R', myrow, nprow) == (myrow == 0 ? 8 : 2));
  EXPECT(dyngrid_desc_numroc(desc, 'C', mycol, npcol) == 4);
  EXPECT(dyngrid_desc_indxg2p(desc, 'C', 1, npcol) == 1);
  EXPECT(dyngrid_desc_init(desc, 10, 8, 2, row_sizes, 1, col_sizes, 0, 1, ctxt, myrow == 0 ? 7 : 1, &info) ==
         DYNGRID_ERR_DESCRIPTOR);
  EXPECT(info == -11);
  EXPECT(dyngrid_desc_init(desc, 10, 8, 2, row_sizes, 1, col_sizes, 2, 1, ctxt, 10, &info) == DYNGRID_ERR_DESCRIPTOR);
  EXPECT(info == -8);
  EXPECT(dyngrid_desc_check(desc, 0, 6, nprow, npcol, myrow, mycol, &info) == DYNGRID_SUCCESS && info == 0);
  Cblacs_gridexit(ctxt);
  wrong = failures;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
