/* SPDX-License-Identifier: BSD-3-Clause */
/* other_blacs: a program that contains a part of the BLACS, which does not know the grids that dyngrid makes. This
 * happens where ScaLAPACK is linked statically and does not export its tables. dyngrid_init refuses it with a message.
 * */
#include <string.h>

#define TEST_NAME "other_blacs"
#include "expect.h"

#ifdef TEST_HIDDEN
__attribute__((visibility("hidden")))
#endif
void blacs_gridinfo_(const int* context, int* nprow, int* npcol, int* myrow, int* mycol);

void blacs_gridinfo_(const int* context, int* nprow, int* npcol, int* myrow, int* mycol) {
  (void)context;
  *nprow = *npcol = *myrow = *mycol = -1;
}

int main(void) {
  int nprow, npcol, myrow, mycol;
  const int context = 0;
  blacs_gridinfo_(&context, &nprow, &npcol, &myrow, &mycol);
  const int status = dyngrid_init();
  expect(status == DYNGRID_ERR_UNSUPPORTED, "the status of dyngrid_init", status);
  expect(strstr(dyngrid_last_message(), "has a BLACS of its own") != NULL, "why", 0);
  MPI_Finalize();
  return wrong;
}
