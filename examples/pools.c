/* SPDX-License-Identifier: BSD-3-Clause */
/* Two pools of processes share the k-points of a calculation. Each pool has a grid of its own, which grows while the
 * other pool computes. The sum over all k-points is known exactly.
 *
 *   mpicc pools.c $(pkg-config --cflags --libs dyngrid) -o pools
 *   DYNGRID_WAIT=on DYNGRID_JOB=kpoints dyngrid run -np 4 -- ./pools
 *
 * From another terminal: dyngrid ps; dyngrid resize kpoints/1 2x3 */
#include <dyngrid.h>
#include <dyngrid/pool.h>
#include <stdio.h>
#include <stdlib.h>

enum { pools = 2, points = 12, n = 60 };

/* What a k-point contributes: the sum of the elements k + i - j of a distributed matrix, which is k n n. */
static double contribution(dyngrid_matrix* a, int k) {
  double* x = dyngrid_local(a);
  const int* desc = dyngrid_desc(a);
  double mine = 0, all = 0;
  int nprow, npcol, myrow, mycol;
  int64_t rows, columns, lld, i, j;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  dyngrid_matrix_shape(a, &rows, &columns, &lld);
  for (j = 0; j < columns; ++j)
    for (i = 0; i < rows; ++i) {
      const int64_t row = (i / desc[4] * nprow + myrow) * desc[4] + i % desc[4];
      const int64_t column = (j / desc[5] * npcol + mycol) * desc[5] + j % desc[5];
      x[i + j * lld] = (double)(k + row - column);
      mine += x[i + j * lld];
    }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  return all;
}

int main(int argc, char** argv) {
  MPI_Comm comm = MPI_COMM_WORLD, firsts = MPI_COMM_NULL;
  int rank, size, pool, rank_in_pool = 1, is_new, k;
  double sum = 0;
  char name[16];
  dyngrid_matrix* a;
  MPI_Init(&argc, &argv);
  is_new = *dyngrid_pool() != '\0'; /* started by a pool, to which it belongs */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pool = is_new ? atoi(dyngrid_pool()) : rank * pools / size;
  if (!is_new && size < pools) { /* a pool without processes would compute nothing */
    fprintf(stderr, "pools: %d process, expected at least %d (-np)\n", size, pools);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (!is_new) { /* MPI_COMM_WORLD is that of mpirun here */
    MPI_Comm_split(MPI_COMM_WORLD, pool, rank, &comm);
    MPI_Comm_rank(comm, &rank_in_pool);
    /* the first process of a pool never leaves: they can communicate at any time */
    MPI_Comm_split(MPI_COMM_WORLD, rank_in_pool == 0 ? 0 : MPI_UNDEFINED, rank, &firsts);
  }
  k = pool; /* the next point */
  snprintf(name, sizeof name, "%d", pool);
  if (dyngrid_init_on(comm, name) < 0 || dyngrid_share("k", &k, sizeof k) < 0 ||
      dyngrid_share("sum", &sum, sizeof sum) < 0 || dyngrid_matrix_create("A", 'd', n, n, 8, 8, &a) < 0) {
    fprintf(stderr, "pools: %s\n", dyngrid_last_message());
    return EXIT_FAILURE;
  }
  for (;; k += pools) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE || k >= points) break;
    if (outcome < 0) fprintf(stderr, "pools: the grid stays as it is: %s\n", dyngrid_last_message());
    sum += contribution(a, k);
    if (k == 2 + pool) dyngrid_request(2, 2); /* this pool grows after its second point, */
    if (k == 6 + pool) dyngrid_request(1, 3); /* and shrinks again */
  }
  if (dyngrid_is_first()) {
    double all = 0;
    int nprow, npcol;
    dyngrid_grid(&nprow, &npcol, NULL, NULL);
    printf("pool %d ends on %dx%d\n", pool, nprow, npcol);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, firsts);
    if (rank == 0) printf("sum over %d k-points: %.0f\n", points, all);
    fflush(stdout);
  }
  if (dyngrid_finalize() < 0) return EXIT_FAILURE;
  if (firsts != MPI_COMM_NULL) MPI_Comm_free(&firsts);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
