/* SPDX-License-Identifier: BSD-3-Clause */
/* apart ODD KIND FILE: process ODD is at another place of the program than the other one, while the environment asks
 * for a checkpoint in FILE, or for its restoration. Neither process hangs, neither file nor data change, and both go
 * on. KIND: "call", where ODD shares state; "point", where it is at another resize point; "restore", as call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#define TEST_NAME "apart"
#include "expect.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int odd = atoi(argv[1]), restores = strcmp(argv[2], "restore") == 0, at_points = strcmp(argv[2], "point") == 0;
  int step = 0, more = 0, status = 0;
  expect(dyngrid_init_grid(1, 2) == 0, "init", 0);
  const int is_odd = dyngrid_process_id() == odd;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share", 0);
  if (!restores) {
    unlink(argv[3]);
    MPI_Barrier(dyngrid_comm());
    status = dyngrid_resize_point_at("loop");
    expect(status == DYNGRID_SAME, "the first point", status);
    step = 5;
  }
  if (!is_odd)
    status = dyngrid_resize_point_at("loop");
  else if (at_points)
    status = dyngrid_resize_point_at("elsewhere");
  else
    status = dyngrid_share("more", &more, sizeof more);
  expect(status == (at_points ? DYNGRID_ERR_STATE : DYNGRID_ERR_MISMATCH), "apart", status);
  expect(step == (restores ? 0 : 5), "shared state", step);
  expect(restores || access(argv[3], F_OK) != 0, "there is no checkpoint of processes that are apart", 0);
  MPI_Barrier(dyngrid_comm());
  status = dyngrid_resize_point_at("loop");
  expect(status == (restores ? DYNGRID_RESIZED : DYNGRID_SAME), "together again", status);
  expect(step == 5, "shared state", step);
  MPI_Barrier(dyngrid_comm());
  if (!restores && strstr(getenv("DYNGRID_CHECKPOINT"), "every=1") != NULL)
    expect(access(argv[3], F_OK) == 0, "the checkpoint", 0);
  expect(dyngrid_finalize() == 0, "finalize", 0);
  return wrong;
}
