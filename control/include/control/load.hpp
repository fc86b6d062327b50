// SPDX-License-Identifier: BSD-3-Clause
// What part of a processor this process really gets, from the texts of the kernel. Pure; control/load_reader.hpp reads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace control {

/// Texts of the kernel at one moment; what could not be read is empty.
struct LoadTexts {
  double at_s = 0; ///< base::monotonic_s
  struct Thread {
    std::string schedstat; ///< /proc/self/task/T/schedstat
    std::string stat;      ///< /proc/self/task/T/stat
  };
  std::map<int, Thread> threads;     ///< of this process, by number
  std::vector<std::string> cpu_stat; ///< cpu.stat of its control groups, version 1 or 2, itself first
  std::string stat;                  ///< /proc/stat
  std::vector<int> cpus;             ///< that it may run on; empty: all
  double quota = 0;                  ///< processors that its control group may use; 0: not limited, or not looked at
  std::vector<std::string> group;    ///< /proc/N/stat of the others in the group that has the quota
};

/// The same as numbers. Times are sums since some beginning.
struct LoadSample {
  double at_s = 0;
  struct Thread {
    double cpu_s = 0, wait_s = 0; ///< it ran; it could have run and did not
  };
  std::map<int, Thread> threads;
  int own_runnable = 0;                          ///< threads of this process that run or could
  int runnable = -1;                             ///< of the host; -1: not known
  std::vector<double> throttled_s;               ///< each control group stood still because its quota was used up
  std::int64_t busy_ticks = 0, stolen_ticks = 0; ///< of its processors; busy ones hold the stolen ones
  int cores = 0;                                 ///< that it may run on; 0: not known
  double quota = 0;                              ///< processors that its control group may use; 0: any number
  int rivals = -1; ///< others in that group that run or could; -1: no quota, or not looked at
};

LoadSample load_sample(const LoadTexts& texts);

/// Where the share comes from.
enum class LoadSource {
  schedstat = 0,  ///< time in the run queue, of every thread
  clock = 1,      ///< CPU clock over wall clock inside work that the program marks
  competitors = 2 ///< processors over those that want them: the kernel says no more, or this process sleeps
};
const char* to_string(LoadSource source); ///< "schedstat", "clock", "competitors"

/// Between two samples.
struct Load {
  double share = 1;     ///< of one processor, above 0, at most 1: what it got of the time that it wanted
  double waited = 0;    ///< part of the time it wanted that it stood in the run queue
  double throttled = 0; ///< part of the wall time that its control group stood still
  double stolen = 0;    ///< part of its processors' busy time that the host of this virtual machine took
  double stopped = 0;   ///< part of the wall time that it was stopped (SIGSTOP), as far as it was seen
  double busy = 0;      ///< processors it used: CPU time over wall time
  double competing = 0; ///< processes of this host that wanted a processor beside it; -1: not known
  bool is_calm = true;  ///< nobody takes anything from it; of one that sleeps: nobody would
  LoadSource source = LoadSource::schedstat;
};

/// Marked work between two samples: what the thread that worked ran for, and how long it took.
struct MarkedWork {
  double cpu_s = 0, wall_s = 0;
};

/// - schedstat: s = CPU / (CPU + wait) over all threads. Linux counts time without quota as waiting; where it does not,
/// the
///   throttled part of the wall time bounds s, but never below CPU over wall of the busiest thread, which it had. Who
///   pauses, waiting for slower ones, uses less than its group's quota and is not throttled: s is at most what it would
///   get of the quota, beside those who compete for it, if it never paused.
/// - clock: CPU over wall of the marked work, at least a millisecond of it.
/// - competitors: cores / (competing + own), at most 1; of a control group with a quota, quota / (rivals + 1). Also
///   where a process slept for 98 % of the time, whatever is asked for: its own times then say nothing.
/// All of it times 1 - stolen. Blocking does not count; a wait that spins is work, as it is for the kernel.
/// @param stopped_s  that the process was stopped, and could not have run: counts as waiting.
Load judge_load(const LoadSample& before, const LoadSample& after, LoadSource source = LoadSource::schedstat,
                const MarkedWork& work = {}, double stopped_s = 0);

/// Says when a share has changed for good: `needed` of the last `of` samples differ from the share at the last balance
/// by more than `least`, all up or all down.
class LoadWatch {
public:
  explicit LoadWatch(double least = 0.1, int needed = 3, int of = 5) : least_(least), needed_(needed), of_(of) {}
  bool add(double share); ///< true: changed. The first one is what others are compared with
  double share() const;   ///< median of the last ones, twice as many, since it changed; 1 without any
  void settle();          ///< a balance was made: compare with share() from here on

private:
  double least_;
  int needed_, of_;
  std::deque<double> last_;
  double reference_ = -1;
};

} // namespace control
