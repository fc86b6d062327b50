// SPDX-License-Identifier: BSD-3-Clause
// One call of a routine of ScaLAPACK: it is looked at, agreed on and carried out. All but what is marked as local is
// collective over its context.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "calls/elsewhere.hpp"
#include "pblas/stock_calls.hpp"

namespace blacs_dyn::calls {

using gridmap::CallRule;
using CallMode = CallRule::Mode;

/// As this process sees it.
struct Call {
  const pblas::StockCall& stock;
  const Routine& routine;
  const std::string& name; ///< pdgetrf
  Problem problem;
  Standing here;
  MPI_Comm comm = MPI_COMM_NULL; ///< of the context
  Callers* callers = nullptr;
  bool is_acceptable = false; ///< for this process
  bool is_said = false;       ///< the program has said where it runs (dyngrid_run_on), on this process
  std::int64_t n = 0;         ///< the largest size
  int aspect = 0;
  int nb = 0; ///< of the first operand
  std::int64_t hash = 0;
  std::string size{};

  char type() const { return name[1]; }
  const Arguments& arguments() const { return stock.arguments; }
  CallPlace place() const { return {here.grid, nb}; }
  Everyone everyone() const { return {comm, callers->size, here.ctxt, here}; }
  Standing standing_at(const CallPlace& at) const { return place_context(*callers, at.grid, here, comm); }
  gridmap::CallsSoFar& so_far() const { return callers->so_far[{name, aspect}]; }
  gridmap::CallExpectation expect(const CallPlace& at) const {
    return callers->speeds.expect(name, aspect, at, n, problem.work);
  }
};

// ---- looked at; local: call.cpp

/// A question for the work space, or one with wrong lengths that may be one.
bool is_query(const Routine& routine, const Arguments& a);
/// What decides on its own where a call is looked at no further: it is quick.
Call look_at(const pblas::StockCall& stock, const Routine& routine, const std::string& name);
/// The rest.
void look_closer(Call& call);

// ---- what all processes know alike: agreement.cpp

struct Agreement {
  bool is_same = false;       ///< all processes of the context make the same call
  bool is_acceptable = false; ///< and each can see nothing wrong with it
  bool is_first = false;      ///< they are those that called first
  bool holds() const { return is_same && is_acceptable; }
};
/// What the last call took becomes known. `unsaid_s`: of such calls, which nothing was
/// agreed on; it becomes what it was for the slowest process.
Agreement agree_on_call(const Call& call, const CallRule& rule, double* unsaid_s = nullptr);
// ---- what is known of the ways to carry it out: options.cpp

/// The first of them is to stay. Places are measured before where that is worth it. Collective.
std::vector<gridmap::CallOption> options_for(const Call& call);

// ---- carried out: run.cpp

/// Where it is to run, and what was expected of that.
struct Decision {
  bool is_moved = false;
  CallPlace place;
  double stay_s = std::nan(""), copy_s = 0;
};
/// ScaLAPACK's routine where the caller has it: seconds.
double seconds_of_direct(const Call& call);
/// What it took becomes known with the next agreement, which all come to that made the one of this call. Local.
void keep_for_agreement(const Call& call, double seconds);
/// Where the caller has it, and it is counted.
void run_directly(const Call& call, bool is_agreed);
/// False where it was not moved: there was no memory, or the routine did not want it there. The caller's operands are
/// untouched then.
bool run_elsewhere(const Call& call, const Decision& decision);

// ---- all of it, by mode: modes.cpp

/// Any mode but direct, under which a call is not looked at.
void carry_out(Call& call, const CallRule& rule);

} // namespace blacs_dyn::calls
