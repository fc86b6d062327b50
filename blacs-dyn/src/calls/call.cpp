// SPDX-License-Identifier: BSD-3-Clause
#include "calls/call.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace blacs_dyn::calls {
namespace {

/// Sizes over the largest in powers of two, and whether vectors are wanted: problems of one aspect differ in size only.
int aspect_of(const Routine& routine, const Arguments& a, std::int64_t largest) {
  int aspect = 0;
  for (const int at : routine.sizes) {
    const double part = static_cast<double>(std::max(1, integer(a, at))) / static_cast<double>(largest);
    aspect = aspect * 32 + static_cast<int>(std::lround(-std::log2(part)));
  }
  return aspect * 2 + (routine.alignment == Alignment::same && letter(a, 0) == 'N' ? 1 : 0);
}

/// What calls are told apart by: all but their data. Every call pays for it, so it takes a number at a time. Local.
std::int64_t hash_of(const Call& call) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t number) { hash = ((hash << 23 | hash >> 41) ^ number) * 0x9e3779b97f4a7c15u; };
  const auto add_int = [&](int number) { add(static_cast<std::uint32_t>(number)); };
  for (const char c : call.name) add(static_cast<unsigned char>(c));
  add_int(call.here.grid.nprow), add_int(call.here.grid.npcol);
  for (const int at : call.routine.letters) add(static_cast<unsigned char>(letter(call.arguments(), at)));
  for (const int at : call.routine.sizes) add_int(integer(call.arguments(), at));
  for (const Operand& operand : call.problem.operands) {
    const Given x = given(call.arguments(), operand);
    add_int(x.i), add_int(x.j), add_int(operand.at), add_int(static_cast<int>(operand.use));
    for (int entry = m_at; entry < lld_at; ++entry) add_int(x.desc[entry]);
  }
  return static_cast<std::int64_t>(hash >> 1); // for MPI's minimum and maximum
}

} // namespace

Call look_at(const pblas::StockCall& stock, const Routine& routine, const std::string& name) {
  Call call{stock, routine, name, routine.read(stock.arguments, name[1]), {}};
  const Given first = given(call.arguments(), call.problem.operands.front());
  call.here = standing_in(first.desc[ctxt_at]);
  if (!call.here.is_inside()) return call;
  call.nb = first.desc[nb_at];
  for (const int at : routine.sizes) call.n = std::max<std::int64_t>(call.n, integer(call.arguments(), at));
  call.hash = hash_of(call);
  call.comm = comm_of_context(call.here.ctxt);
  call.callers = &callers_of(call.comm);
  return call;
}

void look_closer(Call& call) {
  for (const int at : call.routine.sizes)
    call.size += fmt::format("{}{}", call.size.empty() ? "" : "x", integer(call.arguments(), at));
  call.is_acceptable = is_acceptable(call.routine, call.problem, call.arguments(), call.here);
  if (call.n > 0) call.aspect = aspect_of(call.routine, call.arguments(), call.n);
}

bool is_query(const Routine& routine, const Arguments& a) {
  for (const int at : {routine.work, routine.rwork, routine.iwork})
    if (at != Routine::none && integer(a, at + 1) == -1) return true;
  return false;
}

} // namespace blacs_dyn::calls
