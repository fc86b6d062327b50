// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-yield.so of Open MPI: with mpi_yield_when_idle a process that waits calls sched_yield after every vain
// look for messages. Where processes outnumber cores that keeps all of them runnable for ever; they pass the cores to
// each other and can starve what the kernel itself has to run (Linux 6.18: "workqueue lockup", the worker of the
// terminal that mpirun reads its processes through never runs, and the job stands still). Preloaded (`dyngrid run` does
// it where it helps), this one lets a process sleep once it has waited for a while. Measured:
// docs/results.md. Why so: docs/decisions/0016.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  yields_before_sleep = 1000, // 100 is slower: a message often comes within some rounds of all processes
  yields_of_message = 100,    // what came takes so many of them back,
  yields_after_sleep = 20, // after a sleep fewer: then a look takes longer anyway, memory has to come into the caches
  work_ns = 20000,         // a gap of that length takes all
  share_slept = 16,        // a sleep is that part of the time waited for already, so it makes no wait longer by more
  shortest_sleep_ns = 1000,
  longest_sleep_ns = 100000
};

__attribute__((visibility("default"))) int sched_yield(void);

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int is_off(void) {
  static int known = -1;
  int off = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (off < 0) {
    const char* said = getenv("DYNGRID_YIELD");
    off = said != NULL && strcmp(said, "off") == 0;
    __atomic_store_n(&known, off, __ATOMIC_RELAXED);
  }
  return off;
}

int sched_yield(void) {
  static __thread struct {
    int64_t left_ns, since_ns,
        look_ns; // of the last call; of the first one in vain; a look for messages that finds none, about
    unsigned vain;
    int has_slept;
  } me;
  if (is_off()) return (int)syscall(SYS_sched_yield);
  // A look that finds nothing takes always the same short time, some 50 ns. After a longer one something came, or the
  // program has worked; but about every 160th of Open MPI's own is longer too, so that one alone must not mean that
  // nobody waits.
  const int64_t entered_ns = now_ns(), gap_ns = entered_ns - me.left_ns;
  if (gap_ns > 4 * me.look_ns + 100) {
    const unsigned back = gap_ns > work_ns                ? me.vain
                          : me.vain < yields_before_sleep ? yields_of_message
                                                          : yields_after_sleep;
    me.vain = me.vain > back ? me.vain - back : 0;
    me.since_ns = entered_ns;
  }
  me.look_ns += me.look_ns / 64 + 1; // follows when looks become longer: with more neighbours, or TCP
  if (gap_ns < me.look_ns) me.look_ns = gap_ns;
  int result = 0;
  if (me.vain < yields_before_sleep) {
    ++me.vain;
    result = (int)syscall(SYS_sched_yield);
  } else {
    const int error = errno;
    if (!me.has_slept) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // the kernel adds 50 us to every sleep otherwise
    me.has_slept = 1;
    int64_t sleep_ns = (entered_ns - me.since_ns) / share_slept;
    if (sleep_ns < shortest_sleep_ns) sleep_ns = shortest_sleep_ns;
    if (sleep_ns > longest_sleep_ns) sleep_ns = longest_sleep_ns;
    const struct timespec moment = {0, (long)sleep_ns};
    nanosleep(&moment, NULL);
    errno = error;
  }
  me.left_ns = now_ns();
  return result;
}
