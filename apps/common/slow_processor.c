// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-slow.so, for benchmarks and tests, not installed: every process computes as if on a slow processor of its
// own. So a grid of sixteen processes on two cores has the step times of sixteen processors. Preloaded, it replaces the
// BLAS routines that PBLAS and ScaLAPACK spend their time in. The real routine runs and gives its result; then the
// process sleeps until a processor of the given speed would have been done. A sleeping process leaves the cores to the
// others.
//
// A program that computes by itself looks up dyngrid_slow_work (apps/common/own_work.hpp) and calls it after a stretch
// of work.
//
//   SLOWLAB_SPEED=0.5     every process has a processor of 0.5 GFLOP/s
//   SLOWLAB_FILE=PATH     speeds of processors 0, 1, ... in a file, separated by blanks; the last one is that of all
//   further ones. May be rewritten or replaced at any time:
//                         looked at every 50 ms. A process takes the lowest processor that is free and has it until it
//                         ends (a lock in PATH.taken).
// With neither, or where the speed is 0, nothing is slowed. The emulation holds while the real work of all processes
// together fits into the cores of this machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum {
  look_ns = 50000000,         // between looks at the file
  shortest_sleep_ns = 200000, // less is accumulated: the clock of a sleep is not finer
  most_late_ns = 5000000,     // a process that lost its core for longer does not make up for it
  most_processors = 4096
};

static struct {
  pthread_once_t once;
  const char* file;
  int processor;       // -1 without a file
  double flops_per_ns; // 0: not slowed
  struct stat read_last;
  int64_t looked_ns;
} lab = {PTHREAD_ONCE_INIT, NULL, -1, 0, {0}, 0};

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void give_up(const char* what, const char* name) {
  fprintf(stderr, "libdyngrid-slow: %s %s%s%s\n", what, name, errno ? ": " : "", errno ? strerror(errno) : "");
  abort(); // a measurement on processors of the wrong speed is worthless
}

/// Reads the speed of my processor, when the file has been replaced or changed since the last read. A file that is
/// being written, with no number in it yet, changes nothing.
static void read_speed(void) {
  struct stat now;
  if (stat(lab.file, &now) != 0) return;
  if (now.st_ino == lab.read_last.st_ino && now.st_size == lab.read_last.st_size &&
      now.st_mtim.tv_sec == lab.read_last.st_mtim.tv_sec && now.st_mtim.tv_nsec == lab.read_last.st_mtim.tv_nsec)
    return;
  FILE* in = fopen(lab.file, "re");
  if (in == NULL) return;
  double speed = -1, next = 0;
  for (int k = 0; k <= lab.processor && fscanf(in, "%lf", &next) == 1; ++k) speed = next;
  fclose(in);
  if (speed < 0) return;
  lab.flops_per_ns = speed;
  lab.read_last = now;
}

/// An open file description has the lock, so that reading elsewhere cannot release it; it is never closed.
static void take_processor(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.taken", lab.file);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) give_up("cannot open", path);
  for (int k = 0; k < most_processors; ++k) {
    struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = k, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &one) == 0) {
      lab.processor = k;
      return;
    }
    if (errno != EAGAIN && errno != EACCES) break;
  }
  give_up("no free processor in", path);
}

static void start(void) {
  const char* speed = getenv("SLOWLAB_SPEED");
  lab.file = getenv("SLOWLAB_FILE");
  if (speed != NULL) {
    char* end = NULL;
    lab.flops_per_ns = strtod(speed, &end);
    errno = 0;
    if (end == speed || *end != '\0' || !(lab.flops_per_ns >= 0))
      give_up("SLOWLAB_SPEED is not a number of GFLOP/s:", speed);
  }
  if (lab.file == NULL) return;
  take_processor();
  read_speed();
}

static __thread double owed_ns; // of the time that my processor takes; below 0: it is late

static void owe(double ns) {
  owed_ns += ns;
  if (owed_ns < -most_late_ns) owed_ns = -most_late_ns;
}

/// Sleeps for the rest of the time of `flops` on my processor, which began when the real routine did. The excess of a
/// sleep is taken from the next one, up to most_late_ns: else a step after a long wait would be too fast.
static void end_of_work(double flops, int64_t began_ns) {
  int64_t now = now_ns();
  if (lab.file != NULL && now - lab.looked_ns > look_ns) {
    lab.looked_ns = now;
    read_speed();
  }
  if (!(lab.flops_per_ns > 0)) return;
  owe(flops / lab.flops_per_ns - (double)(now - began_ns));
  if (owed_ns < shortest_sleep_ns) return;
  const int64_t until_ns = now + (int64_t)owed_ns;
  const struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
  owe(-(double)(now_ns() - now));
}

/// After `flops` of the program's own, which began at began_ns of CLOCK_MONOTONIC.
EXPORTED void dyngrid_slow_work(double flops, int64_t began_ns);
void dyngrid_slow_work(double flops, int64_t began_ns) {
  pthread_once(&lab.once, start);
  end_of_work(flops, began_ns);
}

static void* real(const char* name) {
  pthread_once(&lab.once, start);
  void* found = dlsym(RTLD_NEXT, name);
  errno = 0;
  if (found == NULL) give_up("there is no BLAS behind me that has", name);
  return found;
}

// BLAS as Fortran calls it. The lengths of character arguments, which some compilers append, are not passed on: no BLAS
// reads them.
#define STAND_BEFORE(name, parameters, arguments, flops)                                                               \
  EXPORTED void name parameters;                                                                                       \
  void name parameters {                                                                                               \
    static void(*routine) parameters;                                                                                  \
    if (routine == NULL) routine = (void(*) parameters)real(#name);                                                    \
    const int64_t began_ns = now_ns();                                                                                 \
    routine arguments;                                                                                                 \
    end_of_work(flops, began_ns);                                                                                      \
  }

STAND_BEFORE(dgemm_,
             (const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
              const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
              const int* ldc),
             (transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), 2.0 * *m * *n * *k)
STAND_BEFORE(dgemv_,
             (const char* trans, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
              const double* x, const int* incx, const double* beta, double* y, const int* incy),
             (trans, m, n, alpha, a, lda, x, incx, beta, y, incy), 2.0 * *m * *n)
STAND_BEFORE(dger_,
             (const int* m, const int* n, const double* alpha, const double* x, const int* incx, const double* y,
              const int* incy, double* a, const int* lda),
             (m, n, alpha, x, incx, y, incy, a, lda), 2.0 * *m * *n)
STAND_BEFORE(dsyrk_,
             (const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a,
              const int* lda, const double* beta, double* c, const int* ldc),
             (uplo, trans, n, k, alpha, a, lda, beta, c, ldc), 1.0 * *n * (*n + 1) * *k)
STAND_BEFORE(dtrsm_,
             (const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
              const double* alpha, const double* a, const int* lda, double* b, const int* ldb),
             (side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb),
             1.0 * *m * *n * (*side == 'L' || *side == 'l' ? *m : *n))
