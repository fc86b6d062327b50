/* SPDX-License-Identifier: BSD-3-Clause */
/* asked_at exact|later: run with DYNGRID_RESIZE_AT=3:2x2 on 1x2. Compares the report's steps of the request and of the
 * change with this program's own count. Then dyngrid_resize, which has no step.
 * newest: with DYNGRID_RESIZE_AT=1:1x3,2:2x2,4:1x1 the last entry counts, although 2x2 still waits for 1x3. alone: the
 * same without the last entry, which the last process alone requests. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEST_NAME "asked_at"
#include "dyngrid/control.h"
#include "expect.h"

static int newest(int is_alone) {
  int step = 0, outcome = DYNGRID_SAME, nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  expect(dyngrid_share("step", &step, sizeof step) == DYNGRID_SUCCESS, "dyngrid_share", 0);
  for (; step < 20 && outcome >= 0 && outcome != DYNGRID_LEAVE; ++step) {
    if (is_alone && step == 3) {
      dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
      if (mycol == npcol - 1) expect(dyngrid_request(1, 1) == DYNGRID_SUCCESS, "dyngrid_request", 0);
    }
    outcome = dyngrid_resize_point_at("step");
  }
  expect(outcome >= 0, "an outcome", outcome);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (outcome != DYNGRID_LEAVE) expect(nprow * npcol == 1, "the newest request counts", nprow * npcol);
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}

int main(int argc, char** argv) {
  const int is_exact = argc > 1 && strcmp(argv[1], "exact") == 0;
  int step = 0, outcome = DYNGRID_SAME;
  long long changed_at = -1;
  dyngrid_resize_report report;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init", 0);
  if (argc > 1 && (strcmp(argv[1], "newest") == 0 || strcmp(argv[1], "alone") == 0))
    return newest(strcmp(argv[1], "alone") == 0);
  expect(dyngrid_share("step", &step, sizeof step) == DYNGRID_SUCCESS, "dyngrid_share", 0);
  for (; changed_at < 0; ++step) {
    outcome = dyngrid_resize_point_at("step");
    if (outcome == DYNGRID_RESIZED) changed_at = step;
    if (outcome < 0) break;
    usleep(5000);
  }
  expect(outcome == DYNGRID_RESIZED, "a change of the grid", outcome);
  expect(dyngrid_last_resize(&report) == DYNGRID_SUCCESS, "a report", 0);
  expect(report.asked_at_step == 3, "asked for at step 3", (long long)report.asked_at_step);
  expect(report.changed_at_step == changed_at, "changed where it did", (long long)report.changed_at_step);
  if (is_exact)
    expect(changed_at == 3, "changed at step 3", changed_at);
  else
    expect(changed_at > 3, "changed at a step after 3", changed_at);
  outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  if (outcome != DYNGRID_LEAVE) {
    expect(outcome == DYNGRID_RESIZED, "dyngrid_resize", outcome);
    expect(dyngrid_last_resize(&report) == DYNGRID_SUCCESS, "a report", 0);
    expect(report.asked_at_step == -1 && report.changed_at_step == -1, "no step", (long long)report.asked_at_step);
  }
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
