// SPDX-License-Identifier: BSD-3-Clause
// Times of calls of ScaLAPACK's routines (DYNGRID_CALLS): as process 0 counts, reports and stores them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "advise/calls.hpp"
#include "control/protocol.hpp"

namespace control {

/// Of one run.
struct CallReport {
  std::string job;                      ///< its name while it ran; empty for a running job
  std::int64_t when = 0;                ///< when it ended, seconds since 1970
  bool is_on = false;                   ///< calls are examined
  bool is_report = false;               ///< nothing is moved: only the gain of another place is reported
  std::vector<advise::CallTally> calls; ///< those with the longest times first
  std::int64_t left_out = 0;            ///< routines and sizes beyond these
  std::int64_t other_contexts = 0;      ///< in other contexts than those of the first callers: not changed
  std::int64_t without_memory = 0;      ///< calls without memory for a copy
  std::int64_t measured = 0;            ///< places of routines that were measured in this run
};

/// A table for people; empty where there were no calls.
std::string describe(const CallReport& report);
/// With at most `most` routines and sizes, those with the longest times.
Json members_of(const CallReport& report, std::size_t most);
/// @throws what a Json throws where a member is missing or of another kind
CallReport call_report_from(const Json& json);

/// Between the application's thread, which counts, and the thread that answers.
class CallsBoard {
public:
  void begin(bool is_report);
  /// One call.
  void add(const advise::CallTally& call);
  /// The row of all calls of that routine and size, for callers that count many calls. Its address does not change.
  advise::CallTally& row(const std::string& routine, const std::string& size);
  /// One call that stayed in its place. `other_s`, `known`: what has been learned since about all calls of the row.
  void add_to(advise::CallTally& row, double seconds, double other_s, std::int64_t known);
  void best_is(advise::CallTally& row, const std::string& place);
  void left_alone();
  void had_no_memory();
  void measured_place();
  CallReport report() const;

private:
  mutable std::mutex mutex_;
  CallReport counts_; ///< without the calls
  std::map<std::pair<std::string, std::string>, advise::CallTally> calls_;
};

} // namespace control
