/* SPDX-License-Identifier: BSD-3-Clause */
/* stock_first: linked with ScaLAPACK before dyngrid. Its BLACS has no room for new processes, so a growth is refused
 * with a message; another grid of the same processes works. */
#include <string.h>

#define TEST_NAME "stock_first"
#include "expect.h"

int main(void) {
  int nprow = 0, npcol = 0, outcome;
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid", 0);
  outcome = dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
  expect(outcome == DYNGRID_ERR_UNSUPPORTED, "a growth", outcome);
  expect(strstr(dyngrid_last_message(), "does not call dyngrid's") != NULL, "why", 0);
  dyngrid_grid(&nprow, &npcol, NULL, NULL);
  expect(nprow == 1 && npcol == 2, "the old grid", npcol);
  outcome = dyngrid_resize(2, 1, DYNGRID_OPTIMAL);
  expect(outcome == DYNGRID_RESIZED, "another grid", outcome);
  dyngrid_grid(&nprow, &npcol, NULL, NULL);
  expect(nprow == 2 && npcol == 1, "the new grid", npcol);
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize", 0);
  return wrong;
}
