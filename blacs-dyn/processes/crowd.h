/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process that waits for messages sleeps instead of yielding, since another process computes on its core. Pure:
 * times are nanoseconds of one clock.
 *
 * A yield that takes long has given the core to a process that computes. Beside an endless loop each yield would cost a
 * time slice, while a process that has slept gets the core back at once. So waits sleep for some time. That time is
 * short at first, since the process that computes may be one of the program's own: the messages that follow its work
 * come faster by yields. The time doubles when the next long yield comes as soon again. */
#ifndef DYNGRID_CROWD_H
#define DYNGRID_CROWD_H

#include <stdint.h>

enum { long_yield_ns = 1000000, shortest_crowd_ns = 250000, longest_crowd_ns = 64000000 };

/* All zero at first. */
struct crowd {
  int64_t length_ns, until_ns; /* of the last time in which waits slept: its length and its end */
};

static inline int is_crowded(const struct crowd* crowd, int64_t now_ns) {
  return now_ns < crowd->until_ns;
}

/* After a yield from entered_ns to left_ns, outside of such a time. */
static inline void note_yield(struct crowd* crowd, int64_t entered_ns, int64_t left_ns) {
  if (left_ns - entered_ns <= long_yield_ns) return;
  const int is_soon = entered_ns < crowd->until_ns + crowd->length_ns;
  const int64_t doubled_ns = 2 * crowd->length_ns;
  crowd->length_ns = shortest_crowd_ns;
  if (is_soon) crowd->length_ns = doubled_ns < longest_crowd_ns ? doubled_ns : (int64_t)longest_crowd_ns;
  crowd->until_ns = left_ns + crowd->length_ns;
}

#endif
