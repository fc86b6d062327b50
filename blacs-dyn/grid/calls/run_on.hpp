// SPDX-License-Identifier: BSD-3-Clause
// Where the program itself says that calls run (dyngrid_run_on): the next one, or all of a scope.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "advise/calls.hpp"

namespace blacs_dyn::calls {

/// "pdgetrf", "p?gemm,pdpotrf", "all": all of them at one place. Either number of the grid 0: both, and the caller's
/// grid; nb 0: the caller's. Pure.
/// @throws Error{bad_argument} naming `where`
advise::CallRules rules_at(int nprow, int npcol, int nb, const char* routines, const char* where);

/// The requests that still hold. Pure.
class AskedFor {
public:
  void next(advise::CallRules rules) { once_.push_back(std::move(rules)); }
  void begin(advise::CallRules rules) { scopes_.push_back(std::move(rules)); }
  /// @throws Error{bad_state} without a scope
  void end();
  /// For a call that is made now: what was asked for the next one first, and it is used up; then the innermost scope
  /// that has the routine.
  std::optional<advise::CallRule> take(const std::string& routine);
  bool is_empty() const { return once_.empty() && scopes_.empty(); }

private:
  std::vector<advise::CallRules> once_, scopes_;
};

} // namespace blacs_dyn::calls
