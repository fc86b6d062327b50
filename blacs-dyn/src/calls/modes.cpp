// SPDX-License-Identifier: BSD-3-Clause
// What happens at a call under each mode of DYNGRID_CALLS.
#include "calls/call.hpp"

#include <cmath>

#include <fmt/format.h>

#include "calls/account.hpp"
#include "stock_blacs.hpp"

namespace blacs_dyn::calls {
namespace {

// ---- where a call runs, by mode; the same on all processes

/// automatic: where it is expected to end first. Collective.
Decision where_best(const Call& call) {
  const gridmap::CallVerdict verdict = gridmap::decide_call(options_for(call));
  const std::string told = fmt::format("{} of {} on {} {}", call.name, call.size, to_string(call.place()),
                                       verdict.is_moved() ? to_string(verdict.best) : "stays");
  if (is_verbose()) say_once(told, fmt::format("{} of {} {}", call.name, call.size, to_string(verdict)));
  return {verdict.is_moved(), verdict.best, verdict.stay_s, verdict.copy_s / call.callers->copy_factor()};
}

/// fixed: where it was asked to run, if there are enough processes.
Decision where_asked(const Call& call, const CallPlace& asked) {
  Decision decision;
  decision.place = {asked.grid.size() == 0 ? call.here.grid : asked.grid, asked.nb == 0 ? call.nb : asked.nb};
  decision.is_moved = !(decision.place == call.place());
  if (decision.place.grid.size() > call.callers->size) {
    say_once(call.name + " too large",
             fmt::format("{} is sent to a grid of {}, but its caller has {} processes: it stays where it is", call.name,
                         to_string(decision.place.grid), call.callers->size));
    decision.is_moved = false;
  }
  return decision;
}

Decision where(const Call& call, const CallRule& rule) {
  switch (rule.mode) {
  case CallMode::automatic:
    return where_best(call);
  case CallMode::fixed:
    return where_asked(call, rule.place);
  case CallMode::forced:
    return {true, gridmap::forced_place(call.here.grid, call.nb, call.callers->forced++)};
  case CallMode::report: // has a way of its own
  case CallMode::direct:
    break;
  }
  return {};
}

// ---- report: a call stays, and what another place would bring is told

/// True when all agree that it is to be looked at. Collective.
bool look_at_reported(Call& call, const CallRule& rule, ReportedCalls& like) {
  look_closer(call);
  like.row = &counts().row(call.name, call.size);
  const Agreement agreed = agree_on_call(call, rule, &like.unsaid_s);
  const bool holds = agreed.holds();
  like.is_left_alone = holds && !agreed.is_first;
  if (holds && agreed.is_first) {
    call.so_far().spent_s += like.unsaid_s;
    like.gain.look_at(options_for(call));
  }
  like.unsaid_s = 0;
  like.is_settled = !holds || !agreed.is_first || like.gain.is_known();
  if (!agreed.is_same) { // not all of them know this one now
    ReportedCalls unknown;
    unknown.row = like.row;
    like = unknown;
  }
  return holds;
}

/// One more, and what all of them would take in the best place.
void count_reported(ReportedCalls& like, double seconds) {
  if (like.is_left_alone) counts().left_alone();
  like.gain.add(seconds);
  const bool is_known = like.gain.is_known();
  const double best_s = is_known ? like.gain.best_s() : 0; // of all of them so far
  const std::int64_t known = is_known ? like.gain.calls() : 0;
  counts().add_to(*like.row, seconds, best_s - like.told_s, known - like.told);
  like.told_s = best_s, like.told = known;
  if (is_known && (like.best.nb == 0 || !(like.gain.best() == like.best))) {
    like.best = like.gain.best();
    counts().best_is(*like.row, like.gain.is_to_move() ? to_string(like.best) : "-");
  }
}

/// The first call of a size is looked at, and until places are known the 2nd, the 4th, the 8th, ... as well: measuring
/// may be worth it then. Nothing is said about the others. Collective.
void report(Call& call, const CallRule& rule) {
  ReportedCalls& like = call.callers->reported[call.hash];
  const bool is_turn = (like.calls & (like.calls + 1)) == 0;
  ++like.calls;
  const bool is_agreed = is_turn && !like.is_settled && look_at_reported(call, rule, like);
  const double seconds = seconds_of_direct(call);
  if (is_agreed)
    keep_for_agreement(call, seconds);
  else
    like.unsaid_s += seconds;
  count_reported(like, seconds);
}

} // namespace

void carry_out(Call& call, const CallRule& rule) {
  if (rule.mode == CallMode::report) return report(call, rule);
  look_closer(call);
  const Agreement agreed = agree_on_call(call, rule);
  if (!agreed.holds()) return run_directly(call, false);
  if (!agreed.is_first && rule.mode == CallMode::automatic) {
    counts().left_alone();
    return run_directly(call, true);
  }
  const Decision decision = where(call, rule);
  const bool is_moved = decision.is_moved && run_elsewhere(call, decision);
  if (!is_moved) run_directly(call, true);
}

} // namespace blacs_dyn::calls
