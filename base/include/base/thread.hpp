// SPDX-License-Identifier: BSD-3-Clause
// Threads beside those of the application.
#pragma once

#include <thread>
#include <utility>

#include <signal.h> // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX

namespace base {

/// A thread that gets none of the process's signals: they are for the application's own threads, and MPI's.
/// @throws std::system_error
template <class Body> std::thread thread_without_signals(Body&& body) {
  struct Blocked { // a thread inherits what its maker blocks
    sigset_t before;
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } const blocked;
  return std::thread(std::forward<Body>(body));
}

} // namespace base
