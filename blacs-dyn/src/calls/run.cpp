// SPDX-License-Identifier: BSD-3-Clause
#include "calls/call.hpp"

#include <type_traits>

#include <fmt/format.h>

#include "calls/account.hpp"

namespace blacs_dyn::calls {
namespace {

void add_tally(const Call& call, const std::string& place, double seconds, double other_s, double moved_bytes) {
  const bool is_known = std::isfinite(other_s);
  counts().add({call.name, call.size, 1, {{place, 1}}, seconds, is_known ? other_s : 0, is_known ? 1 : 0, moved_bytes});
}

/// What the caller's own work space must be; asked of the routine, which writes it where the caller looks for it.
/// Collective over the context.
bool has_own_work(const Call& call) {
  if (call.routine.work == Routine::none) return true;
  Arguments query = call.arguments();
  const int minus_one = -1;
  int info = 0;
  for (const int at : {call.routine.work, call.routine.rwork, call.routine.iwork})
    if (at != Routine::none) query[static_cast<std::size_t>(at + 1)] = const_cast<int*>(&minus_one);
  query[static_cast<std::size_t>(call.routine.info)] = &info;
  const Nested nested;
  pblas::invoke(call.stock.routine, query);
  const auto real = [&](int at) {
    const void* value = call.arguments()[static_cast<std::size_t>(at)];
    return call.type() == 's' || call.type() == 'c' ? double{*static_cast<const float*>(value)}
                                                    : *static_cast<const double*>(value);
  };
  const auto enough = [&](int at, auto&& needed) {
    return at == Routine::none || integer(call.arguments(), at + 1) >= needed(at);
  };
  return info == 0 && enough(call.routine.work, real) && enough(call.routine.rwork, real) &&
         enough(call.routine.iwork, [&](int at) { return double(integer(call.arguments(), at)); });
}

/// What is no number chooses pivots by where it lies, so info and pivots would not be those of the direct call. Local.
bool has_only_numbers(const Call& call) {
  if (call.routine.pivots == Routine::none || call.routine.pivots_use == Use::in) return true;
  const Operand& operand = call.problem.operands.front();
  const Given x = given(call.arguments(), operand);
  const gridmap::Axis rows = rows_of(x.desc, call.here.grid), cols = cols_of(x.desc, call.here.grid);
  const int reals = call.type() == 'c' || call.type() == 'z' ? 2 : 1;
  const auto local = [](const gridmap::Axis& axis, int mine, std::int64_t i) { return axis.count_before(mine, i); };
  const std::int64_t top = reals * local(rows, call.here.row, x.i - 1),
                     bottom = reals * local(rows, call.here.row, x.i - 1 + operand.m),
                     right = local(cols, call.here.col, x.j - 1 + operand.n);
  const auto zero = [&](const auto* data) { // a sum of zeros, but for infinities and NaN
    double sum = 0;
    for (std::int64_t j = local(cols, call.here.col, x.j - 1); j < right; ++j) {
      const auto* column = data + j * x.desc[lld_at] * reals;
      std::remove_cv_t<std::remove_reference_t<decltype(*column)>> of_column = 0;
      for (std::int64_t i = top; i < bottom; ++i) of_column += column[i] * 0;
      sum += of_column;
    }
    return sum == 0;
  };
  return call.type() == 's' || call.type() == 'c' ? zero(static_cast<const float*>(x.data))
                                                  : zero(static_cast<const double*>(x.data));
}

} // namespace

double seconds_of_direct(const Call& call) {
  const double begin = MPI_Wtime();
  const Nested nested;
  pblas::invoke(call.stock.routine, call.arguments());
  return MPI_Wtime() - begin;
}

void keep_for_agreement(const Call& call, double seconds) {
  call.callers->last = {{call.name, call.aspect, call.place(), call.n, call.problem.work, seconds, 1}, 0, 0};
}

void run_directly(const Call& call, bool is_agreed) {
  const double seconds = seconds_of_direct(call);
  add_tally(call, "-", seconds, seconds, 0);
  if (is_agreed) keep_for_agreement(call, seconds);
}

bool run_elsewhere(const Call& call, const Decision& decision) {
  const double begin = MPI_Wtime();
  const bool may_move = has_own_work(call) && has_only_numbers(call);
  if (!all_agree(may_move, call.comm)) return false;
  const Everyone all = call.everyone();
  const Standing there = call.standing_at(decision.place);
  Elsewhere elsewhere(call.routine, call.problem, call.arguments(), call.type(), there, decision.place.nb);
  const Run run = run_there(elsewhere, call.routine, call.stock.routine, there, all);
  if (run.outcome == Run::Outcome::no_memory) {
    counts().had_no_memory();
    say_once("no memory", fmt::format("there is no memory for a copy of the operands of {} of {}: it stays where it "
                                      "is; more such calls are counted in the report",
                                      call.name, call.size));
  }
  if (run.outcome != Run::Outcome::done) return false;
  if (call.routine.info != Routine::none)
    *static_cast<int*>(call.arguments()[static_cast<std::size_t>(call.routine.info)]) = run.info;
  const double seconds = MPI_Wtime() - begin;
  add_tally(call, to_string(decision.place), seconds, decision.stay_s, elsewhere.moved_bytes());
  call.callers->last = {{call.name, call.aspect, decision.place, call.n, call.problem.work, run.run_s, 1},
                        seconds - run.run_s,
                        decision.copy_s};
  return true;
}

} // namespace blacs_dyn::calls
