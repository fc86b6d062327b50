// SPDX-License-Identifier: BSD-3-Clause
// The answers that mpirun still owes this process.
#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace blacs_dyn::pmix {

/// Keeps apart answers that mpirun must not give at the same time. Its main thread answers questions, and the look-ups
/// of MPI while processes connect. The thread of PMIx answers all else. Both put the answer on the list of messages to
/// this process, and no lock guards the list (PMIx 4.2.2 to 5.0.7). An answer is lost then, or mpirun ends:
/// "pthread_mutex_lock.c:94: Assertion `mutex->__data.__owner == 0' failed". With 12 groups asked about at once 1 of 6
/// runs of 25 s ended like this.
class Answers {
public:
  using Clock = std::chrono::steady_clock;
  enum Kind { question, order, start }; ///< a start takes longest, and others start meanwhile

  /// Longer than `longest` none is waited for: mpirun does not answer each start.
  explicit Answers(Clock::duration longest = std::chrono::seconds(5)) : longest_(longest) {}

  /// Whether a question may be asked now: no other answer is open. Returns at once: the application would stand still
  /// while mpirun is busy. The first `asker` that is refused has the next turn, for `longest` at most: it may be gone.
  bool may_ask(const void* asker);
  /// Before something else is asked than a question, by MPI too: returns when no question and no order is open.
  void settle();

  void expect(Kind kind);
  void have_come(Kind kind); ///< any thread

private:
  bool is_open(Kind kind) const { return open_[kind].count > 0 && Clock::now() - open_[kind].since < longest_; }

  struct Open {
    int count = 0;
    Clock::time_point since{}; ///< of the last one
  };
  const Clock::duration longest_;
  std::mutex mutex_;
  std::condition_variable has_come_;
  std::array<Open, 3> open_{};
  const void* next_ = nullptr; ///< the asker that has the next turn
  Clock::time_point put_off_{};
};

} // namespace blacs_dyn::pmix
