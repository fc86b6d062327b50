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

/// How many cores this host's processes may use: DYNGRID_DECIDE=cores=N; else those that the launcher (the parent,
/// which no MPI binds to a core of its own) may run on, and no more than the control group's quota allows (cpu.max,
/// cpu.cfs_quota_us; rounded up). `root`: before /proc and /sys, for tests.
int usable_cores(const std::string& root = "");

/// Limits on the processes and threads of this user or this container: pids.max of every control group upwards,
/// RLIMIT_NPROC (not of root, whom the kernel does not hold to it), kernel.pid_max. Those without a limit are left out.
std::vector<Limit> thread_limits(const std::string& root = "");

/// Memory that may still be had, and whose figure that is.
struct FreeMemory {
  std::string of;          ///< "MemAvailable", or the file of a control group
  std::int64_t bytes = -1; ///< -1: not known
};

/// The least of MemAvailable and of what each control group leaves beside anonymous and shared memory: the kernel gives
/// up the rest first. What a virtual machine has lent to its host (Balloon) counts where it comes back on demand.
FreeMemory free_memory(const std::string& root = "");

/// The same, looked at again for a second while it is less than `needed`: memory of a virtual machine comes and goes.
FreeMemory free_memory_soon(std::int64_t needed, const std::string& root = "");

/// Open files of a process; `most` is 0 when it cannot be looked at.
Limit open_files(int pid, const std::string& root = "");

/// Threads of this process, and the memory that it shares with nobody.
int own_threads(const std::string& root = "");
std::int64_t own_bytes(const std::string& root = "");

} // namespace control
