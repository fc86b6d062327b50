// SPDX-License-Identifier: BSD-3-Clause
/* A program of ScaLAPACK calls that knows nothing of dyngrid: calls_run N NB PxQ CALLS [MODE] [FILE]. CALLS products of
 * whole numbers on all processes, exact in any order. MODE is split: as many again by each half of them, in a context
 * of its own; half: as many by the first half of them before; short: as many while process 1 can have 3 MB more, then
 * as many as at first; pause: as many again on the grid QxP when there is FILE.half; anew: as many again after
 * blacs_exit(1); exit: the end is exit(7), without MPI_Finalize. All is checked; of large matrices some elements. With
 * FILE it then waits until there is one, a minute at most. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern void Cblacs_gridmap(int* ctxt, int* map, int ld, int nprow, int npcol);
extern void Cblacs_exit(int not_done);
extern void Cblacs_get(int ctxt, int what, int* value);
extern void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol);
extern int numroc_(const int* n, const int* nb, const int* iproc, const int* isrc, const int* nprocs);
extern void pdgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
                    const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
                    const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
                    const int* desc_c);

static int rank, n, nb;

static double in_a(int i, int j) {
  return (i + 2 * j) % 5 - 2;
}
static double in_b(int i, int j) {
  return (3 * i + j) % 7 - 3;
}
static int global(int local, int me, int procs) {
  return (local / nb * procs + me) * nb + local % nb;
}

/* What this process has may grow by this number of bytes; 0: as it likes. */
static void limit(long more) {
  struct rlimit memory;
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1) MPI_Abort(MPI_COMM_WORLD, 3);
  fclose(file);
  getrlimit(RLIMIT_AS, &memory);
  memory.rlim_cur = more == 0 ? memory.rlim_max : (rlim_t)(pages * sysconf(_SC_PAGESIZE) + more);
  if (setrlimit(RLIMIT_AS, &memory) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
}

/* On processes first, first + 1, ... in rows. */
static int product(int first, int nprow, int npcol, int times, int is_short) {
  int ctxt, map[64], me[2], shape[2], zero = 0, one = 1, wrong = 0;
  for (int q = 0; q < npcol; ++q)
    for (int p = 0; p < nprow; ++p) map[p + q * nprow] = first + p * npcol + q;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridmap(&ctxt, map, nprow, nprow, npcol);
  if (rank < first || rank >= first + nprow * npcol) return 0;
  Cblacs_gridinfo(ctxt, &shape[0], &shape[1], &me[0], &me[1]);
  const int rows = numroc_(&n, &nb, &me[0], &zero, &nprow), cols = numroc_(&n, &nb, &me[1], &zero, &npcol);
  const int lld = rows > 0 ? rows : 1;
  const int desc[9] = {1, ctxt, n, n, nb, nb, 0, 0, lld};
  const size_t size = (size_t)lld * (size_t)(cols > 0 ? cols : 1);
  double *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b), *c = malloc(size * sizeof *c);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) {
      a[i + (size_t)j * (size_t)lld] = in_a(global(i, me[0], nprow), global(j, me[1], npcol));
      b[i + (size_t)j * (size_t)lld] = in_b(global(i, me[0], nprow), global(j, me[1], npcol));
    }
  for (int t = 0; t < (is_short ? 3 : 1) * times; ++t) {
    const double alpha = 1, beta = 0;
    memset(c, 255, size * sizeof *c);
    const int is_limited = is_short && rank == 1 && t >= times && t < 2 * times;
    if (is_limited) limit(3L << 20);
    pdgemm_("N", "N", &n, &n, &n, &alpha, a, &one, &one, desc, b, &one, &one, desc, &beta, c, &one, &one, desc);
    if (is_limited) limit(0);
    const int every = n > 200 ? 37 : 1;
    for (int j = 0; j < cols; j += every)
      for (int i = 0; i < rows; i += every) {
        const int r = global(i, me[0], nprow), s = global(j, me[1], npcol);
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += in_a(r, k) * in_b(k, s);
        wrong += c[i + (size_t)j * (size_t)lld] != sum;
      }
  }
  free(a), free(b), free(c);
  return wrong;
}

static void wait_for(const char* file) {
  for (int tenth = 0; tenth < 6000 && access(file, F_OK) != 0; ++tenth) usleep(100000);
}

int main(int argc, char** argv) {
  int nprow = 0, npcol = 0, size, any;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 5 || sscanf(argv[3], "%dx%d", &nprow, &npcol) != 2 || nprow * npcol > size) MPI_Abort(MPI_COMM_WORLD, 2);
  n = atoi(argv[1]), nb = atoi(argv[2]);
  const int times = atoi(argv[4]);
  const char* mode = argc > 5 ? argv[5] : "";
  const int is_short = strcmp(mode, "short") == 0;
  mallopt(M_MMAP_THRESHOLD, 1 << 17); /* large arrays are asked of the kernel each time */
  const int is_half = strcmp(mode, "half") == 0;
  int wrong = is_half ? product(0, 1, size / 2, times, 0) : 0, next = is_short || is_half ? 6 : 5;
  wrong += product(0, nprow, npcol, times, is_short);
  if (next < argc && strcmp(argv[next], "split") == 0) {
    ++next;
    wrong += product(0, 1, size / 2, times, 0);
    wrong += product(size / 2, 1, size / 2, times, 0);
  }
  if (strcmp(mode, "exit") == 0) exit(wrong == 0 ? 7 : 1);
  if (strcmp(mode, "anew") == 0) {
    ++next;
    Cblacs_exit(1);
    wrong += product(0, npcol, nprow, times, 0);
  }
  if (strcmp(mode, "pause") == 0 && ++next < argc) {
    char file[4096];
    snprintf(file, sizeof file, "%s.half", argv[next]);
    if (rank == 0) printf("halfway\n"), fflush(stdout);
    wait_for(file);
    wrong += product(0, npcol, nprow, times, 0);
  }
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(any == 0 ? "right\n" : "%d elements are wrong\n", any), fflush(stdout);
  if (next < argc) wait_for(argv[next]);
  MPI_Finalize();
  return any != 0;
}
