// SPDX-License-Identifier: BSD-3-Clause
// Threads beside those of the application.
#pragma once

#include <thread>
#include <utility>

#include <signal.h> // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX

namespace base {

/// While it lives this thread gets no signal. A thread inherits what its maker blocks.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

/// A thread that gets none of the process's signals: they are for the application's own threads, and MPI's.
/// @throws std::system_error
template <class Body> std::thread thread_without_signals(Body&& body) {
  const SignalsBlocked blocked;
  return std::thread(std::forward<Body>(body));
}

} // namespace base
