// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "base/json_fwd.hpp"
#include "gridmap/balance.hpp"

namespace control {

using base::Json;
struct BalanceOutcome;

/// One decision about loaded processes: what was foreseen, and what it was. Seconds of a step are medians.
struct BalanceReport {
  std::int64_t number = 0; ///< of those of one run, from 1; 0: there is none
  gridmap::BalanceAction action = gridmap::BalanceAction::stay;
  bool is_done = false; ///< it was carried out
  gridmap::GridShape from, to;
  int leaves = 0, comes = 0;                          ///< processes
  double before_s = 0, after_s = 0, change_s = 0;     ///< predicted: a step now and then, the change
  double measured_before_s = 0, measured_after_s = 0; ///< a step; 0: not known
  double measured_change_s = 0;                       ///< 0: not done
  int measured_steps = 0;                             ///< after it; 0: not judged yet
  std::int64_t moved_elements = 0, payoff_steps = -1; ///< -1: nothing is to be done
  double steps = 0;                                   ///< that were counted on
  std::string why;                                    ///< one line

  BalanceReport() = default;
  /// What was decided and is not done yet.
  BalanceReport(const gridmap::Balance& balance, double step_s, std::int64_t number_);
  void done(double took_s) {
    is_done = true;
    measured_change_s = took_s;
  }
  void judged(const BalanceOutcome& outcome);
};

/// For the history and for people; the report again, what is missing as it is in an empty one.
/// @throws std::exception for what is no report
Json members_of(const BalanceReport& report);
BalanceReport balance_report_from(const Json& json);

} // namespace control
