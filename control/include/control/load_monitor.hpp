// SPDX-License-Identifier: BSD-3-Clause
// A thread that samples every 0.4 s the share of a processor that this process gets. No MPI.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "advise/process_load.hpp"
#include "advise/rules.hpp"
#include "control/load.hpp"
#include "control/load_reader.hpp"

namespace control {

/// Speeds by marked work, where every process of the grid has marked some: 1 is the mean of the grid. A process without
/// any counts as those of its host, else as 1. Pure.
/// @return whether they are known; else nothing is changed
bool take_marked_speeds(std::vector<advise::ProcessLoad>& loads);

/// Work done in a second of the processor: the best of the last five pieces of at least 10 ms. A-MPI 4.2 likewise takes
/// the least of five times as the cost of a loop alone. Pure.
class MarkedRate {
public:
  void add(double cpu_s, double units);
  double value() const; ///< 0: not known

private:
  double cpu_s_ = 0, units_ = 0;
  std::deque<double> last_;
};

/// Evaluates the samples of one process. One with a stop (SIGSTOP) counts where another stop is among the last
/// advise::LoadRules().of before it. Pure.
class LoadJournal {
public:
  explicit LoadJournal(double now_s) : since_s_(now_s), calm_since_s_(now_s) {}
  /// @return true: the share has changed for good
  bool add(const Load& load, double now_s);
  /// The measured quantity changes from here on: the share that the process gets, or the one it would get.
  void begin_again(double now_s) { *this = LoadJournal(now_s); }
  void write(advise::LoadFigures& load, double now_s) const;

private:
  LoadWatch watch_;
  Load last_;
  int samples_ = 0;
  int since_stop_ = advise::LoadRules().of; ///< samples
  double since_s_, calm_since_s_;
};

/// Sleeps except for 0.3 ms every 0.4 s, and ends with the object. Hold it in a LoadMonitor::Pointer: a fork of the
/// process has no such thread, and must not wait for it.
class LoadMonitor {
public:
  static constexpr double period_s = advise::LoadRules().period_s;
  static constexpr double wanted_s = advise::LoadRules().wanted_s;

  /// @param root  before /proc and /sys, for tests
  /// @throws base::Error{io_failure} when no thread can be started
  explicit LoadMonitor(std::string root = "");
  struct Ended {
    void operator()(LoadMonitor* monitor) const;
  };
  using Pointer = std::unique_ptr<LoadMonitor, Ended>;
  ~LoadMonitor();
  LoadMonitor(const LoadMonitor&) = delete;
  LoadMonitor& operator=(const LoadMonitor&) = delete;

  void write(advise::LoadFigures& load) const; ///< all but the number and place of the process
  /// The share has changed for good, and the change has not been reported yet.
  bool has_changed() const noexcept { return has_changed_.load(std::memory_order_relaxed); }
  void was_sent() noexcept { has_changed_.store(false, std::memory_order_relaxed); }
  /// This process sleeps, and is measured by its competitors; or it works again.
  void sleeps(bool does) { sleeps_.store(does, std::memory_order_relaxed); }
  /// Marked work: its thread's CPU time, its wall time, and its amount.
  void work(double cpu_s, double wall_s, double units);

private:
  void run();
  void look(double late_s);

  const std::string root_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  LoadJournal journal_;
  MarkedRate rate_;
  double stopped_s_ = 0;                                   ///< in all
  double due_s_ = std::numeric_limits<double>::infinity(); ///< when the thread takes the next sample, by
                                                           ///< base::monotonic_s
  std::atomic<bool> has_changed_{false}, sleeps_{false};
  bool did_sleep_ = false; ///< the thread's
  LoadReader reader_;
  pid_t owner_;
  std::thread thread_; ///< last member: the thread uses all of them
};

} // namespace control
