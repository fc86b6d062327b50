/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc on a grid that may change before each step: conjugate gradients on a MATSCALAPACK, from the solution of the
 * step before. The matrix and that vector follow. The solution of step s is known: x(i) = cos(s + i/n), i = 0, 1, ...
 *
 *   mpicc petsc.c $(pkg-config --cflags --libs dyngrid petsc) -lm -o petsc
 *   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./petsc */
#include <dyngrid.h>
#include <petscksp.h>

enum { n = 90, nb = 8, steps = 10 };
static dyngrid_matrix *matrix, *vector;
static Mat a;
static KSP solver;
static Vec x, b, mine;  /* x lies as PETSc wants it, `mine` is my part of `vector` */
static VecScatter copy; /* from x to `mine`, and in reverse */
static int p, q, row = -1, col, step;

static void call(int error) { /* above 0: of PETSc, which has printed what it is */
  if (error < 0) fprintf(stderr, "petsc: %s\n", dyngrid_last_message());
  if (error) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make(void* data) { /* on each process of a new grid: an object belongs to one communicator */
  double begin = MPI_Wtime(), *local;
  const PetscInt *rows, *columns;
  PetscInt m_loc, n_loc, k;
  IS row_set, column_set, mine_set;
  PC jacobi;
  char height[20];
  dyngrid_grid(&p, &q, &row, &col), local = dyngrid_local(matrix);
  if (row < 0) return; /* not in the grid, or a new process before its first resize point */
  snprintf(height, sizeof height, "%d", p);
  call(PetscOptionsSetValue(NULL, "-mat_scalapack_grid_height", height)); /* the same grid, row by row */
  call(MatCreateScaLAPACK(dyngrid_comm(), nb, nb, n, n, 0, 0, &a));
  call(MatSetOption(a, MAT_ROW_ORIENTED, PETSC_FALSE));
  call(MatGetOwnershipIS(a, &row_set, &column_set));
  call(ISGetLocalSize(row_set, &m_loc)), call(ISGetIndices(row_set, &rows));
  call(ISGetLocalSize(column_set, &n_loc)), call(ISGetIndices(column_set, &columns));
  for (k = 0; step == 0 && k < m_loc * n_loc; ++k) /* the first values; from then on they follow */
    local[k] = 2 * (rows[k % m_loc] == columns[k / m_loc]) + pow(0.5, abs(rows[k % m_loc] - columns[k / m_loc]));
  call(MatSetValues(a, m_loc, rows, n_loc, columns, local, INSERT_VALUES));
  call(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), call(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));

  if (col != 0) m_loc = 0; /* the vector is a matrix of one column */
  call(MatCreateVecs(a, &x, &b));
  call(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m_loc, dyngrid_local(vector), &mine));
  call(ISCreateGeneral(PETSC_COMM_SELF, m_loc, rows, PETSC_COPY_VALUES, &mine_set));
  call(VecScatterCreate(x, mine_set, mine, NULL, &copy));
  call(VecScatterBegin(copy, mine, x, INSERT_VALUES, SCATTER_REVERSE));
  call(VecScatterEnd(copy, mine, x, INSERT_VALUES, SCATTER_REVERSE));
  call(ISDestroy(&mine_set)), call(ISDestroy(&row_set)), call(ISDestroy(&column_set));

  call(KSPCreate(PetscObjectComm((PetscObject)a), &solver));
  call(KSPSetOperators(solver, a, a));
  call(KSPSetType(solver, KSPCG)), call(KSPGetPC(solver, &jacobi)), call(PCSetType(jacobi, PCJACOBI));
  call(KSPSetTolerances(solver, 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  call(KSPSetInitialGuessNonzero(solver, PETSC_TRUE)), call(KSPSetErrorIfNotConverged(solver, PETSC_TRUE));
  if (row + col == 0) printf("made for %d x %d in %.3f ms\n", p, q, 1e3 * (MPI_Wtime() - begin));
}

static void drop(void* data) { /* on each process of the old grid, also on those that leave; x goes along */
  if (!a) return;
  call(VecScatterBegin(copy, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  call(VecScatterEnd(copy, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  call(VecScatterDestroy(&copy)), call(VecDestroy(&mine)), call(VecDestroy(&x)), call(VecDestroy(&b));
  call(KSPDestroy(&solver)), call(MatDestroy(&a));
}

int main(int argc, char** argv) {
  PetscInt i, end;
  double old, norm, error;
  call(dyngrid_init());             /* a new process joins the others here */
  PETSC_COMM_WORLD = MPI_COMM_SELF; /* it cannot change later, and processes join and leave one by one */
  call(PetscInitialize(&argc, &argv, NULL, NULL));
  call(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &matrix)); /* the matrices follow the grid */
  call(dyngrid_matrix_create("x", 'd', n, 1, nb, nb, &vector));
  call(dyngrid_share("step", &step, sizeof step)), call(dyngrid_on_change(drop, make, NULL)); /* new processes get it */
  for (make(NULL); dyngrid_resize_point() != DYNGRID_LEAVE && step < steps; ++step) {
    Vec exact;
    call(VecDuplicate(x, &exact));
    for (call(VecGetOwnershipRange(exact, &i, &end)); i < end; ++i)
      call(VecSetValue(exact, i, cos(step + (double)i / n), INSERT_VALUES));
    call(VecAssemblyBegin(exact)), call(VecAssemblyEnd(exact));
    call(MatMult(a, exact, b));
    call(VecNorm(x, NORM_2, &old)); /* the solution of the step before, which followed */
    call(KSPSolve(solver, b, x));
    call(VecNorm(x, NORM_2, &norm));
    call(VecAXPY(exact, -1, x)), call(VecNorm(exact, NORM_2, &error)), call(VecDestroy(&exact));
    if (row + col == 0) printf("step %d on %d x %d: norm %.15e after %.15e error %.1e\n", step, p, q, norm, old, error);
  }
  drop(NULL);
  call(PetscFinalize());
  return dyngrid_finalize();
}
