// SPDX-License-Identifier: BSD-3-Clause
#include "calls/call.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calls/account.hpp"
#include "matrix.hpp"
#include "redist/plan.hpp"

namespace blacs_dyn::calls {
namespace {

/// The call scaled down to its largest size n, at a place: seconds of the slowest process become known. Collective.
void measure(const Call& call, const CallPlace& place, std::int64_t n) {
  std::vector<int> sizes;
  for (const int at : call.routine.sizes)
    sizes.push_back(static_cast<int>(
        std::max<std::int64_t>(1, std::llround(static_cast<double>(integer(call.arguments(), at)) *
                                               static_cast<double>(n) / static_cast<double>(call.n)))));
  Arguments scaled = call.arguments();
  for (std::size_t k = 0; k < sizes.size(); ++k) scaled[static_cast<std::size_t>(call.routine.sizes[k])] = &sizes[k];
  const Problem problem = call.routine.read(scaled, call.type());
  const Everyone all = call.everyone();
  const Standing there = call.standing_at(place);
  Elsewhere small(call.routine, problem, scaled, call.type(), there, place.nb);
  const double least = measure_there(small, call.stock.routine, there, all, call.so_far().measured_s);
  call.callers->speeds.add({call.name, call.aspect, place, n, problem.work, least, 1});
}

/// Two sizes at each place. Collective.
void measure_places(const Call& call, const std::vector<CallPlace>& places) {
  constexpr double most_work = 3e8, most_n = 768; // some 10 ms each
  const double by_work = static_cast<double>(call.n) * std::cbrt(most_work / std::max(1.0, call.problem.work));
  const auto n = static_cast<std::int64_t>(std::max(8.0, std::min({most_n, by_work, static_cast<double>(call.n) - 1})));
  for (const CallPlace& place : places) {
    measure(call, place, n / 3 + 1);
    measure(call, place, n);
    counts().measured_place();
  }
  ++call.so_far().rounds;
}

/// Predicted seconds to a place and back, as planned. The same on every process.
double predicted_copies(const Call& call, const CallPlace& place) {
  const auto key = std::make_pair(call.hash, place);
  if (const auto known = call.callers->copies_s.find(key); known != call.callers->copies_s.end()) return known->second;
  redist::Machine machine;
  machine.cores = call.callers->size;
  double seconds = 0;
  for (const Operand& operand : call.problem.operands) {
    const Given x = given(call.arguments(), operand);
    const redist::Layout from{rows_of(x.desc, call.here.grid), cols_of(x.desc, call.here.grid),
                              redist::Grid::row_major(call.here.grid.nprow, call.here.grid.npcol)};
    const redist::Layout to{gridmap::Axis::block_cyclic(operand.m, place.nb, place.grid.nprow),
                            gridmap::Axis::block_cyclic(operand.n, place.nb, place.grid.npcol),
                            redist::Grid::row_major(place.grid.nprow, place.grid.npcol)};
    redist::PlanOptions options;
    options.schedule = redist::Schedule::async;
    options.from = {x.i - 1, x.j - 1, operand.m, operand.n};
    const double once =
        redist::Plan(from, to, options).predicted_seconds(machine, static_cast<int>(element_bytes(call.type())));
    seconds += once * (operand.use == Use::both ? 2 : 1);
  }
  call.callers->copies_s[key] = seconds;
  return seconds;
}

} // namespace

std::vector<gridmap::CallOption> options_for(const Call& call) {
  const std::vector<CallPlace> places = gridmap::call_places(call.here.grid, call.nb);
  constexpr double slowest_per_s = 1e9; // operations of a process
  if (gridmap::is_time_to_measure(call.so_far(), call.problem.work / (slowest_per_s * call.callers->size))) {
    std::vector<CallPlace> all = places;
    all.insert(all.begin(), call.place());
    measure_places(call, all);
  }
  const gridmap::CallExpectation stay = call.expect(call.place());
  std::vector<gridmap::CallOption> options{{call.place(), stay.seconds, 0, stay.spread_s}};
  for (const CallPlace& place : places) {
    const gridmap::CallExpectation there = call.expect(place);
    const double copy_s = std::isnan(there.seconds) ? 0 : call.callers->copy_factor() * predicted_copies(call, place);
    options.push_back({place, there.seconds, copy_s, there.spread_s});
  }
  return options;
}

} // namespace blacs_dyn::calls
