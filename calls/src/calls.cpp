// SPDX-License-Identifier: BSD-3-Clause
// libdyngrid-calls.so: decides by DYNGRID_CALLS where calls of ScaLAPACK's routines run, in a program that is not
// changed for it. Loaded together with libdyngrid.so, which takes the calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "control/history.hpp"
#include "known.hpp"
#include "modes.hpp"

namespace calls {
namespace {

CallHost* dyngrid = nullptr;

/// The end: the table on standard error, and a line in the history.
void tell_and_keep() {
  if (!host().prints_here()) return;
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

class Decider final : public blacs_dyn::calls::CallDecider {
public:
  explicit Decider(advise::CallRules rules) : rules_(std::move(rules)) {}

  bool wants(const std::string& routine) const override {
    const auto rule = rules_.find(routine);
    return rule != rules_.end() && rule->second.mode != CallRule::Mode::direct;
  }
  void carry_out(CallInHand& call) override { calls::carry_out(call, rules_.at(call.routine())); }
  bool is_report() const {
    return std::all_of(rules_.begin(), rules_.end(), [](const auto& entry) {
      return entry.second.mode == CallRule::Mode::report || entry.second.mode == CallRule::Mode::direct;
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
