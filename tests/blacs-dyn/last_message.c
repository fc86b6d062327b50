/* SPDX-License-Identifier: BSD-3-Clause */
/* last_message FOLDER: a new process sends a long message through the BLACS and ends dyngrid at once. Process 0
 * receives it when the new process has come to dyngrid_finalize, and gets all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEST_NAME "last_message"
#include "expect.h"

void Cdgesd2d(int context, int m, int n, const double* a, int lda, int rdest, int cdest);
void Cdgerv2d(int context, int m, int n, double* a, int lda, int rsrc, int csrc);

enum { length = 1000000 };

int main(int argc, char** argv) {
  int nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  char marker[500];
  double* a = malloc(length * sizeof *a);
  if (argc < 2 || !a) return 2;
  snprintf(marker, sizeof marker, "%s/last_message.sent", argv[1]);
  expect(dyngrid_init_grid(1, 1) == 0, "init", 0);
  if (!dyngrid_is_newcomer()) {
    unlink(marker);
    expect(dyngrid_request(1, 2) == 0, "a request", 0);
  }
  const int outcome = dyngrid_resize_point(); /* DYNGRID_WAIT=on */
  expect(outcome == DYNGRID_RESIZED, "resize point", outcome);
  if (outcome != DYNGRID_RESIZED) return 1;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (mycol == 1) {
    for (int i = 0; i < length; ++i) a[i] = i;
    Cdgesd2d(dyngrid_context(), length, 1, a, length, 0, 0);
    FILE* file = fopen(marker, "w");
    expect(file && fclose(file) == 0, "the marker", 0);
  } else {
    while (access(marker, F_OK) != 0) usleep(1000);
    Cdgerv2d(dyngrid_context(), length, 1, a, length, 0, 1);
    for (int i = 0; i < length; ++i) expect(a[i] == i, "an element", i);
  }
  free(a);
  expect(dyngrid_finalize() == 0, "finalize", 0);
  return wrong;
}
