// SPDX-License-Identifier: BSD-3-Clause
// What the operating system lets the processes of this host have. No MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace control {

/// So many there may be, and so many there are.
struct Limit {
  std::string name; ///< as an administrator calls it
  std::int64_t most = 0, used = 0;
};

/// How many cores this host's processes may use: DYNGRID_CORES; else those that the launcher (the parent, which no MPI
/// binds to a core of its own) may run on, and no more than the control group's quota allows (cpu.max,
/// cpu.cfs_quota_us; rounded up). `root`: before /proc and /sys, for tests.
int usable_cores(const std::string& root = "");

/// Limits on the processes and threads of this user or this container: pids.max of every control group upwards,
/// RLIMIT_NPROC (not of root, whom the kernel does not hold to it), kernel.pid_max. Those without a limit are left out.
std::vector<Limit> thread_limits(const std::string& root = "");

/// Bytes that may still be had: MemAvailable, or what the control groups leave of theirs where that is less; -1: not
/// known.
std::int64_t available_bytes(const std::string& root = "");

/// Open files of a process; `most` is 0 when it cannot be looked at.
Limit open_files(int pid, const std::string& root = "");

/// Threads of this process, and the memory that it shares with nobody.
int own_threads(const std::string& root = "");
std::int64_t own_bytes(const std::string& root = "");

} // namespace control
