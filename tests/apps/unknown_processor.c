// SPDX-License-Identifier: BSD-3-Clause
// Preloaded, OpenBLAS says that it takes this processor for an old one, as it does with one that it does not know,
// until OPENBLAS_CORETYPE is set. `uname -n` prints TEST_HOST where that is set.
#define _GNU_SOURCE /* syscall */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

const char* openblas_get_config(void);
const char* openblas_get_corename(void);

const char* openblas_get_config(void) {
  return "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64";
}

const char* openblas_get_corename(void) {
  const char* core = getenv("OPENBLAS_CORETYPE");
  return core != NULL ? core : "Prescott";
}

int uname(struct utsname* names) {
  const char* host = getenv("TEST_HOST");
  const int status = (int)syscall(SYS_uname, names);
  if (host != NULL) strncpy(names->nodename, host, sizeof names->nodename - 1);
  return status;
}
