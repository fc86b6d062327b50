// SPDX-License-Identifier: BSD-3-Clause
// The share of a processor that this process gets, from texts of the kernel. Pure; control/load_reader.hpp reads them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace control {

/// Texts of the kernel at one moment; an unreadable one is empty.
struct LoadTexts {
  double at_s = 0; ///< base::monotonic_s
  struct Thread {
    std::string schedstat; ///< /proc/self/task/T/schedstat
    std::string stat;      ///< /proc/self/task/T/stat
  };
  std::map<int, Thread> threads;     ///< of this process, by number
  std::vector<std::string> cpu_stat; ///< cpu.stat of its control groups, version 1 or 2, itself first
  std::string stat;                  ///< /proc/stat
  std::vector<int> cpus;             ///< of its affinity mask; empty: all
  double quota = 0;                  ///< processors that its control group may use; 0: not limited, or not looked at
  std::vector<std::string> group;    ///< /proc/N/stat of the others in the group that has the quota
};

/// The same as numbers. Times are sums since an arbitrary beginning.
struct LoadSample {
  double at_s = 0;
  struct Thread {
    double cpu_s = 0, wait_s = 0; ///< it ran; it was runnable and did not run
  };
  std::map<int, Thread> threads;
  int own_runnable = 0;                          ///< threads of this process that are running or runnable
  int runnable = -1;                             ///< of the host; -1: not known
  std::vector<double> throttled_s;               ///< each control group was stopped because its quota was used up
  std::int64_t busy_ticks = 0, stolen_ticks = 0; ///< of its processors; busy ones include the stolen ones
  int cores = 0;                                 ///< of its affinity mask; 0: not known
  double quota = 0;                              ///< processors that its control group may use; 0: any number
  int rivals = -1; ///< others in that group that are running or runnable; -1: no quota, or not read
};

LoadSample load_sample(const LoadTexts& texts);

/// The source of the share.
enum class LoadSource {
  schedstat = 0,  ///< time in the run queue, of every thread
  clock = 1,      ///< CPU clock over wall clock inside work that the program marks
  competitors = 2 ///< processors over the processes that compete for them: the kernel reports no more, or this process
                  ///< sleeps
};
const char* to_string(LoadSource source); ///< "schedstat", "clock", "competitors"

/// Between two samples.
struct Load {
  double share = 1;     ///< of one processor, least_share .. 1: of the time that it requested, the part that it got
  double waited = 0;    ///< part of the requested time in the run queue
  double throttled = 0; ///< part of the wall time in which its control group was stopped
  double stolen = 0;    ///< part of its processors' busy time that the host of this virtual machine took
  double stopped = 0;   ///< part of the wall time that it was stopped (SIGSTOP), as far as detected
  double busy = 0;      ///< processors it used: CPU time over wall time
  double competing = 0; ///< processes of this host that competed with it for a processor; -1: not known
  bool is_calm = true;  ///< no process takes anything from it; of a sleeping one: none would
  LoadSource source = LoadSource::schedstat;
};

/// Marked work between two samples: the working thread's CPU time and wall time.
struct MarkedWork {
  double cpu_s = 0, wall_s = 0;
};

/// The share s depends on the source:
/// - schedstat: s = CPU / (CPU + wait) over all threads. Linux counts time without quota as waiting. Where it does not,
///   the throttled part of the wall time bounds s, but never below CPU over wall of the busiest thread, which it had. A
///   process that pauses for slower ones uses less than its group's quota and is not throttled. So s is at most its
///   part of the quota, beside its competitors, without pauses.
/// - clock: CPU over wall of the marked work, at least a millisecond of it.
/// - competitors: cores / (competing + own), at most 1; of a control group with a quota, quota / (rivals + 1). Also
///   where a process slept for 98 % of the time, whatever source is requested: its own times then have no meaning.
/// The result is multiplied by 1 - stolen. Blocking does not count; a wait that spins is work, as it is for the kernel.
/// @param stopped_s that the process was stopped, and could not have run: counts as waiting.
Load judge_load(const LoadSample& before, const LoadSample& after, LoadSource source = LoadSource::schedstat,
                const MarkedWork& work = {}, double stopped_s = 0);

/// Detects a lasting change of a share. With advise::LoadRules: `needed` of the last `of` samples differ from the share
/// at the last balance by more than `changed`, all up or all down.
class LoadWatch {
public:
  bool add(double share); ///< true: changed. The first one is the reference
  double share() const;   ///< median of the last 2 * `of` samples since it changed; 1 without any
  void settle();          ///< a balance was made: share() is the new reference

private:
  std::deque<double> last_;
  double reference_ = -1;
};

} // namespace control
