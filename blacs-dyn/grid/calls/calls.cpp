// SPDX-License-Identifier: BSD-3-Clause
// Where calls of ScaLAPACK's routines enter: they run where the program asked, or come to the decider, or go on to
// ScaLAPACK.
#include "grid/calls/calls.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "advise/calls.hpp"
#include "base/environment.hpp"
#include "base/grid_shape.hpp"
#include "base/mpi/blacs.hpp"
#include "base/status.hpp"
#include "grid/calls/account.hpp"
#include "grid/calls/call.hpp"

namespace blacs_dyn::calls {
namespace {

using advise::CallRule;
using advise::CallRules;
using base::Error;
using base::Status;

/// "pdgetrf", "p?gemm,pdpotrf", "all": all of them at one place. Either number of the grid 0: both, and the caller's
/// grid; nb 0: the caller's. Pure.
/// @throws Error{bad_argument} naming `where`
CallRules rules_at(int nprow, int npcol, int nb, const char* routines, const char* where) {
  if (routines == nullptr || std::string_view(routines).find_first_of("=:") != std::string_view::npos)
    throw Error(Status::bad_argument, "{}: routine is {}, expected names such as pdgetrf, p?gemm or all", where,
                routines == nullptr ? "NULL" : '"' + std::string(routines) + '"');
  if (nprow < 0 || npcol < 0 || (nprow == 0) != (npcol == 0))
    throw Error(Status::bad_argument, "{}: grid is {}x{}, expected both from 1, or both 0 for the caller's", where,
                nprow, npcol);
  if (nprow > 0) base::check_grid_shape({nprow, npcol}, where);
  if (nb < 0)
    throw Error(Status::bad_argument, "{}: nb is {}, expected a block size from 1, or 0 for the caller's", where, nb);
  CallRules rules = advise::parse_call_rules(routines, where);
  for (auto& entry : rules) {
    if (entry.second.mode == CallRule::Mode::automatic) continue; // a name; `report` is none
    rules.clear();
    break;
  }
  if (rules.empty())
    throw Error(Status::bad_argument, "{}: routine is \"{}\", expected names such as pdgetrf, p?gemm or all", where,
                routines);
  CallRule rule;
  rule.mode = CallRule::Mode::fixed;
  rule.place.grid = {nprow, npcol};
  rule.place.nb = nb;
  for (auto& entry : rules) entry.second = rule;
  return rules;
}

/// What the program itself has asked for (dyngrid_run_on), for the next call or all of a scope, and still holds. Pure.
class AskedFor {
public:
  void next(CallRules rules) { once_.push_back(std::move(rules)); }
  void begin(CallRules rules) { scopes_.push_back(std::move(rules)); }
  /// @throws Error{bad_state} without a scope
  void end() {
    if (scopes_.empty())
      throw Error(Status::bad_state, "blacs-dyn: dyngrid_run_on_end without dyngrid_run_on_begin before it");
    scopes_.pop_back();
  }
  /// For a call that is made now: what was asked for the next one first, and it is used up; then the innermost scope
  /// that has the routine.
  std::optional<CallRule> take(const std::string& routine) {
    const auto has = [&](const CallRules& rules) { return rules.count(routine) > 0; };
    if (const auto first = std::find_if(once_.begin(), once_.end(), has); first != once_.end()) {
      const CallRule rule = first->at(routine);
      once_.erase(first);
      return rule;
    }
    const auto innermost = std::find_if(scopes_.rbegin(), scopes_.rend(), has);
    if (innermost == scopes_.rend()) return std::nullopt;
    return innermost->at(routine);
  }
  bool is_empty() const { return once_.empty() && scopes_.empty(); }

private:
  std::vector<CallRules> once_, scopes_;
};

CallDecider* decider = nullptr; // of libdyngrid-calls.so
bool is_any_seen = false;       // a call that the decider selects

AskedFor& asked() { // of the program
  static auto* all = new AskedFor;
  return *all;
}

/// A routine by the name that calls of it come with; that stays where it is.
struct Named {
  std::string name;         ///< pdgetrf
  const Routine* routine{}; ///< null: none that can be moved
  bool is_decided{};        ///< the decider selects it
};
const Named& named(const char* stock_name) {
  static auto* all = new std::map<const char*, Named>;
  const auto [found, is_new] = all->try_emplace(stock_name);
  if (is_new) {
    const std::string_view text = stock_name;
    Named& one = found->second;
    one.name = text.substr(0, text.size() - 1);
    one.routine = routine_named(text);
    one.is_decided = one.routine != nullptr && decider != nullptr && decider->wants(one.name);
  }
  return found->second;
}

/// At the first call that is looked at.
bool begin() {
  find_printing_process();
  if (decider == nullptr) counts().begin(false);
  return true;
}

void run_stock(const pblas::StockCall& stock) {
  const Nested nested;
  pblas::invoke(stock.routine, stock.arguments);
}

/// As a routine of ScaLAPACK: pdgels_.
bool is_named_as_scalapack(const char* name) {
  return name != nullptr && name[0] == 'p' && name[1] != '\0' && std::strchr("sdczi", name[1]) != nullptr;
}

/// Whether a routine of ScaLAPACK that is not behind a name of this library makes the call. A library that contains
/// ScaLAPACK has other routines, too.
bool is_made_by_scalapack(const pblas::StockCall& stock) {
  Dl_info from{}, routine{};
  return dladdr(stock.from, &from) != 0 && dladdr(stock.routine, &routine) != 0 &&
         from.dli_fbase == routine.dli_fbase && is_named_as_scalapack(from.dli_sname);
}

/// Where nothing is asked for any more, large calls may be dyngrid's own again.
void unroute_if_idle() {
  if (decider == nullptr && asked().is_empty()) pblas::route_stock_calls(nullptr);
}

void take(const pblas::StockCall& stock) {
  const Named& called = named(stock.name);
  const Routine* routine = Nested::depth() == 0 ? called.routine : nullptr;
  if (routine == nullptr || is_query(*routine, stock.arguments) || is_made_by_scalapack(stock)) return run_stock(stock);
  const std::optional<CallRule> rule = asked().take(called.name);
  if (!rule && !called.is_decided) return run_stock(stock);
  is_any_seen = is_any_seen || called.is_decided;
  try {
    [[maybe_unused]] static const bool is_begun = begin();
    Call call(stock, *routine, called.name, rule.has_value());
    if (decider != nullptr) show(call.here().is_inside() ? call.here().grid : GridShape{1, 1});
    if (!call.here().is_inside()) return run_stock(stock);
    if (rule)
      run_as_asked(call, *rule);
    else
      decider->carry_out(call);
    unroute_if_idle();
  } catch (const std::exception& error) { // in the middle of a collective call
    std::fprintf(stderr, "dyngrid: %s: %s\n", called.name.c_str(), error.what());
    std::fflush(stderr);
    Cblacs_abort(0, 2);
    std::abort();
  }
}

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
  return decider != nullptr && !is_any_seen;
}

bool is_library_missing() {
  const char* text = base::environment("DYNGRID_CALLS");
  return decider == nullptr && text != nullptr && std::string_view(text) != "off";
}

void run_on_end() {
  asked().end();
  unroute_if_idle();
}

} // namespace blacs_dyn::calls

blacs_dyn::calls::CallHost* dyngrid_calls_attach(blacs_dyn::calls::CallDecider* decider) {
  blacs_dyn::calls::decider = decider;
  pblas::route_stock_calls(blacs_dyn::calls::take);
  return &blacs_dyn::calls::host();
}
