/* SPDX-License-Identifier: BSD-3-Clause */
/* `warm [killed|killed_one]`: run with `DYNGRID_START=warm=2` on 1x2. A growth by processes that sleep already happens
 * at the resize point of its request, which no other growth in the background can. killed: first all that sleep are
 * killed, or one of them, which only makes the growth later. */
#define _GNU_SOURCE /* struct ucred */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEST_NAME "warm"
#include "dyngrid/control.h"
#include "expect.h"

static size_t read_file(const char* pid, const char* name, char* text, size_t size) {
  char path[300];
  size_t got;
  FILE* file;
  snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
  file = fopen(path, "r");
  if (!file) return 0;
  got = fread(text, 1, size - 1, file);
  fclose(file);
  text[got] = '\0';
  return got;
}

/* With all its threads: the last one closes the files, and the first is often a zombie before that. */
static int is_dead(const char* pid) {
  char text[1000], *name_ends, state = 0;
  long threads = 0;
  if (!read_file(pid, "stat", text, sizeof text)) return 1;
  name_ends = strrchr(text, ')');
  return !name_ends ||
         sscanf(name_ends + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
                &threads) != 2 ||
         (state == 'Z' && threads <= 1);
}

/* Has this process a connection that the other one has made? */
static int is_connected_with(int pid) {
  int is_connected = 0;
  struct dirent* entry;
  DIR* all = opendir("/proc/self/fd");
  while (all && (entry = readdir(all)) != NULL) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (isdigit((unsigned char)entry->d_name[0]) &&
        getsockopt(atoi(entry->d_name), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == pid)
      is_connected = 1;
  }
  if (all) closedir(all);
  return is_connected;
}

/* Until this process, the first of the application, has closed its connection with the other one: a process that dies
 * while it joins ends the application as well (docs/mpi.md). Those to processes that have left may stay open until MPI
 * looks at them, which it does not here. */
static void kill_and_wait(const char* pid) {
  if (kill(atoi(pid), SIGKILL)) return;
  while (!is_dead(pid) || is_connected_with(atoi(pid))) usleep(10000);
}

/* Processes that my mpirun has started in the background. */
static int kill_those_that_sleep(int most) {
  static char text[1 << 16];
  int killed = 0;
  struct dirent* entry;
  DIR* all = opendir("/proc");
  while (all && (entry = readdir(all)) != NULL) {
    size_t got, at;
    int parent = 0, is_one = 0;
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    if (!read_file(entry->d_name, "stat", text, sizeof text) || !strrchr(text, ')')) continue;
    if (sscanf(strrchr(text, ')') + 1, " %*c %d", &parent) != 1 || parent != (int)getppid()) continue;
    got = read_file(entry->d_name, "environ", text, sizeof text);
    for (at = 0; at < got; at += strlen(text + at) + 1) is_one = is_one || !strncmp(text + at, "DYNGRID_MEET=", 13);
    if (!is_one || killed == most) continue;
    kill_and_wait(entry->d_name);
    ++killed;
  }
  if (all) closedir(all);
  return killed;
}

int main(int argc, char** argv) {
  const int must_kill = argc <= 1 ? 0 : strcmp(argv[1], "killed") == 0 ? 2 : strcmp(argv[1], "killed_one") == 0;
  int cycle, point, at_once = 0, nprow = 0, npcol = 0, myrow = -1, mycol = -1, cycles = 0;
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init", 0);
  expect(dyngrid_share("cycles", &cycles, sizeof cycles) == DYNGRID_SUCCESS, "dyngrid_share", 0);
  expect(dyngrid_share("at_once", &at_once, sizeof at_once) == DYNGRID_SUCCESS, "dyngrid_share", 0);
  if (dyngrid_is_newcomer()) {
    int outcome = dyngrid_resize_point_at("step");
    if (outcome == DYNGRID_RESIZED) outcome = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
    expect(outcome == DYNGRID_LEAVE, "a new process leaves", outcome);
    return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
  }
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  for (cycle = 0; cycle < 40 && !wrong && at_once < 2; ++cycle) {
    dyngrid_resize_report report;
    int outcome = DYNGRID_SAME;
    for (point = 0; point < 30 + 10 * cycle; ++point) { /* which let them be started, and come to sleep */
      expect(dyngrid_resize_point_at("step") == DYNGRID_SAME, "nothing to do", 0);
      usleep(20000);
    }
    if (must_kill && cycle < 3 && myrow == 0 && mycol == 0) printf("killed %d\n", kill_those_that_sleep(must_kill));
    expect(dyngrid_request(2, 2) == DYNGRID_SUCCESS, "dyngrid_request", 0);
    while (outcome == DYNGRID_SAME) {
      outcome = dyngrid_resize_point_at("step");
      usleep(5000);
    }
    if (must_kill && outcome < 0) continue; /* they died while joining, or hang behind one that did (docs/mpi.md) */
    expect(outcome == DYNGRID_RESIZED, "a growth", outcome);
    if (wrong) break;
    expect(dyngrid_last_resize(&report) == DYNGRID_SUCCESS, "a report", 0);
    if (report.asked_at_step == report.changed_at_step && (!must_kill || cycle >= 3)) ++at_once;
    expect(dyngrid_resize(1, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "going back", 0);
  }
  expect(at_once == 2, "growths at the resize point that asked", at_once);
  if (!wrong && myrow == 0 && mycol == 0) printf("spare: right\n");
  return dyngrid_finalize() == DYNGRID_SUCCESS && !wrong ? 0 : 1;
}
