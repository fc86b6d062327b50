/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a test: fdatasync fails while the file exists that FAIL_SYNC names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int fd) {
  const char* flag = getenv("FAIL_SYNC");
  if (flag && access(flag, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int (*real)(int);
  *(void**)&real = dlsym(RTLD_NEXT, "fdatasync");
  return real(fd);
}
