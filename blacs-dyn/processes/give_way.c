// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-yield.so: MPICH over UCX (ch4:ucx) waits by polling and never gives its core away, whatever
// MPIR_CVAR_POLLS_BEFORE_YIELD says. With more processes than cores a process then waits for the end of its partner's
// time slice, at every message: an MPI_Allreduce of 16 processes on 2 cores takes 81 ms. This library, preloaded
// (`dyngrid run` does it where it helps), stands between MPICH and UCX's progress call and gives the core away: 0.1 ms.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

enum {
  polls_before_yield = 20, // on a free core what comes comes within a few polls
  polls_before_sleep =
      2000 // sched_yield alone keeps every waiting process runnable, and lets two of them pass the core to each other
};

typedef unsigned progress(void* worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static progress* next = NULL;
  static __thread unsigned idle = 0;
  progress* call = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (call == NULL) {
    *(void**)&call = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (call == NULL) return 0; // loaded by dlopen(RTLD_LOCAL): it cannot have been called
    __atomic_store_n(&next, call, __ATOMIC_RELAXED);
  }
  const unsigned done = call(worker);
  if (done != 0) {
    idle = 0;
    return done;
  }
  if (++idle < polls_before_yield) return 0;
  if (idle < polls_before_sleep) {
    sched_yield();
  } else {
    const struct timespec moment = {0, 1000}; // with the kernel's slack some 50 us
    nanosleep(&moment, NULL);
  }
  return 0;
}
