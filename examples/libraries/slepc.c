/* SPDX-License-Identifier: BSD-3-Clause */
/* SLEPc on a grid that may change before each step: the four lowest eigenvalues of a MATSCALAPACK whose coupling
 * decays, searched from the lowest eigenvector of the step before. The matrix and that vector follow. petsc.c says
 * more.
 *
 *   mpicc slepc.c $(pkg-config --cflags --libs dyngrid slepc) -lm -o slepc
 *   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./slepc */
#include <dyngrid.h>
#include <slepceps.h>

enum { n = 90, nb = 8, few = 4, steps = 10 };
static dyngrid_matrix *matrix, *vector;
static double* local;                  /* my part of the matrix */
static const PetscInt *rows, *columns; /* its rows and columns, from 0 */
static PetscInt m_loc, n_loc;
static IS row_set, column_set;
static Mat a;
static EPS solver;
static Vec x, mine;     /* x lies as PETSc wants it, `mine` is my part of `vector` */
static VecScatter copy; /* from x to `mine`, and in reverse */
static int p, q, row = -1, col, step;

static void call(int error) { /* above 0: of PETSc, which has printed what it is */
  if (error < 0) fprintf(stderr, "slepc: %s\n", dyngrid_last_message());
  if (error) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make(void* data) { /* on each process of a new grid: an object belongs to one communicator */
  const double begin = MPI_Wtime();
  PetscInt k, m_vector;
  IS mine_set;
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
    local[k] =
        rows[k % m_loc] == columns[k / m_loc] ? rows[k % m_loc] : pow(0.8, abs(rows[k % m_loc] - columns[k / m_loc]));

  m_vector = col == 0 ? m_loc : 0; /* the vector is a matrix of one column */
  call(MatCreateVecs(a, &x, NULL));
  call(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m_vector, dyngrid_local(vector), &mine));
  call(ISCreateGeneral(PETSC_COMM_SELF, m_vector, rows, PETSC_COPY_VALUES, &mine_set));
  call(VecScatterCreate(x, mine_set, mine, NULL, &copy)), call(ISDestroy(&mine_set));
  call(VecScatterBegin(copy, mine, x, INSERT_VALUES, SCATTER_REVERSE));
  call(VecScatterEnd(copy, mine, x, INSERT_VALUES, SCATTER_REVERSE));
  if (step == 0) call(VecSet(x, 1 / sqrt(n)));

  call(EPSCreate(PetscObjectComm((PetscObject)a), &solver));
  call(EPSSetProblemType(solver, EPS_HEP)), call(EPSSetWhichEigenpairs(solver, EPS_SMALLEST_REAL));
  call(EPSSetDimensions(solver, few, PETSC_DEFAULT, PETSC_DEFAULT)), call(EPSSetTolerances(solver, 1e-14, 1000));
  if (row + col == 0) printf("made for %d x %d in %.3f ms\n", p, q, 1e3 * (MPI_Wtime() - begin));
}

static void drop(void* data) { /* on each process of the old grid, also on those that leave; x goes along */
  if (!a) return;
  call(VecScatterBegin(copy, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  call(VecScatterEnd(copy, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  call(VecScatterDestroy(&copy)), call(VecDestroy(&mine)), call(VecDestroy(&x)), call(EPSDestroy(&solver));
  call(MatDestroy(&a)), call(ISDestroy(&row_set)), call(ISDestroy(&column_set));
}

int main(int argc, char** argv) {
  call(dyngrid_init());             /* a new process joins the others here */
  PETSC_COMM_WORLD = MPI_COMM_SELF; /* it cannot change later, and processes join and leave one by one */
  call(SlepcInitialize(&argc, &argv, NULL, NULL));
  call(dyngrid_matrix_create("A", 'd', n, n, nb, nb, &matrix)); /* the matrices follow the grid */
  call(dyngrid_matrix_create("x", 'd', n, 1, nb, nb, &vector));
  call(dyngrid_share("step", &step, sizeof step)), call(dyngrid_on_change(drop, make, NULL)); /* new processes get it */
  for (make(NULL); dyngrid_resize_point() != DYNGRID_LEAVE && step < steps; ++step) {
    double sum = 0, value, overlap;
    PetscInt k, converged;
    Vec old;
    for (k = 0; k < m_loc * n_loc; ++k)
      if (rows[k % m_loc] != columns[k / m_loc]) local[k] *= 0.9;
    call(MatSetValues(a, m_loc, rows, n_loc, columns, local, INSERT_VALUES));
    call(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), call(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    call(EPSSetOperators(solver, a, NULL)), call(EPSSetInitialSpace(solver, 1, &x)), call(EPSSolve(solver));
    call(EPSGetConverged(solver, &converged));
    for (k = 0; k < few && k < converged; ++k) call(EPSGetEigenvalue(solver, k, &value, NULL)), sum += value;
    call(VecDuplicate(x, &old)), call(VecCopy(x, old));
    call(EPSGetEigenvector(solver, 0, x, NULL)), call(VecDot(old, x, &overlap)), call(VecDestroy(&old));
    if (row + col == 0)
      printf("step %d on %d x %d: sum %.15e of %d overlap %.15e\n", step, p, q, sum, (int)k, fabs(overlap));
  }
  drop(NULL);
  call(SlepcFinalize());
  return dyngrid_finalize();
}
