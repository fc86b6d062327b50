/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric part of a matrix, (A + A^T) / 2, into a matrix in other blocks: two passes over the data, no third
 * matrix, on whatever grid there is.
 *
 *   mpicc symmetric.c $(pkg-config --cflags --libs dyngrid) -o symmetric
 *   DYNGRID_WAIT=on dyngrid run -np 2 --resize-at 1:2x2 -- ./symmetric */
#include <dyngrid.h>
#include <dyngrid/layout.h>
#include <stdio.h>
#include <stdlib.h>

/* ScaLAPACK has no header. */
void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdelget_(const char* scope, const char* top, double* value, const double* a, const int* i, const int* j,
              const int* desc);

enum { n = 60, nb = 8 };

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "symmetric: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(void) {
  const double half = 0.5, zero = 0, one = 1;
  int step = 0, nprow, npcol, wrong = 0;
  dyngrid_matrix *a, *s;
  must(dyngrid_init());
  must(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a));
  must(dyngrid_matrix_create("S", 'd', n, n, 2 * nb, nb, &s));
  must(dyngrid_share("step", &step, sizeof step));
  if (!dyngrid_is_newcomer() && dyngrid_local(a))
    for (int i = 1; i <= n; ++i)
      for (int j = 1; j <= n; ++j) {
        const double a_ij = i + 100 * j;
        pdelset_(dyngrid_local(a), &i, &j, dyngrid_desc(a), &a_ij);
      }
  for (; step < 2; ++step) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (outcome < 0) fprintf(stderr, "symmetric: the grid stays as it is: %s\n", dyngrid_last_message());
    must(dyngrid_add('N', &half, a, &zero, s)); /* what is in S is not read */
    must(dyngrid_add('T', &half, a, &one, s));
    for (int i = 1; i <= n; ++i)
      for (int j = 1; j <= n; ++j) {
        double s_ij = 0;
        pdelget_("All", " ", &s_ij, dyngrid_local(s), &i, &j, dyngrid_desc(s));
        if (s_ij != 0.5 * 101 * (i + j)) ++wrong;
      }
    must(dyngrid_grid(&nprow, &npcol, NULL, NULL));
    if (dyngrid_is_first()) printf("%d x %d: %s\n", nprow, npcol, wrong == 0 ? "symmetric" : "wrong");
  }
  must(dyngrid_finalize());
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
