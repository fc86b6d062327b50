// SPDX-License-Identifier: BSD-3-Clause
// Preloaded, OpenBLAS says that it takes this processor for an old one, as it does with one that it does not know,
// until OPENBLAS_CORETYPE is set.
#include <stdlib.h>

const char* openblas_get_config(void);
const char* openblas_get_corename(void);

const char* openblas_get_config(void) {
  return "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64";
}

const char* openblas_get_corename(void) {
  const char* core = getenv("OPENBLAS_CORETYPE");
  return core != NULL ? core : "Prescott";
}
