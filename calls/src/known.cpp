// SPDX-License-Identifier: BSD-3-Clause
#include "known.hpp"

#include <algorithm>
#include <cmath>

namespace calls {

Known& known_of(const CallInHand& call) {
  static auto* all = new std::map<const void*, Known>; // outlives MPI_Finalize
  return (*all)[call.callers()];
}

void Known::keep(CallInHand& call, const CallPlace& place, double run_s, double copy_s, double predicted_copy_s) {
  const CallProblem& problem = call.problem();
  last = {{call.routine(), problem.aspect, place, problem.n, problem.work, run_s, 1}, copy_s, predicted_copy_s};
}

CallAgreement Known::agree(CallInHand& call, const CallRule& rule, double* undecided_s) {
  blacs_dyn::calls::CallTimes times{last.sample.seconds, last.copy_s, undecided_s != nullptr ? *undecided_s : 0};
  const CallAgreement agreed = call.agree(rule, times);
  if (undecided_s != nullptr) *undecided_s = times.undecided_s;
  if (last.sample.count == 0 || last.sample.routine.empty()) return agreed;
  last.sample.seconds = times.run_s;
  speeds.add(last.sample);
  so_far[{last.sample.routine, last.sample.aspect}].spent_s += times.run_s;
  if (last.predicted_copy_s > 0) copy_factors.add(times.copy_s / last.predicted_copy_s);
  last = {};
  return agreed;
}

/// Two sizes at each place.
void Known::measure_places(CallInHand& call, const std::vector<CallPlace>& places) {
  constexpr double most_work = 3e8, most_n = 768; // some 10 ms each
  const CallProblem& problem = call.problem();
  const auto most = static_cast<double>(problem.n);
  const double by_work = most * std::cbrt(most_work / std::max(1.0, problem.work));
  const auto n = static_cast<std::int64_t>(std::max(8.0, std::min({most_n, by_work, most - 1})));
  advise::CallsSoFar& so_far_here = so_far_of(call);
  for (const CallPlace& place : places) {
    for (const std::int64_t size : {n / 3 + 1, n}) {
      const CallInHand::Measured measured = call.measure_at(place, size);
      so_far_here.measured_s += measured.spent_s;
      speeds.add({call.routine(), problem.aspect, place, size, measured.work, measured.seconds, 1});
    }
    host().board().measured_place();
  }
  ++so_far_here.rounds;
}

double Known::copies_of(const CallInHand& call, const CallPlace& place) {
  if (!machine) machine = call.measure_machine();
  const auto [at, is_new] = copies_s.try_emplace({call.hash(), place}, 0);
  if (is_new) at->second = call.predicted_copies(place, *machine);
  return at->second;
}

std::vector<advise::CallOption> Known::options_for(CallInHand& call) {
  const CallProblem& problem = call.problem();
  std::vector<CallPlace> places = advise::call_places(problem.place.grid, problem.place.nb);
  places.insert(places.begin(), problem.place);
  constexpr double slowest_per_s = 1e9; // operations of a process
  if (advise::is_time_to_measure(so_far_of(call), problem.work / (slowest_per_s * problem.processes)))
    measure_places(call, places);
  std::vector<advise::CallOption> options;
  for (const CallPlace& place : places) {
    const advise::CallExpectation there = speeds.expect(call.routine(), problem.aspect, place, problem.n, problem.work);
    const bool is_moved = !(place == problem.place) && !std::isnan(there.seconds);
    options.push_back({place, there.seconds, is_moved ? copy_factor() * copies_of(call, place) : 0, there.spread_s});
  }
  return options;
}

} // namespace calls
