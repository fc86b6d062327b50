/* SPDX-License-Identifier: BSD-3-Clause */
/* Run with `DYNGRID_START=warm=2` on 1x2 with Open MPI. This program replaces PMIx_Get, by which Open MPI looks up the
 * addresses of processes that it does not know. It counts those for which mpirun would have to be queried while the
 * grid grows. There must be none, on no process, since sleeping and present processes know each other beforehand. On a
 * loaded machine an answer may be late; it is not in all of several growths. Open MPI 4 has all addresses by then in
 * any case. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST_NAME "introduced"
#include "dyngrid/control.h"
#include "expect.h"

static int looked_up, missing;

typedef pmix_status_t (*get_function)(const pmix_proc_t*, const char*, const pmix_info_t*, size_t, pmix_value_t**);

/* Without querying mpirun. */
static int is_here(get_function get, const pmix_proc_t* who, const char* key) {
  pmix_info_t optional;
  pmix_value_t* value = NULL;
  memset(&optional, 0, sizeof optional);
  strcpy(optional.key, PMIX_OPTIONAL);
  optional.value.type = PMIX_BOOL;
  optional.value.data.flag = 1;
  return get(who, key, &optional, 1, &value) == PMIX_SUCCESS; /* a few bytes are lost */
}

pmix_status_t PMIx_Get(const pmix_proc_t* who, const char* key, const pmix_info_t* info, size_t count,
                       pmix_value_t** value) {
  get_function get = NULL;
  const char* mine = getenv("PMIX_NAMESPACE");
  *(void**)&get = dlsym(RTLD_NEXT, "PMIx_Get");
  if (who && key && mine && strcmp(who->nspace, mine) != 0 &&
      (strncmp(key, "btl.tcp.", 8) == 0 || strncmp(key, "pml.ucx.", 8) == 0)) {
    ++looked_up;
    if (!is_here(get, who, key)) ++missing;
  }
  return get(who, key, info, count, value);
}

/* Of all processes of the grid, after a growth. */
static int sum(int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, dyngrid_comm());
  return all;
}

int main(void) {
  enum { most_cycles = 12 };
  int cycle, point, good = 0, nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init", 0);
  if (dyngrid_is_newcomer()) {
    int outcome = dyngrid_resize_point_at("step");
    if (outcome == DYNGRID_RESIZED) {
      sum(looked_up);
      sum(missing);
      outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
    }
    expect(outcome == DYNGRID_LEAVE, "a new process leaves", outcome);
    return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
  }
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  for (cycle = 0; cycle < most_cycles && !wrong && !good; ++cycle) {
    int outcome = DYNGRID_SAME, all = 0;
    for (point = 0; point < 30 + 10 * cycle; ++point) { /* which let them be started, and come to sleep */
      expect(dyngrid_resize_point_at("step") == DYNGRID_SAME, "nothing to do", 0);
      usleep(20000);
    }
    looked_up = missing = 0;
    expect(dyngrid_request(2, 2) == DYNGRID_SUCCESS, "dyngrid_request", 0);
    while (outcome == DYNGRID_SAME) {
      outcome = dyngrid_resize_point_at("step");
      usleep(5000);
    }
    expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
    if (wrong) break;
    /* two by two, and the new ones, each in both directions */
    all = sum(looked_up);
    expect(all >= 8, "pairs of processes that MPI looks up", all);
    all = sum(missing);
    good = all == 0;
    if (!good && myrow == 0 && mycol == 0) printf("introduced: mpirun would be asked %d times\n", all);
    expect(dyngrid_resize(1, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "going back", 0);
  }
  expect(good, "growths in which somebody was not known beforehand", cycle);
  if (!wrong && myrow == 0 && mycol == 0) printf("introduced: right\n");
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
