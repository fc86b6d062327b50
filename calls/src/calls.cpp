// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-calls.so: decides by DYNGRID_CALLS where calls of ScaLAPACK's routines run, in a program that is not
// changed for it. Loaded together with libdyngrid.so, which takes the calls.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "control/history.hpp"
#include "known.hpp"

namespace calls {
namespace {

CallHost* dyngrid = nullptr;

pid_t caller = 0; ///< the process whose calls are counted; 0: there was none

/// The end: the table on standard error, and a line in the history. Not in a fork of the program.
void tell_and_keep() {
  if ((caller != 0 && caller != getpid()) || !host().prints_here()) return;
  control::CallReport report = host().board().report();
  if (const std::string text = describe(report); !text.empty())
    std::fprintf(stderr, "dyngrid: calls of ScaLAPACK's routines\n%s", text.c_str());
  report.job = host().job();
  if (!report.calls.empty()) {
    const control::HistoryKey key{host().program(), control::calls_size, control::machine_name()};
    try {
      control::append_calls(control::history_file(), key, report);
    } catch (const std::exception&) { // a history that cannot be written is lost
    }
  }
  host().hide(); // last: a client that asks finds it in one place or the other
}

using Mode = CallRule::Mode;

/// Where a call runs, and what was expected of that; the same on all processes.
struct Decision {
  CallPlace place;
  double stay_s = std::numeric_limits<double>::quiet_NaN();
  double copy_s = 0; ///< predicted
};

/// automatic: where it is expected to end first. Collective.
Decision where_best(CallInHand& call, Known& known) {
  const CallProblem& problem = call.problem();
  const advise::CallDecision decision = advise::decide_call(known.options_for(call));
  const CallPlace place = decision.is_moved() ? decision.best : problem.place;
  if (host().is_verbose())
    host().print_once(
        fmt::format("{} {} {} {}", call.routine(), problem.size, to_string(problem.place), to_string(place)),
        fmt::format("{} of {} {}", call.routine(), problem.size, to_string(decision)));
  return {place, decision.stay_s, decision.copy_s / known.copy_factor()};
}

Decision where(CallInHand& call, Known& known, const CallRule& rule) {
  const CallPlace here = call.problem().place;
  switch (rule.mode) {
  case Mode::automatic:
    return where_best(call, known);
  case Mode::fixed:
    return {advise::place_asked(rule.place, here)};
  case Mode::forced:
    return {advise::forced_place(here.grid, here.nb, known.forced++)};
  case Mode::report: // has a way of its own
  case Mode::direct:
    break;
  }
  return {here};
}

void count(CallInHand& call, const std::string& place, double seconds, double stay_s, double moved_bytes) {
  const bool is_known = std::isfinite(stay_s);
  host().board().add({call.routine(),
                      call.problem().size,
                      1,
                      {{place, 1}},
                      seconds,
                      is_known ? stay_s : 0,
                      is_known ? 1 : 0,
                      moved_bytes});
}

void run_here(CallInHand& call, Known& known, bool is_agreed) {
  const double seconds = call.run_here();
  count(call, "-", seconds, seconds, 0);
  if (is_agreed) known.keep(call, call.problem().place, seconds, 0, 0);
}

// ---- report: a call stays, and what another place would bring is reported

/// True when all agree that it is to be looked at. Collective.
bool look_at_reported(CallInHand& call, Known& known, const CallRule& rule, ReportedCalls& like) {
  like.row = &host().board().row(call.routine(), call.problem().size);
  const CallAgreement agreed = known.agree(call, rule, &like.undecided_s);
  const bool holds = agreed.holds();
  like.is_left_alone = holds && !agreed.is_first;
  if (holds && agreed.is_first) {
    known.so_far_of(call).spent_s += like.undecided_s;
    like.gain.look_at(known.options_for(call));
  }
  like.undecided_s = 0;
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
  if (like.is_left_alone) host().board().left_alone();
  like.gain.add(seconds);
  const bool is_known = like.gain.is_known();
  const double best_s = is_known ? like.gain.best_s() : 0; // of all of them so far
  const std::int64_t known = is_known ? like.gain.calls() : 0;
  host().board().add_to(*like.row, seconds, best_s - like.reported_s, known - like.reported);
  like.reported_s = best_s, like.reported = known;
  if (is_known && (like.best.nb == 0 || !(like.gain.best() == like.best))) {
    like.best = like.gain.best();
    host().board().best_is(*like.row, like.gain.is_to_move() ? to_string(like.best) : "-");
  }
}

/// The first call of a size is looked at, and until places are known the 2nd, the 4th, the 8th, ... as well: measuring
/// may be worth it then. No message about the others. Collective.
void report(CallInHand& call, Known& known, const CallRule& rule) {
  ReportedCalls& like = known.reported[call.hash()];
  const bool is_turn = (like.calls & (like.calls + 1)) == 0;
  ++like.calls;
  const bool is_agreed = is_turn && !like.is_settled && look_at_reported(call, known, rule, like);
  const double seconds = call.run_here();
  if (is_agreed)
    known.keep(call, call.problem().place, seconds, 0, 0);
  else
    like.undecided_s += seconds;
  count_reported(like, seconds);
}

/// Any mode but direct, under which a call is not looked at. Collective over the call's context.
void carry_out(CallInHand& call, const CallRule& rule) {
  Known& known = known_of(call);
  if (rule.mode == Mode::report) return report(call, known, rule);
  const CallAgreement agreed = known.agree(call, rule);
  if (!agreed.holds()) return run_here(call, known, false);
  if (!agreed.is_first && rule.mode == Mode::automatic) {
    host().board().left_alone();
    return run_here(call, known, true);
  }
  const Decision decision = where(call, known, rule);
  std::optional<blacs_dyn::calls::MovedCall> moved;
  // `auto` knows one place with the caller's blocks: where the operands are
  const bool stays =
      rule.mode == Mode::automatic ? decision.place == call.problem().place : call.lies_at(decision.place);
  if (!stays) moved = call.run_at(decision.place);
  if (!moved) return run_here(call, known, true);
  count(call, to_string(decision.place), moved->seconds, decision.stay_s, moved->moved_bytes);
  known.keep(call, decision.place, moved->run_s, moved->seconds - moved->run_s, decision.copy_s);
}

class Decider final : public blacs_dyn::calls::CallDecider {
public:
  explicit Decider(advise::CallRules rules) : rules_(std::move(rules)) {}

