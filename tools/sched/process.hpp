// SPDX-License-Identifier: BSD-3-Clause
// A job's processes, from the operating system's view.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/status.hpp"

namespace sched {

/// The machine has no space now, on a disk or for a process: nothing was done, and the same may work later.
class NoRoom : public base::Error {
public:
  explicit NoRoom(const std::string& text) : Error(base::Status::io_failure, text) {}
};

using Fd = base::FileDescriptor;

/// The start time of a process, in clock ticks since the machine's start. 0 when there is none, or it has ended and is
/// not yet collected. With the process number and boot_id() it identifies a process for ever. Empty when it is unknown:
/// /proc cannot be read, or no descriptor is left for it.
std::optional<std::int64_t> start_time_of(std::int64_t pid);
/// Whether this process runs. `started`: of start_time_of(); 0: unknown.
bool is_running(std::int64_t pid, std::int64_t started); ///< certainly: it may be signalled
bool may_run(std::int64_t pid, std::int64_t started);    ///< also when it is unknown: its processors are not given away
std::string boot_id();

/// The leader of a job, made and waiting: it begins with go(). It never begins when this object, or this whole process,
/// ends before. It leads a session of its own, so that nothing that happens to the scheduler reaches it.
class Leader {
public:
  /// Runs `command` in `folder`, its output to <file>.out and <file>.err. <file>.began is made when it begins;
  /// <file>.status, with the shell's exit status, when it has ended.
  /// @throws base::Error{io_failure}, NoRoom
  Leader(const std::string& file, const std::string& folder, const std::vector<std::string>& command,
         const std::vector<std::string>& variables);
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  ~Leader();
  std::int64_t pid() const { return pid_; }
  std::int64_t started() const { return started_; } ///< as start_time_of()
  void go();

private:
  std::int64_t pid_ = -1, started_ = 0;
  Fd gate_;
};

/// Sends a signal to every process of a session, including those in groups of their own. Repeats until no new one is
/// found. `variable`: only to processes with this NAME=value in their environment, for a leader that has ended, since
/// process numbers are reused; empty: to all.
/// @return whether there was one.
bool signal_session(std::int64_t leader, int number, const std::string& variable = {});

/// Whether a process is in that session, or was started with this NAME=value. True when /proc does not show it.
bool may_belong_to(std::int64_t pid, std::int64_t leader, const std::string& variable);

/// Readable when the process has ended. Empty when it is gone, or pidfd_open does not work: then call may_run() from
/// time to time.
Fd watch_process(std::int64_t pid, std::int64_t started);
/// Collects it when it is a child that has ended: its exit status, as a shell gives it.
std::optional<int> reap(std::int64_t pid);

} // namespace sched
