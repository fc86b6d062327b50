/* SPDX-License-Identifier: BSD-3-Clause */
/* two_loops.h as C99. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "dyngrid/control.h"
#include "two_loops.h"

/* `sent`, for new processes that start while the others compute: requested in the first loop, joined in the second */
static int sent_for_elsewhere(void) {
  int outcome = DYNGRID_SAME, nprow = 0, tries;
  const int is_newcomer = dyngrid_is_newcomer();
  need(!strcmp(dyngrid_entry_point(), is_newcomer ? "scf" : ""), "where they were when it was sent for");
  if (!is_newcomer) need(!dyngrid_request(2, 2), "request");
  outcome = dyngrid_resize_point_at("scf");
  need(outcome == (is_newcomer ? DYNGRID_REDIRECT : DYNGRID_SAME), "on its way, and led when it is there");
  need(!strcmp(dyngrid_entry_point(), is_newcomer ? "propagation" : ""), "where they are now");
  for (tries = 0; nprow < 2; ++tries) {
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
    outcome = dyngrid_resize_point_at("propagation");
    need(outcome == DYNGRID_SAME || outcome == DYNGRID_RESIZED, "the second loop");
    dyngrid_grid(&nprow, NULL, NULL, NULL);
  }
  need(nprow == 2 && (!is_newcomer || tries == 1), "joined there");
  return dyngrid_finalize();
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "plain";
  const int is_led = !strcmp(kind, "led"), is_plain = !strcmp(kind, "plain");
  const int goes_astray = !strcmp(kind, "astray"), goes_away = !strcmp(kind, "away"); /* can be led, it says */
  dyngrid_matrix* a = NULL;
  int scf = 0, step = 0, outcome = DYNGRID_SAME, first = 0, second = 0;
  char one[32] = "\"scf\"", other[32] = "\"propagation\"";
  const char* entry = "";
  need(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS, "init");
  if (!strcmp(kind, "sent")) return sent_for_elsewhere();
  need(!dyngrid_matrix_create("a", 'd', 37, 29, 4, 3, &a), "create");
  need(!dyngrid_share("scf", &scf, sizeof scf) && !dyngrid_share("step", &step, sizeof step), "share");
  if (!dyngrid_is_newcomer()) fill_or_check(a, 1);
  if (is_led || goes_astray || goes_away) {
    entry = dyngrid_entry_point();
    need(!strcmp(entry, dyngrid_is_newcomer() ? "propagation" : ""), "where a new process is to go");
  }

  if (!is_led || strcmp(entry, "propagation")) {
    for (; scf < scf_steps; ++scf) {
      if (!is_plain)
        outcome = dyngrid_resize_point_at("scf");
      else
        first = __LINE__, outcome = dyngrid_resize_point();
      if (outcome == DYNGRID_REDIRECT && goes_astray)
        outcome = dyngrid_resize_point_at("scf"); /* and not where it was led */
      if (outcome == DYNGRID_LEAVE || outcome == DYNGRID_REDIRECT) break;
      need(outcome == DYNGRID_SAME, "the first loop");
      fill_or_check(a, 0);
    }
    if (outcome == DYNGRID_REDIRECT && goes_away) return dyngrid_finalize();
    if (outcome == DYNGRID_REDIRECT)
      need(is_led && !strcmp(dyngrid_entry_point(), "propagation"), "where a process goes that woke");
  }
  for (; outcome != DYNGRID_LEAVE && step < all_steps; ++step) {
    if (step == step_of_growth && dyngrid_comm() != MPI_COMM_NULL) need(!dyngrid_request(2, 2), "request");
    if (!is_plain)
      outcome = dyngrid_resize_point_at("propagation");
    else
      second = __LINE__, outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) break;
    if (is_plain) sprintf(one, "two_loops.c:%d", first), sprintf(other, "two_loops.c:%d", second);
    if (goes_away) strcpy(one, "dyngrid_finalize");
    look_at(outcome < 0 ? outcome : 0, step, is_led, one, other);
    need(!is_led || !strcmp(dyngrid_entry_point(), ""), "nowhere else to go");
    fill_or_check(a, 0);
  }
  need(dyngrid_finalize() == DYNGRID_SUCCESS, "finalize");
  return 0;
}
