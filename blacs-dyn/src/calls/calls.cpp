// SPDX-License-Identifier: BSD-3-Clause
// Where calls of ScaLAPACK's routines come in: the mode that each of them has.
#include "calls/calls.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "calls/account.hpp"
#include "calls/call.hpp"
#include "calls/run_on.hpp"

extern "C" void Cblacs_abort(int ctxt, int code);

namespace blacs_dyn::calls {
namespace {

gridmap::CallRules& rules() { // of DYNGRID_CALLS; used at exit
  static auto* all = new gridmap::CallRules;
  return *all;
}

AskedFor& asked() { // of the program
  static auto* all = new AskedFor;
  return *all;
}

bool is_any_seen = false; ///< a call of a routine that is asked for

/// A routine by the name that calls of it come with; that stays where it is.
struct Named {
  std::string name;         ///< pdgetrf
  const Routine* routine{}; ///< null: none that can be moved
  CallRule rule{};          ///< of DYNGRID_CALLS
};
const Named& named(const char* stock_name) {
  static auto* all = new std::map<const char*, Named>;
  const auto [found, is_new] = all->try_emplace(stock_name);
  if (is_new) {
    const std::string_view text = stock_name;
    Named& one = found->second;
    one.name = text.substr(0, text.size() - 1);
    one.routine = routine_named(text);
    if (const auto rule = rules().find(one.name); rule != rules().end()) one.rule = rule->second;
  }
  return found->second;
}

void tell() {
  if (!is_teller() || rules().empty()) return; // the program itself knows where it sent its calls
  tell_and_keep();
}

/// At the first call that is looked at.
bool begin() {
  find_teller();
  counts().begin(!rules().empty() && std::all_of(rules().begin(), rules().end(), [](const auto& entry) {
    return entry.second.mode == CallMode::report || entry.second.mode == CallMode::direct;
  }));
  std::atexit(tell);
  return true;
}

void run_stock(const pblas::StockCall& stock) {
  const Nested nested;
  pblas::invoke(stock.routine, stock.arguments);
}

void take(const pblas::StockCall& stock) {
  const Named& called = named(stock.name);
  const Routine* routine = Nested::depth() == 0 ? called.routine : nullptr;
  if (routine == nullptr || is_query(*routine, stock.arguments)) return run_stock(stock);
  const std::optional<CallRule> said = asked().take(called.name);
  const CallRule rule = said.value_or(called.rule);
  if (rule.mode == CallMode::direct) return run_stock(stock);
  is_any_seen = true;
  try {
    [[maybe_unused]] static const bool is_begun = begin();
    Call call = look_at(stock, *routine, called.name);
    call.is_said = said.has_value();
    if (!rules().empty()) listen(call.here.is_inside() ? call.here.grid : GridShape{1, 1});
    if (!call.here.is_inside()) return run_stock(stock);
    carry_out(call, rule);
  } catch (const std::exception& error) { // in the middle of a collective call
    std::fprintf(stderr, "dyngrid: %s: %s\n", called.name.c_str(), error.what());
    std::fflush(stderr);
    Cblacs_abort(0, 2);
    std::abort();
  }
}

/// Before main: where nothing is asked for, the names lead straight to ScaLAPACK.
[[maybe_unused]] const bool is_routed = [] {
  const char* text = base::environment("DYNGRID_CALLS");
  if (text == nullptr) return false;
  try {
    rules() = gridmap::parse_call_rules(text, "DYNGRID_CALLS");
  } catch (const base::Error& error) {
    std::fprintf(stderr, "dyngrid: %s\n", error.what());
    std::exit(1);
  }
  if (!rules().empty()) pblas::route_stock_calls(take);
  return true;
}();

} // namespace

void run_on(int nprow, int npcol, int nb, const char* routines) {
  asked().next(rules_at(nprow, npcol, nb, routines, "blacs-dyn: dyngrid_run_on"));
  pblas::route_stock_calls(take);
}

void run_on_begin(int nprow, int npcol, int nb, const char* routines) {
  asked().begin(rules_at(nprow, npcol, nb, routines, "blacs-dyn: dyngrid_run_on_begin"));
  pblas::route_stock_calls(take);
}

bool were_none_seen() {
  return !rules().empty() && !is_any_seen;
}

void run_on_end() {
  asked().end();
}

void contexts_are_closed() {
  forget_places();
}

} // namespace blacs_dyn::calls
