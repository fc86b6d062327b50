/* SPDX-License-Identifier: BSD-3-Clause */
/* handed_on: 1 -> 2 processes. It reads a line of standard input before MPI, as many programs do, and then changes its
 * folder and all that a process inherits. The new process prints the state that it finds at its start. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEST_NAME "handed_on"
#include "expect.h"

struct found {
  char line[64], folder[4096], given[64], set_later[64];
  int mask, niceness, cores;
  long long files, stack;
};

static long long soft_limit(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 ? (long long)limit.rlim_cur : -1;
}

static void limit_softly(int resource, rlim_t value) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = value;
  expect(setrlimit(resource, &limit) == 0, "setrlimit", (long long)value);
}

static struct found look(void) {
  struct found it;
  cpu_set_t set;
  const char *given = getenv("TEST_GIVEN"), *set_later = getenv("TEST_SET_LATER");
  memset(&it, 0, sizeof it);
  if (!fgets(it.line, sizeof it.line, stdin)) strcpy(it.line, "nothing");
  it.line[strcspn(it.line, "\n")] = '\0';
  expect(getcwd(it.folder, sizeof it.folder) != NULL, "getcwd", 0);
  if (given) strncpy(it.given, given, sizeof it.given - 1);
  if (set_later) strncpy(it.set_later, set_later, sizeof it.set_later - 1);
  it.mask = (int)umask(0);
  umask((mode_t)it.mask);
  it.niceness = getpriority(PRIO_PROCESS, 0);
  it.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
  it.files = soft_limit(RLIMIT_NOFILE);
  it.stack = soft_limit(RLIMIT_STACK);
  return it;
}

int main(void) {
  const struct found mine = look();
  struct found all[2];
  int outcome;
  expect(dyngrid_init_grid(1, 1) == DYNGRID_SUCCESS, "dyngrid_init_grid", 0);
  if (!dyngrid_is_newcomer()) {
    umask(027);
    limit_softly(RLIMIT_NOFILE, 345);
    limit_softly(RLIMIT_STACK, 4 << 20);
    expect(setpriority(PRIO_PROCESS, 0, 3) == 0, "setpriority", 3);
    setenv("TEST_SET_LATER", "a 'b' \"c\"", 1);
    expect(chdir("/") == 0, "chdir", 0);
  }
  outcome = dyngrid_resize_point();
  expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
  if (outcome != DYNGRID_RESIZED) return 1;
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, dyngrid_comm());
  if (dyngrid_is_first()) {
    const struct found new_process = all[1];
    printf("new process: line '%s', umask %03o, niceness %d, files %lld, stack %lld, variables <%s> <%s>, %s folder, "
           "%d cores of %d\n",
           new_process.line, (unsigned)new_process.mask, new_process.niceness, new_process.files, new_process.stack,
           new_process.given, new_process.set_later,
           strcmp(new_process.folder, mine.folder) == 0 ? "the same" : new_process.folder, new_process.cores,
           mine.cores);
  }
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
