/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a test: ends the process by SIGKILL in the middle of writing a checkpoint, a file whose name ends in
 * ".writing". KILL_AT=N: when N bytes have been written to such files (the last write is cut short); fsync:N, rename:N,
 * renamed:N: before the Nth sync of one, before and after its rename. KILL_NOTE: a file that gets the number of
 * finished renames. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long written, synced, renamed;

static int is_partial(const char* name) {
  const size_t length = strlen(name);
  return length > 8 && !strcmp(name + length - 8, ".writing");
}

static int is_partial_fd(int fd) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = '\0';
  return is_partial(name);
}

static void end(void) {
  const char* note = getenv("KILL_NOTE");
  FILE* file = note ? fopen(note, "w") : NULL;
  if (file) {
    fprintf(file, "%ld\n", renamed);
    fclose(file);
  }
  kill(getpid(), SIGKILL);
}

static int is_due(const char* what, long count) {
  const char* at = getenv("KILL_AT");
  const size_t length = strlen(what);
  return at && !strncmp(at, what, length) && at[length] == ':' && atol(at + length + 1) == count;
}

/* How much may still be written. */
static size_t allowed(int fd, size_t count) {
  const char* at = getenv("KILL_AT");
  if (!at || *at < '0' || *at > '9' || !is_partial_fd(fd)) return count;
  const long left = atol(at) - written;
  written += (long)count;
  return left < (long)count ? (size_t)(left > 0 ? left : 0) : count;
}

/* The function of that name that this one replaces. */
#define REAL(function)                                                                                                 \
  static __typeof__(function)* real;                                                                                   \
  if (!real) real = (__typeof__(function)*)dlsym(RTLD_NEXT, #function)

ssize_t pwrite64(int fd, const void* data, size_t count, off64_t offset) {
  REAL(pwrite64);
  const size_t may = allowed(fd, count);
  const ssize_t result = real(fd, data, may, offset);
  if (may < count) end();
  return result;
}
ssize_t pwrite(int fd, const void* data, size_t count, off_t offset) {
  return pwrite64(fd, data, count, offset);
}
ssize_t write(int fd, const void* data, size_t count) {
  REAL(write);
  const size_t may = allowed(fd, count);
  const ssize_t result = real(fd, data, may);
  if (may < count) end();
  return result;
}
int fsync(int fd) {
  REAL(fsync);
  if (is_partial_fd(fd) && is_due("fsync", ++synced)) end();
  return real(fd);
}
int rename(const char* from, const char* to) {
  REAL(rename);
  if (!is_partial(from)) return real(from, to);
  if (is_due("rename", renamed + 1)) end();
  const int result = real(from, to);
  ++renamed;
  if (is_due("renamed", renamed)) end();
  return result;
}
