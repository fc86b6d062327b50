/* SPDX-License-Identifier: BSD-3-Clause */
/* two_loops KIND: a program of two loops, each with its resize point. The grid is to grow in the second one while
 * joining processes, by spawn or from sleep, call the first one's. `plain` and `named` do not lead them there: refused
 * on all processes with both places named, and the application goes on with all its data. `led` leads them. 1x2 -> 2x2
 * in the second loop; with more than two processes of mpirun some sleep until then. The same in C, C++ and Fortran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyngrid.h"

enum { scf_steps = 3, all_steps = 4, step_of_growth = 1 };

static void need(int is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "FAILED: %s [%s]\n", what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill_or_check(const dyngrid_matrix* a, int fills) {
  int nprow, npcol, myrow, mycol;
  int64_t m_loc, n_loc, lld, i, j;
  const int* desc = dyngrid_desc(a);
  double* x = (double*)dyngrid_local(a);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  dyngrid_matrix_shape(a, &m_loc, &n_loc, &lld);
  for (j = 0; j < n_loc; ++j)
    for (i = 0; i < m_loc; ++i) {
      const int64_t row = (i / desc[4] * nprow + myrow) * desc[4] + i % desc[4];
      const int64_t column = (j / desc[5] * npcol + mycol) * desc[5] + j % desc[5];
      const double wanted = (double)(row * 1000 + column);
      if (fills)
        x[i + j * lld] = wanted;
      else
        need(x[i + j * lld] == wanted, "an element");
    }
}

/* After a resize point of the second loop. status: of a change that was refused, else 0. */
static void look_at(int status, int step, int is_led, const char* one, const char* other) {
  int nprow, npcol, rank;
  const char* text = dyngrid_last_message();
  dyngrid_grid(&nprow, &npcol, NULL, NULL);
  MPI_Comm_rank(dyngrid_comm(), &rank);
  need((status < 0) == (!is_led && step == step_of_growth), "refused when it cannot be led, and only then");
  if (status < 0) {
    need(status == DYNGRID_ERR_STATE && strstr(text, one) && strstr(text, other), "both places are named");
    if (rank == 1) printf("refused: %s\n", text), fflush(stdout);
  }
  need(nprow == (is_led && step >= step_of_growth ? 2 : 1) && npcol == 2, "the grid");
}
