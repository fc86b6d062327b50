/* SPDX-License-Identifier: BSD-3-Clause
 * Linked between libdyngrid and ScaLAPACK: counts the calls of three of ScaLAPACK's routines, and passes them on. */
#define _GNU_SOURCE
#include <dlfcn.h>

int scalapack_calls = 0;

static void* next(const char* name) {
  ++scalapack_calls;
  return dlsym(RTLD_NEXT, name);
}

void pdgemm_(void* ta, void* tb, void* m, void* n, void* k, void* alpha, void* a, void* ia, void* ja, void* da, void* b,
             void* ib, void* jb, void* db, void* beta, void* c, void* ic, void* jc, void* dc) {
  ((__typeof__(&pdgemm_))next("pdgemm_"))(ta, tb, m, n, k, alpha, a, ia, ja, da, b, ib, jb, db, beta, c, ic, jc, dc);
}
void pdgetrf_(void* m, void* n, void* a, void* ia, void* ja, void* da, void* ipiv, void* info) {
  ((__typeof__(&pdgetrf_))next("pdgetrf_"))(m, n, a, ia, ja, da, ipiv, info);
}
void pdpotrf_(void* uplo, void* n, void* a, void* ia, void* ja, void* da, void* info) {
  ((__typeof__(&pdpotrf_))next("pdpotrf_"))(uplo, n, a, ia, ja, da, info);
}
