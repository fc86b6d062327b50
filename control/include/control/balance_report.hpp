// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/balance_memory.hpp"
#include "base/json_fwd.hpp"

namespace control {

using base::Json;

/// One decision about loaded processes: the predicted and the measured times. Seconds of a step are medians.
struct BalanceReport {
  std::int64_t number = 0; ///< of the decisions of one run, from 1; 0: there is none
  advise::BalanceAction action = advise::BalanceAction::stay;
  bool is_done = false; ///< it was carried out
  base::GridShape from, to;
  int leaves = 0, comes = 0;                          ///< processes
  double before_s = 0, after_s = 0, change_s = 0;     ///< predicted: a step before and after, the change
  double measured_before_s = 0, measured_after_s = 0; ///< a step; 0: not known
  double measured_change_s = 0;                       ///< 0: not done
  int measured_steps = 0;                             ///< measured after it; 0: not judged yet
  std::int64_t moved_elements = 0, payoff_steps = -1; ///< -1: there is nothing to do
  double steps = 0;                                   ///< that the decision assumed to be left
  std::string why;                                    ///< one line

  BalanceReport() = default;
  /// A decision that is not carried out yet.
  BalanceReport(const advise::Balance& balance, double step_s, std::int64_t number_);
  void done(double took_s) {
    is_done = true;
    measured_change_s = took_s;
  }
  void judged(const advise::BalanceOutcome& outcome);
};

/// For the history and for people, and back into a report. A missing member has its value of an empty report.
/// @throws std::exception for what is no report
Json members_of(const BalanceReport& report);
BalanceReport balance_report_from(const Json& json);

Json to_json(const advise::ProcessLoad& load);
Json to_json(const advise::Cost& cost); ///< seconds, by the names of its terms
/// A decision for people and programs; processes by their ids.
Json to_json(const advise::Balance& balance, const std::vector<int>& ids);
Json to_json(const advise::BalanceOutcome& outcome);

} // namespace control
