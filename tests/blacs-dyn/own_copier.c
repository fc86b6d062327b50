/* SPDX-License-Identifier: BSD-3-Clause */
/* own_copier: a program without knowledge of dyngrid. Built with TEST_OWN it has a p?gemr2d of its own; otherwise it
 * takes ScaLAPACK's, with the argument "dlsym" from that library itself. */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef void copier(int m, int n, const double* a, int ia, int ja, const int* desc_a, double* b, int ib, int jb,
                    const int* desc_b, int context);
copier Cpdgemr2d;
void Cblacs_pinfo(int* me, int* processes);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int nprow, int npcol);
void Cblacs_exit(int not_done);

#ifdef TEST_OWN
void pdgemr2d_(void);
void pdgemr2d_(void) {}
void Cpdgemr2d(int m, int n, const double* a, int ia, int ja, const int* desc_a, double* b, int ib, int jb,
               const int* desc_b, int context) {
  (void)m, (void)n, (void)ia, (void)ja, (void)desc_a, (void)ib, (void)jb, (void)desc_b, (void)context;
  b[0] = a[0];
}
#endif

int main(int argc, char** argv) {
  const double a[1] = {3};
  double b[1] = {0};
  int me = 0, processes = 0, context = 0;
  copier* copy = Cpdgemr2d;
  if (argc > 1 && !strcmp(argv[1], "dlsym"))
    *(void**)&copy = dlsym(dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD), "Cpdgemr2d");
  Cblacs_pinfo(&me, &processes);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, processes);
  const int desc[9] = {1, context, 1, 1, 1, 1, 0, 0, 1};
  copy(1, 1, a, 1, 1, desc, b, 1, 1, desc, context);
  Cblacs_exit(0);
  return me == 0 && b[0] != 3;
}
