/* SPDX-License-Identifier: BSD-3-Clause */
/* dyngrid-worker: a process beyond a program's own, which its calls may run on (DYNGRID_CALLS, workers=N). The library
 * starts it, and all that it does is in there. */
#include <stdio.h>

#include "dyngrid.h"

int main(void) {
  dyngrid_init(); /* comes back where nobody sent for this process */
  fprintf(stderr, "dyngrid-worker: started by a program under DYNGRID_CALLS=...,workers=N, not by hand\n");
  return 2;
}
