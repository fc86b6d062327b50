// SPDX-License-Identifier: BSD-3-Clause
// What is known of calls by the processes of one context, and the options that it leaves for the next one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "advise/calls.hpp"
#include "advise/machine.hpp"
#include "calls/call_decider.hpp"
#include "control/call_report.hpp"

namespace calls {

using advise::CallPlace;
using advise::CallRule;
using blacs_dyn::calls::CallAgreement;
using blacs_dyn::calls::CallHost;
using blacs_dyn::calls::CallInHand;
using blacs_dyn::calls::CallProblem;

/// Of libdyngrid.so.
CallHost& host();

/// Calls under Mode::report that differ in nothing but their data.
struct ReportedCalls {
  advise::CallTally* row = nullptr; ///< of the statistics
  advise::CallGain gain;
  std::int64_t calls = 0, reported = 0; ///< all of them; those with a known gain
  double reported_s = 0;
  CallPlace best{};           ///< that the statistics have; nb 0: none
  double undecided_s = 0;     ///< of those since the last that all agreed on
  bool is_settled = false;    ///< no later one is agreed on
  bool is_left_alone = false; ///< by other processes than the first that called
};

/// Of the processes of a context. Each of them has the same, as all come to the same calls.
struct Known {
  advise::CallSpeeds speeds;
  advise::UsualTime copy_factors{advise::CallChoiceRules().kept};   ///< measured over predicted seconds of copies
  std::int64_t forced = 0;                                          ///< calls moved by Mode::forced
  std::map<std::pair<std::string, int>, advise::CallsSoFar> so_far; ///< by routine and aspect
  std::optional<advise::Machine> machine;                           ///< measured before copies are predicted
  std::map<std::pair<std::int64_t, CallPlace>, double> copies_s;    ///< predicted, by a call's hash
  std::unordered_map<std::int64_t, ReportedCalls> reported;         ///< by hash

  /// What the last call took on this process; all processes together know it with the next one.
  struct Last {
    advise::CallSample sample; ///< count 0: there was none
    double copy_s = 0, predicted_copy_s = 0;
  };
  Last last;

  double copy_factor() const { return copy_factors.count() > 0 ? copy_factors.quartile_s() : 1; }
  void keep(CallInHand& call, const CallPlace& place, double run_s, double copy_s, double predicted_copy_s);
  /// Whether all make the same call; what the last one took becomes known. Collective over the context.
  /// @param undecided_s  of calls that nothing was agreed on; becomes what it was for the slowest process
  CallAgreement agree(CallInHand& call, const CallRule& rule, double* undecided_s = nullptr);
  advise::CallsSoFar& so_far_of(CallInHand& call) { return so_far[{call.routine(), call.problem().aspect}]; }
  /// The first of them is to stay. Places are measured before where that is worth it. Collective over the context.
  std::vector<advise::CallOption> options_for(CallInHand& call);

private:
  void measure_places(CallInHand& call, const std::vector<CallPlace>& places);
  /// Collective over the context the first time.
  double copies_of(const CallInHand& call, const CallPlace& place);
};
/// Of the call's processes. Local.
Known& known_of(const CallInHand& call);

} // namespace calls
