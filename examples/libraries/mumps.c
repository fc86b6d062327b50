/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a square, (I + T) u_new = u, step after step, on a grid that may change before each. MUMPS eliminates the two
 * halves of the square; its ScaLAPACK root, the unknowns of the line between them, becomes a matrix of dyngrid's.
 *
 *   mpicc mumps.c $(pkg-config --cflags --libs dyngrid) -ldmumps -lm -o mumps
 *   dyngrid run -np 4 --wait --resize-at 2:3x3,4:2x3,6:1x2,8:2x2 -- ./mumps */
#include <dmumps_c.h>
#include <dyngrid.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void pdpotrf_(char*, int*, double*, int*, int*, const int*, int*), pdelset_(double*, int*, int*, int*, double*);
void pdpotrs_(char*, int*, int*, double*, int*, int*, const int*, double*, int*, int*, int*, int*);
void pdelget_(char*, char*, double*, double*, int*, int*, int*); /* ScaLAPACK has no header */

enum { m = 47, n = m * m, most = 3 * n, nb = 8, steps = 10 };
static DMUMPS_STRUC_C mumps;
static dyngrid_matrix* root;
static double *s, a[most], u[n], before[n], line[m], y[m]; /* s, y: my parts of the root and of its right-hand side */
static int p, q, row = -1, col, irn[most], jcn[most], entries, variables[m], exists, info, i1 = 1, size = m;
static int desc[9], descy[9];

static void must(int status) { /* the same on all processes */
  if (status < 0) fprintf(stderr, "mumps: %s\n", dyngrid_last_message()), MPI_Abort(MPI_COMM_WORLD, 1);
}

static void job(int what) { /* collective over the communicator of the instance */
  mumps.job = what;
  dmumps_c(&mumps);
  if (mumps.infog[0] >= 0) return;
  fprintf(stderr, "mumps: job %d ended with INFOG(1) = %d, INFOG(2) = %d\n", what, mumps.infog[0], mumps.infog[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make(void* data) { /* on each process of a new grid: an instance belongs to one communicator */
  double begin = MPI_Wtime();
  dyngrid_grid(&p, &q, &row, &col);
  if (row < 0) return; /* not in the grid, or a new process before its first resize point */
  s = dyngrid_local(root), memcpy(desc, dyngrid_desc(root), sizeof desc);
  mumps.comm_fortran = dyngrid_comm_f(), mumps.sym = 1, mumps.par = 1;
  job(-1), exists = 1;
  mumps.icntl[0] = mumps.icntl[1] = mumps.icntl[2] = -1, mumps.icntl[3] = 1; /* errors only, and those by job() */
  mumps.icntl[18] = 3; /* the root as ScaLAPACK has it, on this grid and in these blocks */
  mumps.nprow = p, mumps.npcol = q, mumps.mblock = mumps.nblock = nb;
  mumps.size_schur = m, mumps.listvar_schur = variables;
  mumps.n = n, mumps.nnz = entries, mumps.irn = irn, mumps.jcn = jcn, mumps.a = a; /* process 0's count */
  job(1);
  mumps.schur = s, mumps.schur_lld = desc[8];
  job(2);
  pdpotrf_("L", &size, s, &i1, &i1, desc, &info);
  memcpy(descy, desc, sizeof descy), descy[3] = 1; /* the right-hand side has one column */
  if (row + col == 0) printf("made for %d x %d in %.3f ms\n", p, q, 1e3 * (MPI_Wtime() - begin));
}

static void drop(void* data) { /* on each process of the old grid, also on those that leave */
  if (exists) job(-2), exists = 0;
}

static void entry(int i, int j, double value) {
  irn[entries] = i, jcn[entries] = j, a[entries++] = value;
}

int main(void) {
  int step = 0, i, j, k;
  must(dyngrid_init());                                          /* a new process joins the others here */
  must(dyngrid_matrix_create("root", 'd', m, m, nb, nb, &root)); /* made for each grid anew by MUMPS */
  must(dyngrid_share("step", &step, sizeof step)), must(dyngrid_share("u", u, sizeof u)); /* new processes get them */
  for (j = 1; j <= m; ++j)
    for (i = 1; i <= m; ++i) { /* unknown k = i + (j - 1) m; the lower triangle of I + T */
      k = i + (j - 1) * m, entry(k, k, 5);
      if (i < m) entry(k + 1, k, -1);
      if (j < m) entry(k + m, k, -1);
      if (j == (m + 1) / 2) variables[i - 1] = k;
      u[k - 1] =
          sin(M_PI * i / (m + 1)) * sin(M_PI * j / (m + 1)) + sin(2 * M_PI * i / (m + 1)) * sin(3 * M_PI * j / (m + 1));
    }
  must(dyngrid_on_change(drop, make, NULL));
  for (make(NULL); dyngrid_resize_point() != DYNGRID_LEAVE && step < steps; ++step) {
    double residual = 0, norm = 0;
    for (k = 0; k < n; ++k) before[k] = u[k];
    mumps.rhs = u, mumps.nrhs = 1, mumps.redrhs = line, mumps.lredrhs = m; /* process 0's count */
    mumps.icntl[25] = 1, job(3);                                           /* right-hand side of the root */
    MPI_Bcast(line, m, MPI_DOUBLE, 0, MPI_Comm_f2c(mumps.comm_fortran));
    for (i = 1; i <= m; ++i) pdelset_(y, &i, &i1, descy, &line[i - 1]);
    pdpotrs_("L", &size, &i1, s, &i1, &i1, desc, y, &i1, &i1, descy, &info);
    for (i = 1; i <= m; ++i) pdelget_("All", " ", &line[i - 1], y, &i, &i1, descy);
    mumps.icntl[25] = 2, job(3); /* the other unknowns */
    MPI_Bcast(u, n, MPI_DOUBLE, 0, MPI_Comm_f2c(mumps.comm_fortran));
    for (k = 0; k < entries; ++k) {
      before[irn[k] - 1] -= a[k] * u[jcn[k] - 1];
      if (irn[k] != jcn[k]) before[jcn[k] - 1] -= a[k] * u[irn[k] - 1];
    }
    for (k = 0; k < n; ++k) norm += u[k] * u[k], residual = fmax(residual, fabs(before[k]));
    if (row + col == 0) printf("step %d on %d x %d: norm %.15e residual %.1e\n", step, p, q, sqrt(norm), residual);
  }
  drop(NULL);
  return dyngrid_finalize();
}
