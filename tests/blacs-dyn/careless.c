/* SPDX-License-Identifier: BSD-3-Clause */
/* careless HOW N STEPS: a program that checks no status. HOW is one of "loop" (correct), "int" (A of integers), "more"
 * (a matrix that no checkpoint has), "state" (shared state that none has), "null" (dyngrid_restore(NULL)), "own"
 * (dyngrid_restore of a missing file, before), "never" (no resize point), "early" (dyngrid_checkpoint(NULL) before the
 * first resize point, and in a routine that it calls). "init": dyngrid_init fails, and the status of each routine after
 * it says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyngrid.h"
#include "dyngrid/checkpoint.h"

static int after_a_failed_init(void) {
  int step = 0, bad = 0;
  dyngrid_matrix* a = NULL;
  bad |= dyngrid_init_grid(50, 50) >= 0;
  bad |= dyngrid_matrix_create("A", 'd', 10, 10, 4, 4, &a) != DYNGRID_ERR_STATE || a;
  bad |= dyngrid_share("step", &step, sizeof step) != DYNGRID_ERR_STATE;
  bad |= dyngrid_pending() != DYNGRID_ERR_STATE || dyngrid_resize(1, 1, DYNGRID_OPTIMAL) != DYNGRID_ERR_STATE;
  bad |= dyngrid_resize_point() != DYNGRID_ERR_STATE || !strstr(dyngrid_last_message(), "dyngrid_init that failed");
  return dyngrid_finalize() != 0 || bad;
}

static void save(void* data) {
  (void)data;
  printf("careless: dyngrid_checkpoint is %d\n", dyngrid_checkpoint(NULL));
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "init") == 0) return after_a_failed_init();
  const char* how = argc > 1 ? argv[1] : "loop";
  const int n = argc > 2 ? atoi(argv[2]) : 60, steps = argc > 3 ? atoi(argv[3]) : 4;
  int step = 0, more = 0, myrow = -1, mycol = -1;
  dyngrid_matrix *a = NULL, *b = NULL;
  dyngrid_init();
  dyngrid_matrix_create("A", strcmp(how, "int") == 0 ? 'i' : 'd', n, n, 4, 4, &a);
  if (strcmp(how, "more") == 0) dyngrid_matrix_create("B", 'd', n, n, 4, 4, &b);
  dyngrid_share("step", &step, sizeof step);
  if (strcmp(how, "state") == 0) dyngrid_share("more", &more, sizeof more);
  if (strcmp(how, "own") == 0) printf("careless: dyngrid_restore is %d\n", dyngrid_restore("/no/such/file"));
  if (strcmp(how, "null") == 0) dyngrid_restore(NULL);
  if (strcmp(how, "early") == 0) {
    dyngrid_on_change(save, NULL, NULL);
    save(NULL);
  }
  if (strcmp(how, "never") != 0)
    while (dyngrid_resize_point() != DYNGRID_LEAVE && step < steps) {
      dyngrid_grid(NULL, NULL, &myrow, &mycol);
      if (myrow == 0 && mycol == 0) printf("careless: computes step %d\n", step);
      ++step;
    }
  dyngrid_finalize();
  return 0;
}
