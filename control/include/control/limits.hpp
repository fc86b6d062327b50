// SPDX-License-Identifier: BSD-3-Clause
// The limits of the operating system for the processes of this host. No MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace control {

/// The permitted number, and the present number.
struct Limit {
  std::string name; ///< in an administrator's terms
  std::int64_t most = 0, used = 0;
};

/// Whose affinity mask counts.
enum class CoresOf {
  launcher, ///< the parent's: MPI binds a process of the application to a core of its own, and never its launcher
  caller
};

/// Cores of the affinity mask.
int cores_of_mask(CoresOf whose);
/// The same, at most the control group's quota (cpu.max, cpu.cfs_quota_us; rounded up). `root`: before /proc and /sys,
/// for tests.
int allowed_cores(CoresOf whose, const std::string& root = "");
/// How many cores this host's processes may use: DYNGRID_DECIDE=cores=N if set, else the allowed ones.
int usable_cores(CoresOf whose = CoresOf::launcher, const std::string& root = "");

/// Limits on the processes and threads of this user or this container: pids.max of every control group upwards,
/// RLIMIT_NPROC, kernel.pid_max. RLIMIT_NPROC is left out for root, to which the kernel does not apply it. Those
/// without a limit are left out.
std::vector<Limit> thread_limits(const std::string& root = "");

/// Open files of a process; `most` is 0 when it cannot be read.
Limit open_files(int pid);

/// Processes on this host that `pid` started and that live; 0 when they cannot be read.
std::int64_t children_of(int pid);

/// Threads of this process, and its private memory.
int own_threads();
std::int64_t own_bytes();

} // namespace control
