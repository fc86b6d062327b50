// SPDX-License-Identifier: BSD-3-Clause
// The times of an application's steps and grid changes, in this run and in earlier ones. No MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "advise/cost.hpp"
#include "advise/machine.hpp"
#include "control/balance_report.hpp"
#include "control/call_report.hpp"
#include "control/phase_times.hpp"

namespace control {

using advise::ChangeCost;
using advise::predict_step;
using advise::Prediction;
using advise::StepTimes;
using advise::sweet_spot;

/// Which runs may be compared: the same program on the same problem on the same kind of machine.
struct HistoryKey {
  std::string app, size, machine;
  bool operator<(const HistoryKey& o) const {
    return std::tie(app, size, machine) < std::tie(o.app, o.size, o.machine);
  }
};

/// Model name of the processor and the number of cores: what makes step times comparable. Local.
std::string machine_name();

/// Of all changes of a run, including those without an entry of their own.
struct ChangeTotals {
  std::int64_t count = 0, moved_bytes = 0;
  double spawn_s = 0, merge_s = 0, plan_s = 0, exchange_s = 0;
  void add(const ChangeCost& cost) {
    ++count;
    moved_bytes += cost.moved_bytes;
    spawn_s += cost.spawn_s;
    merge_s += cost.merge_s;
    plan_s += cost.plan_s;
    exchange_s += cost.exchange_s;
  }
};

struct History {
  advise::StepTable steps;
  std::vector<ChangeCost> changes; ///< oldest first, at most 200 of a file, 400 of a running job
  std::vector<ChangeCost>
      spawns; ///< growths of any application on this machine, as many as changes: the time to start processes
  std::vector<BalanceReport> balances; ///< that were carried out, oldest first, as many as changes
  ChangeTotals totals;                 ///< of a running job; its earlier runs are not in it
  std::vector<CallReport> calls;       ///< of runs that examined calls, oldest first, at most 5
  PhaseTimes phases;                   ///< and moves between their layouts, at most most_phase_times
  /// The times of messages and copies when last measured on this machine, by any program. Empty: never.
  std::optional<advise::Machine> machine;
};

/// What a run adds to the file.
struct HistoryEntries {
  advise::StepTable steps;
  std::vector<ChangeCost> changes{};
  std::vector<BalanceReport> balances{};
  PhaseTimes phases{};
};

/// The size in the key of a run's calls: they have a key of their own.
constexpr const char* calls_size = "calls";

/// Steps of earlier runs count for at most this many new ones.
constexpr std::int64_t remembered_steps = 200;

// ---- the file

/// $XDG_STATE_HOME/dyngrid/history.jsonl, else ~/.local/state/dyngrid/history.jsonl. A path in DYNGRID_HISTORY has
/// priority. Empty: no file (neither is set, or DYNGRID_HISTORY=off).
std::string history_file();

/// All entries of `key`. An absent file and unreadable lines count as empty.
History read_history(const std::string& file, const HistoryKey& key);
/// The times of messages and copies on this machine, from history_file(); the default figures where nothing was
/// measured.
advise::Machine known_machine();
/// Every key in the file.
std::vector<std::pair<HistoryKey, History>> read_all_history(const std::string& file);

/// Adds new entries to the file; other jobs may do the same at the same time. The folder is made. A file beyond 512 KiB
/// is rewritten: one line per grid, the 1000 keys used last. Cost: one write, under a lock waited for at most `wait_s`.
/// @return false when it could not be done now (the lock, the disk): keep the entries and try later.
bool append_history(const std::string& file, const HistoryKey& key, const HistoryEntries& entries, double wait_s = 0.2);

/// The same for the times of messages and copies.
bool append_machine(const std::string& file, const HistoryKey& key, const advise::Machine& figures,
                    double wait_s = 0.2);

/// The same for the times of a run's calls; the longest ones.
bool append_calls(const std::string& file, const HistoryKey& key, const CallReport& report, double wait_s = 0.2);

} // namespace control
