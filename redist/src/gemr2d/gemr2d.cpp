// SPDX-License-Identifier: BSD-3-Clause
#include "gemr2d/gemr2d.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/mpi/blacs.hpp"
#include "base/status.hpp"
#include "base/stock_symbol.hpp"
#include "exec/mpi_check.hpp"
#include "exec/once.hpp"
#include "gemr2d/given.hpp"
#include "gemr2d/prepared_copy.hpp"
#include "gemr2d/process_set.hpp"
#include "redist/blacs.hpp"
#include "redist/closed_contexts.hpp"
#include "redist/descriptor.hpp"

namespace redist::detail {

namespace {

using base::Error;
using base::Status;

using base::tag_copy;

constexpr std::size_t plans_kept = 8;

std::string name_of(const CopyArguments& given) {
  return fmt::format("P{}{}2D", static_cast<char>(given.type - 'a' + 'A'), given.part.whole ? "GEMR" : "TRMR");
}

/// What all ranks of the context say. Ends the process when they do not ask for the same.
std::vector<CallOfRank> gather(const State& state, const Call& mine, const std::string& name) {
  const CallOfRank own{mine, state.set->load, state.load, has_room() && state.set->is_of_one_world ? 1 : 0};
  std::vector<CallOfRank> calls(static_cast<std::size_t>(state.set->size));
  check(MPI_Allgather(&own, sizeof own, MPI_BYTE, calls.data(), sizeof own, MPI_BYTE, state.comm), "MPI_Allgather");
  for (const CallOfRank& other : calls)
    if (other.call.m != mine.m || other.call.n != mine.n || other.call.part != mine.part)
      stop(name + ": M, N, UPLO or DIAG differ between processes", 1);
    else if (other.call.type != mine.type)
      stop(fmt::format("{}: called with elements of type {} and of type {} on different processes", name,
                       static_cast<char>(mine.type), static_cast<char>(other.call.type)),
           1);
  return calls;
}

/// The layouts of both matrices from the calls of all ranks, and this rank's plans. Collective.
std::unique_ptr<PreparedCopy> prepare(const State& state, const std::vector<CallOfRank>& calls, const Call& call,
                                      const CopyArguments& given) {
  AgreedMatrix a, b;
  std::string wrong = assemble(calls, &Call::a, "A", a);
  if (wrong.empty()) wrong = assemble(calls, &Call::b, "B", b);
  if (!wrong.empty()) stop(name_of(given) + ": " + wrong, 1);
  fill_axes(a, given.a.desc, call.a, state.comm);
  fill_axes(b, given.b.desc, call.b, state.comm);
  const Executor* executor = state.set->executor.get();
  const bool on_one_host = executor == nullptr || executor->ranks_on_host() == state.set->size;
  return plan_copy(call, given.part, a, b, state.set->rank, on_one_host ? Schedule::async : Schedule::automatic);
}

/// The same call as one of the last few on every rank? Then its exchange is there, and the agreement before it replaces
/// gathering and planning. False when it is not.
bool run_again(ProcessSet& set, const Call& call, const Pointers& where) {
  const auto found = std::find_if(set.plans.begin(), set.plans.end(),
                                  [&](const auto& p) { return std::memcmp(&p->key, &call, sizeof call) == 0; });
  if (found == set.plans.end()) return set.executor->run_if_same(-1, nullptr, {});
  PreparedCopy& known = **found;
  set.plans.splice(set.plans.begin(), set.plans, found);
  known.put_in(where);
  return set.executor->run_if_same(known.serial, &*known.exchange, known.pointers);
}

void run_anew(State& state, const Call& call, const CopyArguments& given, const Pointers& where) {
  ProcessSet& set = *state.set;
  const std::vector<CallOfRank> calls = gather(state, call, name_of(given));
  if (!set.executor) make_executor(state, calls);
  std::unique_ptr<PreparedCopy> made = prepare(state, calls, call, given);
  made->put_in(where);
  if (!set.executor) return exchange_once(made->all_plans(), made->pointers, state.comm, tag_copy);
  made->exchange.emplace(Exchange::prepare(made->all_plans(), *set.executor));
  made->serial = set.made++;
  set.plans.push_front(std::move(made));
  if (set.plans.size() > plans_kept) set.plans.pop_back();
  set.plans.front()->exchange->run(set.plans.front()->pointers);
}

} // namespace

void copy_matrix(const CopyArguments& given, int ctxt) {
  base::was_replaced_called = true;
  if (given.m == 0 || given.n == 0) return;
  const SubMatrix &a = given.a, &b = given.b;
  const std::string name = name_of(given);
  refuse_closed_contexts(name, {ctxt, a.desc[ctxt_at], b.desc[ctxt_at]});
  if (!position_in(ctxt).is_inside()) return; // no part in this
  for (const auto& [desc, letter] : {std::pair{a.desc, 'A'}, std::pair{b.desc, 'B'}})
    if (has_wide_integers(desc)) stop(fmt::format("{}: {}: {}", name, letter, wide_integers), 1);
  try {
    Call call;
    call.a = given_by(a.desc, a.i, a.j);
    call.b = given_by(b.desc, b.i, b.j);
    call.m = given.m;
    call.n = given.n;
    call.part = given.part.whole ? 0 : 1 + (given.part.upper ? 2 : 0) + (given.part.unit ? 1 : 0);
    call.type = given.type;
    check_given(call.a, a.desc, "A", name);
    check_given(call.b, b.desc, "B", name);
    const Pointers where{a.data, std::max(1, call.a.nprow < 0 ? 1 : a.desc[lld_at]), b.data,
                         std::max(1, call.b.nprow < 0 ? 1 : b.desc[lld_at])};
    State& state = state_of(ctxt);
    if (!state.set->executor || !run_again(*state.set, call, where)) run_anew(state, call, given, where);
  } catch (const Error& error) {
    stop(name + ": " + error.what(), error.status() == Status::out_of_memory ? 2 : 1);
  } catch (const std::bad_alloc&) {
    stop(name + ": out of memory", 2);
  }
}

void copy_matrix_everybody(const CopyArguments& given) {
  int mypnum = 0, nprocs = 1, ctxt = 0;
  Cblacs_get(0, 0, &ctxt);
  Cblacs_pinfo(&mypnum, &nprocs);
  Cblacs_gridinit(&ctxt, "R", 1, nprocs);
  copy_matrix(given, ctxt);
  Cblacs_gridexit(ctxt);
}
} // namespace redist::detail
