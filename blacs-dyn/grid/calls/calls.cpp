// SPDX-License-Identifier: BSD-3-Clause
// Where calls of ScaLAPACK's routines enter: they run where the program asked, or come to the decider, or go on to
// ScaLAPACK.
#include "grid/calls/calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/mpi/blacs.hpp"
#include "grid/calls/account.hpp"
#include "grid/calls/call.hpp"
#include "grid/calls/run_on.hpp"

namespace blacs_dyn::calls {
namespace {

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

/// Where nothing is asked for any more, large calls may be dyngrid's own again.
void unroute_if_idle() {
  if (decider == nullptr && asked().is_empty()) pblas::route_stock_calls(nullptr);
}

void take(const pblas::StockCall& stock) {
  const Named& called = named(stock.name);
  const Routine* routine = Nested::depth() == 0 ? called.routine : nullptr;
  if (routine == nullptr || is_query(*routine, stock.arguments)) return run_stock(stock);
  const std::optional<advise::CallRule> rule = asked().take(called.name);
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

void contexts_are_closed() {
  forget_places();
}

} // namespace blacs_dyn::calls

blacs_dyn::calls::CallHost* dyngrid_calls_attach(blacs_dyn::calls::CallDecider* decider) {
  blacs_dyn::calls::decider = decider;
  pblas::route_stock_calls(blacs_dyn::calls::take);
  return &blacs_dyn::calls::host();
}
