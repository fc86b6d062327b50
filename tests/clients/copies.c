/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded before ScaLAPACK and dyngrid: counts the calls of p?gemr2d and p?trmr2d, in both spellings, and their
 * seconds. Each process that made any writes "CALLS SECONDS" to the file $COPIES_FILE.PROCESS when it ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long calls;
static double seconds;
static int depth; /* the Fortran spelling calls the one of C */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ScaLAPACK where a module of an interpreter has loaded it: not among the program's own libraries */
static int open_scalapack(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  if (!strstr(info->dlpi_name, "/libscalapack")) return 0;
  *(void**)found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return 1;
}

static void* next(const char* name) {
  void *found = dlsym(RTLD_NEXT, name), *library = NULL;
  if (!found && dl_iterate_phdr(open_scalapack, &library)) found = dlsym(library, name);
  if (found) return found;
  fprintf(stderr, "copies: no %s behind this one\n", name);
  abort();
}

__attribute__((destructor)) static void write_down(void) {
  const char* const file = getenv("COPIES_FILE");
  if (!file || calls == 0) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%ld", file, (long)getpid());
  FILE* out = fopen(path, "w");
  if (!out) return;
  fprintf(out, "%ld %.6f\n", calls, seconds);
  fclose(out);
}

#define COUNTED(name, arguments, pass)                                                                                 \
  void name arguments;                                                                                                 \
  void name arguments {                                                                                                \
    static void(*real) arguments;                                                                                      \
    if (!real) *(void**)&real = next(#name);                                                                           \
    const double begun = now();                                                                                        \
    ++depth;                                                                                                           \
    real pass;                                                                                                         \
    if (--depth > 0) return;                                                                                           \
    ++calls;                                                                                                           \
    seconds += now() - begun;                                                                                          \
  }
#define IN_C int m, int n, void *a, int ia, int ja, int *desca, void *b, int ib, int jb, int *descb, int context
#define IN_FORTRAN                                                                                                     \
  int *m, int *n, void *a, int *ia, int *ja, int *desca, void *b, int *ib, int *jb, int *descb, int *context
#define PASSED m, n, a, ia, ja, desca, b, ib, jb, descb, context
#define COPIES(x)                                                                                                      \
  COUNTED(Cp##x##gemr2d, (IN_C), (PASSED))                                                                             \
  COUNTED(p##x##gemr2d_, (IN_FORTRAN), (PASSED))                                                                       \
  COUNTED(Cp##x##trmr2d, (char* uplo, char* diag, IN_C), (uplo, diag, PASSED))                                         \
  COUNTED(p##x##trmr2d_, (char* uplo, char* diag, IN_FORTRAN), (uplo, diag, PASSED))
COPIES(i)
COPIES(s)
COPIES(d)
COPIES(c)
COPIES(z)