  bool wants(const std::string& routine) const override {
    const auto rule = rules_.find(routine);
    return rule != rules_.end() && rule->second.mode != Mode::direct;
  }
  void carry_out(CallInHand& call) override {
    caller = getpid();
    calls::carry_out(call, rules_.at(call.routine()));
  }
  bool is_report() const {
    return std::all_of(rules_.begin(), rules_.end(), [](const auto& entry) {
      return entry.second.mode == Mode::report || entry.second.mode == Mode::direct;
    });
  }

private:
  advise::CallRules rules_;
};

/// Before main: where nothing is asked for, the names lead straight to ScaLAPACK.
[[maybe_unused]] const bool is_attached = [] {
  const char* text = base::environment("DYNGRID_CALLS");
  if (text == nullptr) return false;
  try {
    advise::CallRules rules = advise::parse_call_rules(text, "DYNGRID_CALLS");
    if (rules.empty()) return false;
    auto* decider = new Decider(std::move(rules)); // used at exit
    dyngrid = dyngrid_calls_attach(decider);
    host().board().begin(decider->is_report());
    std::atexit(tell_and_keep);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: %s\n", error.what());
    std::exit(1);
  }
  return true;
}();

} // namespace

CallHost& host() {
  return *dyngrid;
}

} // namespace calls
