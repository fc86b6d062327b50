// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-yield.so of Open MPI: with mpi_yield_when_idle a process that waits calls sched_yield after every empty
// poll for messages. Where processes outnumber cores that keeps all of them runnable for ever. They pass the cores to
// each other and can starve what the kernel itself has to run. (Linux 6.18: "workqueue lockup", the worker of the
// terminal that mpirun reads its processes through never runs, and the job stands still.) `dyngrid run` preloads this
// library where it helps. The library wraps opal_progress, the poll, and sched_yield, and lets a process sleep once it
// has waited for a while. Measured: docs/results.md. Why so: docs/decisions/0016.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"

enum {
  yields_before_sleep = 1000, // 100 is slower: a message often comes within some rounds of all processes
  yields_of_message = 100,    // a message takes this number of them back,
  yields_after_sleep = 20,    // after a sleep fewer
  work_ns = 20000,            // a process away from MPI for longer has worked, or was interrupted: takes half of them,
                              // and all when it happens twice in a row
  share_slept = 16,       // a sleep is that part of the time waited for already, so it makes no wait longer by more;
  share_slept_later = 64, // when that is much, this part: every step of a collective adds its sleep
  shortest_sleep_ns = 1000,
  longest_sleep_ns = 100000,
  longest_sleep_later_ns = 1000000, // after 64 ms; waking fifteen processes every 100 us takes a core
  crowded_sleep_ns = 20000 // at least, where another process computes on the core: 1 us is no more than a yield
};

typedef int progress(void);

__attribute__((visibility("default"))) int opal_progress(void);
__attribute__((visibility("default"))) int sched_yield(void);

/// Of the thread that waits.
static __thread struct {
  int64_t left_ns, since_ns; // the end of the last call; the first empty poll, 0: to be found out
  unsigned vain;             // yields
  struct crowd crowd;
  int is_looking, has_yielded, was_away, has_slept;
} me;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int is_off(void) {
  static int known = -1;
  int off = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (off < 0) {
    const char* setting = getenv("DYNGRID_YIELD");
    off = setting != NULL && strcmp(setting, "off") == 0;
    __atomic_store_n(&known, off, __ATOMIC_RELAXED);
  }
  return off;
}

/// A look that does not end in a yield has found something.
int opal_progress(void) {
  static progress* next = NULL;
  progress* call = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (call == NULL) {
    *(void**)&call = dlsym(RTLD_NEXT, "opal_progress");
    if (call == NULL) return 0; // loaded by dlopen(RTLD_LOCAL): it cannot have been called
    __atomic_store_n(&next, call, __ATOMIC_RELAXED);
  }
  me.has_yielded = 0;
  me.is_looking = 1;
  const int events = call();
  me.is_looking = 0;
  if (!me.has_yielded) {
    const unsigned back = me.vain < yields_before_sleep ? yields_of_message : yields_after_sleep;
    me.vain = me.vain > back ? me.vain - back : 0;
    me.since_ns = 0;
  }
  return events;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void sleep_after(int64_t waited_ns, int64_t at_least_ns) {
  const int error = errno;
  if (!me.has_slept) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // the kernel adds 50 us to every sleep otherwise
  me.has_slept = 1;
  const int64_t sleep_ns = larger(smaller(waited_ns / share_slept, longest_sleep_ns),
                                  smaller(waited_ns / share_slept_later, longest_sleep_later_ns));
  const struct timespec moment = {0, (long)larger(sleep_ns, at_least_ns)};
  nanosleep(&moment, NULL);
  errno = error;
}

int sched_yield(void) {
  if (!me.is_looking || is_off()) return (int)syscall(SYS_sched_yield); // not a wait for messages
  const int64_t entered_ns = now_ns();
  const int is_away = entered_ns - me.left_ns > work_ns;
  if (is_away) {
    me.vain = me.was_away ? 0 : me.vain / 2;
    me.since_ns = 0;
  }
  me.was_away = is_away;
  me.has_yielded = 1;
  if (me.since_ns == 0) me.since_ns = entered_ns;
  int result = 0;
  const int crowded = is_crowded(&me.crowd, entered_ns);
  if (crowded || me.vain >= yields_before_sleep) {
    sleep_after(entered_ns - me.since_ns, crowded ? crowded_sleep_ns : shortest_sleep_ns);
    me.left_ns = now_ns();
  } else {
    ++me.vain;
    result = (int)syscall(SYS_sched_yield);
    me.left_ns = now_ns();
    note_yield(&me.crowd, entered_ns, me.left_ns);
  }
  return result;
}
