/* SPDX-License-Identifier: BSD-3-Clause */
/* What the others do while a process sleeps, or is outside the first grid.
 * `asleep way`: they cannot choose another way of starting processes, which it would not learn of.
 * `asleep unshared FILE`: they unshare state; when it is back, all share it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#define TEST_NAME "asleep"
#include "expect.h"

static int way(void) {
  int ways[] = {DYNGRID_BLOCKING, DYNGRID_BACKGROUND}, kept = 0, refused = 0;
  expect(dyngrid_init_grid(1, 2) == 0, "init", 0);
  if (dyngrid_process_id() % 2 == 1) unsetenv("PATH"); /* it starts no process, and still joins the others */
  if (dyngrid_context() >= 0) {
    for (int k = 0; k < 2; ++k) { /* one of them is the way that there is */
      const int status = dyngrid_set_processes(ways[k]);
      kept += status == 0;
      refused += status == DYNGRID_ERR_STATE && strstr(dyngrid_last_message(), "outside the grid") != NULL;
    }
    expect(kept == 1 && refused == 1, "one way is kept, the other one refused", refused);
    expect(dyngrid_resize(1, 4, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "a larger grid", 0);
  } else {
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "woken", 0);
  }
  return dyngrid_finalize();
}

static int unshared(const char* file) {
  int step = 0, more = 7, nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  expect(dyngrid_init_grid(1, 2) == 0, "init", 0);
  expect(dyngrid_share("step", &step, sizeof step) == 0 && dyngrid_share("more", &more, sizeof more) == 0, "share", 0);
  while (step < 3) {
    const int outcome = dyngrid_resize_point();
    expect(outcome == (step == 0 ? DYNGRID_SAME : DYNGRID_RESIZED), "resize point", outcome);
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    if (step == 0) {
      expect(dyngrid_request(1, 1) == 0, "a request", 0);
    } else if (step == 1) {
      expect(npcol == 1 && dyngrid_unshare("more") == 0, "unshare", npcol);
      expect(dyngrid_request(1, 2) == 0, "a request", 0);
    } else {
      expect(npcol == 2, "both are back", npcol);
      const int status = dyngrid_checkpoint(file);
      expect(status == DYNGRID_ERR_UNSUPPORTED || (status == 0 && dyngrid_restore(file) == 0), "restore", status);
      more = 3;
      expect(dyngrid_share("more", &more, sizeof more) == 0 && more == 3, "share again", more);
    }
    ++step;
  }
  return dyngrid_finalize();
}

int main(int argc, char** argv) {
  const int status = argc > 2 ? unshared(argv[2]) : way();
  expect(status == 0, "finalize", status);
  return wrong;
}
