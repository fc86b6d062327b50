// SPDX-License-Identifier: BSD-3-Clause
// A trace under a policy, and what its users see of it. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate.hpp"
#include "speedup.hpp"
#include "trace.hpp"

namespace sched {

struct ReplayOptions {
  Speedup speedup;      ///< of the malleable jobs
  double resize_s = 10; ///< what a change of size costs
  PolicyOptions policy;
  SimulationOptions simulation; ///< deadline_s, unresponsive_s and cores are looked at
};

/// Of the jobs of one class; percentiles are values that occur (nearest rank).
struct Spread {
  double mean = 0, median = 0, p95 = 0, p99 = 0, most = 0;
};
/// @param values  put in order. All zero where there is none.
Spread spread_of(std::vector<double>& values);

struct JobClass {
  std::string name; ///< "all", "1", "2-9", ..., "rigid", "malleable"
  std::int64_t jobs = 0;
  Spread wait_s, response_s;
  Spread slowdown; ///< bounded: response over the run time on the size asked for, that of at least 10 s; at least 1
};

struct ReplayResult {
  std::vector<JobClass> classes; ///< "all" first, none is empty
  double used = 0;               ///< processor time that jobs had, over the machine's from the first arrival on
  double span_s = 0;             ///< from the first arrival to the last end
  std::int64_t resizes = 0;
  /// Of jobs with a finish-by time: those that could keep it on an empty machine, those of them that did, and the
  /// others.
  std::int64_t feasible = 0, kept = 0, infeasible = 0;
};

/// The bound below which run times count as 10 s in a slowdown. Source: Feitelson et al. 1997.
double bounded_slowdown(double response_s, double run_s);

/// The sizes of a malleable job: a quarter, half, once, twice and four times what it asked for, within the machine.
Sizes malleable_sizes(int asked, int procs);

/// @param policy  easy, conservative, or one of make_policy. The first two know rigid jobs only: all run on what they
/// asked for. @throws base::Error{bad_argument}
ReplayResult replay(const Trace& trace, std::string_view policy, const ReplayOptions& options);

} // namespace sched
