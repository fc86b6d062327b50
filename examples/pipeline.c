/* SPDX-License-Identifier: BSD-3-Clause */
/* A pipeline in three phases, cycle after cycle: a product in large blocks, an eigensolver in blocks of its own, and a
 * product back. dyngrid moves each matrix into the layout that is best for the whole cycle. As pipeline.f90.
 *
 *   mpicc pipeline.c $(pkg-config --cflags --libs dyngrid) -lm -o pipeline
 *   dyngrid run -np 4 -- ./pipeline */
#include <dyngrid.h>
#include <dyngrid/balance.h>
#include <dyngrid/phases.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ScaLAPACK has no header. */
void pdelset_(double* a, const int* i, const int* j, const int* desc, const double* value);
void pdgemm_(const char*, const char*, const int* m, const int* n, const int* k, const double* alpha, const double* a,
             const int* ia, const int* ja, const int* desca, const double* b, const int* ib, const int* jb,
             const int* descb, const double* beta, double* c, const int* ic, const int* jc, const int* descc);
void pdsyevd_(const char*, const char*, const int* n, double* a, const int* ia, const int* ja, const int* desca,
              double* w, double* z, const int* iz, const int* jz, const int* descz, double* work, const int* lwork,
              int* iwork, const int* liwork, int* info);

enum { n = 60, cycles = 12 };
static const int i1 = 1, order = n;
static const double one = 1, zero = 0;

static void must(int status) { /* an error that the program cannot go on with; it is the same on all processes */
  if (status >= 0) return;
  fprintf(stderr, "pipeline: %s\n", dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void multiply(dyngrid_matrix* a, const char* how, dyngrid_matrix* b, dyngrid_matrix* c) { /* c = a op(b) */
  pdgemm_("N", how, &order, &order, &order, &one, dyngrid_local(a), &i1, &i1, dyngrid_desc(a), dyngrid_local(b), &i1,
          &i1, dyngrid_desc(b), &zero, dyngrid_local(c), &i1, &i1, dyngrid_desc(c));
}

static void eigenvectors(dyngrid_matrix* c, double* values, dyngrid_matrix* z) {
  const int nb = dyngrid_desc(c)[4];
  double size = 0, *work;
  int64_t rows, columns;
  int lwork = -1, isize = 0, liwork = -1, info = 0, *iwork;
  pdsyevd_("V", "U", &order, dyngrid_local(c), &i1, &i1, dyngrid_desc(c), values, dyngrid_local(z), &i1, &i1,
           dyngrid_desc(z), &size, &lwork, &isize, &liwork, &info);
  must(dyngrid_matrix_shape(c, &rows, &columns, NULL));
  /* ScaLAPACK 2.2 asks for less than its PDORMTR and PDLASRT need where blocks are large: wrong vectors, info 0 */
  lwork = (int)size + nb * (2 * (int)(rows + columns) + 3 * nb) + n;
  liwork = isize;
  work = malloc(sizeof(double) * (size_t)lwork);
  iwork = malloc(sizeof(int) * (size_t)liwork);
  pdsyevd_("V", "U", &order, dyngrid_local(c), &i1, &i1, dyngrid_desc(c), values, dyngrid_local(z), &i1, &i1,
           dyngrid_desc(z), work, &lwork, iwork, &liwork, &info);
  free(work);
  free(iwork);
}

static void scale_columns(dyngrid_matrix* z, const double* values, dyngrid_matrix* w) { /* both lie alike */
  int64_t rows, columns, lld, first, last, i, l = 0;
  int k;
  must(dyngrid_matrix_shape(z, &rows, &columns, &lld));
  for (k = 0; dyngrid_my_range(z, 'C', k, &first, &last) == 1; ++k)
    for (; first < last; ++first, ++l)
      for (i = 0; i < rows; ++i)
        ((double*)dyngrid_local(w))[i + l * lld] = sqrt(fabs(values[first])) * ((double*)dyngrid_local(z))[i + l * lld];
}

int main(void) {
  int cycle = 0, i, j;
  double values[n] = {0};
  dyngrid_matrix *a, *c, *z, *w;
  dyngrid_phase *product, *solve, *back;
  must(dyngrid_init());
  must(dyngrid_matrix_create("A", 'd', n, n, 16, 16, &a));
  must(dyngrid_matrix_create("C", 'd', n, n, 16, 16, &c));
  must(dyngrid_matrix_create("Z", 'd', n, n, 16, 16, &z));
  must(dyngrid_matrix_create("W", 'd', n, n, 16, 16, &w));
  must(dyngrid_share("cycle", &cycle, sizeof cycle));
  must(dyngrid_share("values", values, sizeof values));

  must(dyngrid_phase_create("product", &product)); /* the order of creation is that of a cycle */
  must(dyngrid_phase_uses(product, a, DYNGRID_READ));
  must(dyngrid_phase_uses(product, c, DYNGRID_WRITE)); /* all of it: nothing is moved */
  must(dyngrid_phase_layout(product, a, 16, 16));      /* two layouts: dyngrid tries both */
  must(dyngrid_phase_layout(product, a, 4, 4));
  must(dyngrid_phase_layout(product, c, 16, 16));
  must(dyngrid_phase_create("solve", &solve));
  must(dyngrid_phase_uses(solve, c, DYNGRID_READ | DYNGRID_WRITE));
  must(dyngrid_phase_uses(solve, z, DYNGRID_WRITE));
  must(dyngrid_phase_layout(solve, c, 6, 6)); /* PDSYEVD wants both alike */
  must(dyngrid_phase_layout(solve, z, 6, 6));
  must(dyngrid_phase_create("back", &back));
  must(dyngrid_phase_uses(back, z, DYNGRID_READ));
  must(dyngrid_phase_uses(back, w, DYNGRID_WRITE));
  must(dyngrid_phase_uses(back, a, DYNGRID_WRITE));
  must(dyngrid_phase_layout(back, z, 16, 16));
  must(dyngrid_phase_layout(back, w, 16, 16)); /* A: any that another phase names */

  if (!dyngrid_is_newcomer() && dyngrid_local(a)) /* 2 on the diagonal, -1 beside it */
    for (j = 1; j <= n; ++j)
      for (i = 1; i <= n; ++i) {
        const double a_ij = i == j ? 2 : abs(i - j) == 1 ? -1 : 0;
        pdelset_(dyngrid_local(a), &i, &j, dyngrid_desc(a), &a_ij);
      }
  for (;; ++cycle) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE || cycle == cycles) break;
    if (outcome < 0) fprintf(stderr, "pipeline: the grid stays as it is: %s\n", dyngrid_last_message());
    must(dyngrid_phase_begin(product)); /* arrays and descriptors are fetched after it */
    multiply(a, "N", a, c);             /* C = A A */
    must(dyngrid_phase_end(product));
    must(dyngrid_phase_begin(solve));
    eigenvectors(c, values, z);
    must(dyngrid_phase_end(solve));
    must(dyngrid_phase_begin(back));
    scale_columns(z, values, w);
    multiply(w, "T", z, a); /* A = Z sqrt(values) Z': what it was */
    must(dyngrid_phase_end(back));
    if (dyngrid_is_first()) printf("cycle %d: largest eigenvalue %.6f\n", cycle, values[n - 1]);
  }
  return dyngrid_finalize() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
