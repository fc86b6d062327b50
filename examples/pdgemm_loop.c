/* SPDX-License-Identifier: BSD-3-Clause */
/* C = A B, step after step, on a grid that changes when somebody asks for it: DYNGRID_RESIZE_AT="2:3x3,4:2x2", another terminal, or the
 * program itself.
 *
 *   mpicc pdgemm_loop.c $(pkg-config --cflags --libs dyngrid) -o pdgemm_loop
 *   DYNGRID_RESIZE_AT=2:3x3,4:2x2 mpirun --oversubscribe -np 4 ./pdgemm_loop
 *
 * B is the matrix that turns the order of the columns round, so C must be A with its columns the other way round. */
#include <dyngrid.h>
#include <stdio.h>

void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const int*, const int*,
             const double*, const int*, const int*, const int*, const double*, double*, const int*, const int*, const int*);

enum { n = 500, nb = 32, steps = 6 };

/* Global index of local row (or column) k on row (or column) me of procs. */
static int global(int64_t k, int me, int procs) { return (int)((k / nb * procs + me) * nb + k % nb); }

static double a_element(int i, int j) { return i * (double)n + j; }
static double b_element(int i, int j) { return i + j == n - 1; }

static void fill(dyngrid_matrix* matrix, double element(int, int)) {
  int nprow, npcol, myrow, mycol;
  int64_t rows, columns, lld;
  double* local = dyngrid_local(matrix);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  dyngrid_matrix_shape(matrix, &rows, &columns, &lld);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) local[i + j * lld] = element(global(i, myrow, nprow), global(j, mycol, npcol));
}

static int count_wrong(dyngrid_matrix* matrix) {
  int nprow, npcol, myrow, mycol, wrong = 0, all = 0;
  int64_t rows, columns, lld;
  const double* local = dyngrid_local(matrix);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  dyngrid_matrix_shape(matrix, &rows, &columns, &lld);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) wrong += local[i + j * lld] != a_element(global(i, myrow, nprow), n - 1 - global(j, mycol, npcol));
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, dyngrid_comm());
  return all;
}

/* An error here is one that cannot be gone on with. */
static void must(int status) {
  if (status >= 0) return;
  fprintf(stderr, "pdgemm_loop: %s: %s\n", dyngrid_status_string(status), dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(void) {
  const int order = n, i1 = 1;
  const double one = 1, zero = 0;
  int step = 0, all_wrong = 0, outcome;
  dyngrid_matrix *a, *b, *c;

  must(dyngrid_init()); /* a spawned process joins its parents here */
  must(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &a));
  must(dyngrid_matrix_create("B", 'd', n, n, nb, nb, &b));
  must(dyngrid_matrix_create("C", 'd', n, n, nb, nb, &c));
  must(dyngrid_share("step", &step, sizeof step)); /* newcomers get these too */
  must(dyngrid_share("all_wrong", &all_wrong, sizeof all_wrong));
  if (!dyngrid_is_newcomer()) {
    fill(a, a_element);
    fill(b, b_element);
  }

  while ((outcome = dyngrid_resize_point()) != DYNGRID_LEAVE && step < steps) {
    int nprow, npcol, myrow, mycol, wrong;
    if (outcome < 0) fprintf(stderr, "pdgemm_loop: the grid stays as it is: %s\n", dyngrid_last_message());
    pdgemm_("N", "N", &order, &order, &order, &one, dyngrid_local(a), &i1, &i1, dyngrid_desc(a), dyngrid_local(b), &i1, &i1, dyngrid_desc(b), &zero,
            dyngrid_local(c), &i1, &i1, dyngrid_desc(c));
    wrong = count_wrong(c);
    all_wrong += wrong;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    if (myrow == 0 && mycol == 0) printf("step %d on %d x %d: %s\n", step, nprow, npcol, wrong ? "WRONG" : "right");
    fflush(stdout);
    ++step;
  }
  must(dyngrid_finalize());
  return all_wrong != 0;
}
