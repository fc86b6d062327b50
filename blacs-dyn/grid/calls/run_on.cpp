// SPDX-License-Identifier: BSD-3-Clause
#include "grid/calls/run_on.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/status.hpp"

namespace blacs_dyn::calls {

using advise::CallRule;
using advise::CallRules;
using base::Error;
using base::Status;

CallRules rules_at(int nprow, int npcol, int nb, const char* routines, const char* where) {
  if (routines == nullptr || std::string_view(routines).find_first_of("=:") != std::string_view::npos)
    throw Error(Status::bad_argument,
                fmt::format("{}: routine is {}, expected names such as pdgetrf, p?gemm or all", where,
                            routines == nullptr ? "NULL" : '"' + std::string(routines) + '"'));
  if (nprow < 0 || npcol < 0 || (nprow == 0) != (npcol == 0))
    throw Error(Status::bad_argument, fmt::format("{}: grid is {}x{}, expected both from 1, or both 0 for the caller's",
                                                  where, nprow, npcol));
  if (nb < 0)
    throw Error(Status::bad_argument,
                fmt::format("{}: nb is {}, expected a block size from 1, or 0 for the caller's", where, nb));
  CallRules rules = advise::parse_call_rules(routines, where);
  for (auto& entry : rules) {
    if (entry.second.mode == CallRule::Mode::automatic) continue; // a name; `report` is none
    rules.clear();
    break;
  }
  if (rules.empty())
    throw Error(Status::bad_argument,
                fmt::format("{}: routine is \"{}\", expected names such as pdgetrf, p?gemm or all", where, routines));
  CallRule rule;
  rule.mode = CallRule::Mode::fixed;
  rule.place.grid = {nprow, npcol};
  rule.place.nb = nb;
  for (auto& entry : rules) entry.second = rule;
  return rules;
}

void AskedFor::end() {
  if (scopes_.empty())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_run_on_end without dyngrid_run_on_begin before it");
  scopes_.pop_back();
}

std::optional<CallRule> AskedFor::take(const std::string& routine) {
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

} // namespace blacs_dyn::calls
