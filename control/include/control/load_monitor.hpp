// SPDX-License-Identifier: BSD-3-Clause
// A thread that looks twice a second at what part of a processor this process gets. No MPI.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "control/load.hpp"
#include "control/load_reader.hpp"

namespace control {

/// Of one process, as resize points hand it on: plain bytes.
struct ProcessLoad {
  std::int32_t process = -1; ///< its number in the application; -1: not known
  std::int32_t place = -1;   ///< in the grid, row-major; -1: it sleeps
  std::int32_t samples = 0;  ///< 0: nothing is known yet
  std::int32_t source = 0;   ///< LoadSource
  double share = 1;          ///< median of the last samples; the rest is of the last one, as in Load
  double latest = 1;         ///< share of the last sample
  double waited = 0, throttled = 0, stolen = 0, stopped = 0, busy = 0, competing = -1;
  std::int32_t changes = 0; ///< of the share for good, in the last 10 s
  std::int32_t unused = 0;  ///< no byte of it is undefined
  double held_s = 0;        ///< the share has been what it is for so long
  double calm_s = 0;        ///< nobody has competed for so long
  double speed = 1;         ///< that it has alone, relative
  char host[40] = "";
};

/// What becomes of the samples of one process. Pure.
class LoadJournal {
public:
  explicit LoadJournal(double now_s) : since_s_(now_s), calm_since_s_(now_s) {}
  /// @return true: the share has changed for good
  bool add(const Load& load, double now_s);
  /// Another thing is measured from here on: what the process gets, or what it would get.
  void begin_again(double now_s);
  void write(ProcessLoad& load, double now_s) const;

private:
  LoadWatch watch_;
  Load last_;
  int samples_ = 0;
  std::deque<double> changed_s_;
  double since_s_, calm_since_s_;
};

/// Sleeps but for 0.1 ms twice a second, and ends with the object. To be held by a LoadMonitor::Pointer: a fork of the
/// process has no such thread, and must not wait for it.
class LoadMonitor {
public:
  static constexpr double period_s = 0.5;
  static constexpr double wanted_s = 0.1; ///< of a processor, until a sample counts

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

  void write(ProcessLoad& load) const; ///< all but who and where it is
  /// The share has changed for good, and nobody was told yet.
  bool has_changed() const noexcept { return has_changed_.load(std::memory_order_relaxed); }
  void told() noexcept { has_changed_.store(false, std::memory_order_relaxed); }
  /// This process sleeps, and is measured by who competes; or it works again.
  void sleeps(bool does);

private:
  void run();
  void look(double late_s);

  const std::string root_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  LoadJournal journal_;
  std::atomic<bool> has_changed_{false}, sleeps_{false};
  bool did_sleep_ = false; ///< the thread's
  LoadReader reader_;
  pid_t owner_;
  std::thread thread_; ///< last: it uses all of them
};

} // namespace control
