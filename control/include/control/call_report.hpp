// SPDX-License-Identifier: BSD-3-Clause
// What calls of ScaLAPACK's routines took (DYNGRID_CALLS): as process 0 counts it, answers it, and keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "control/protocol.hpp"
#include "gridmap/calls.hpp"

namespace control {

/// Of one run.
struct CallReport {
  std::string job;                       ///< its name while it ran; of one that runs: empty
  std::int64_t when = 0;                 ///< it ended, seconds since 1970
  bool is_on = false;                    ///< calls are looked at
  bool is_report = false;                ///< nothing at all is moved: what another place would bring is told
  std::vector<gridmap::CallTally> calls; ///< those that took longest first
  std::int64_t left_out = 0;             ///< routines and sizes beyond these
  std::int64_t other_contexts = 0;       ///< calls by other processes than the first that called: left alone
  std::int64_t without_memory = 0;       ///< calls without memory for a copy
  std::int64_t measured = 0;             ///< places of routines that were measured in this run
};

/// A table for people; empty where there were no calls.
std::string describe(const CallReport& report);
/// With `most` routines and sizes, those that took longest.
Json members_of(const CallReport& report, std::size_t most);
/// @throws what a Json throws where a member is missing or of another kind
CallReport call_report_from(const Json& json);

/// Between the application's thread, which counts, and the one that answers.
class CallsBoard {
public:
  void begin(bool is_report);
  /// One call.
  void add(const gridmap::CallTally& call);
  /// The row of all calls of that routine and size, for those who count many: it stays where it is.
  gridmap::CallTally& row(const std::string& routine, const std::string& size);
  /// One call that stayed. `other_s`, `known`: by how much more is known of all calls of the row.
  void add_to(gridmap::CallTally& row, double seconds, double other_s, std::int64_t known);
  void best_is(gridmap::CallTally& row, const std::string& place);
  void left_alone();
  void had_no_memory();
  void measured_place();
  CallReport report() const;

private:
  mutable std::mutex mutex_;
  CallReport counts_; ///< but for the calls
  std::map<std::pair<std::string, std::string>, gridmap::CallTally> calls_;
};

} // namespace control
