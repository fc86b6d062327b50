/* SPDX-License-Identifier: BSD-3-Clause */
/* Run on 1x2 with Open MPI. This program replaces the two functions by which Open MPI counts the users of its search
 * for connections, and counts libdyngrid's use: some while the grid grows, none before and after. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define TEST_NAME "looks"
#include "dyngrid/control.h"
#include "expect.h"

static int wanted, most;

static int is_of_dyngrid(void* return_address) {
  Dl_info info;
  return dladdr(return_address, &info) && info.dli_fname && strstr(info.dli_fname, "libdyngrid");
}

static void pass_on(const char* name) {
  void (*next)(void) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, name);
  if (next) next();
}

void opal_progress_event_users_increment(void);
void opal_progress_event_users_decrement(void);

void opal_progress_event_users_increment(void) {
  if (is_of_dyngrid(__builtin_return_address(0)) && ++wanted > most) most = wanted;
  pass_on("opal_progress_event_users_increment");
}

void opal_progress_event_users_decrement(void) {
  if (is_of_dyngrid(__builtin_return_address(0))) --wanted;
  pass_on("opal_progress_event_users_decrement");
}

static int while_it_moves = -1;
static void before_change(void* data) {
  (void)data;
  while_it_moves = wanted;
}

int main(void) {
  dyngrid_matrix* a = NULL;
  int outcome, nprow = 0, npcol = 0, myrow = -1, mycol = -1;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init", 0);
  expect(dyngrid_matrix_create("a", 'd', 64, 64, 4, 4, &a) == DYNGRID_SUCCESS, "dyngrid_matrix_create", 0);
  expect(wanted == 0 && most == 0, "looks before the grid grows", most);
  if (dyngrid_is_newcomer()) {
    outcome = dyngrid_resize_point_at("step");
  } else {
    expect(dyngrid_on_change(before_change, NULL, NULL) == DYNGRID_SUCCESS, "dyngrid_on_change", 0);
    outcome = dyngrid_resize(2, 2, DYNGRID_OPTIMAL);
    expect(while_it_moves > 0, "looks while the matrices move", while_it_moves);
  }
  expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
  expect(most > 0, "looks while the grid grows", most);
  expect(wanted == 0, "looks after that", wanted);
  outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  expect(outcome == DYNGRID_RESIZED || outcome == DYNGRID_LEAVE, "going back", outcome);
  expect(wanted == 0, "looks at the end", wanted);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (!wrong && outcome == DYNGRID_RESIZED && myrow == 0 && mycol == 0) printf("looks: right\n");
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
