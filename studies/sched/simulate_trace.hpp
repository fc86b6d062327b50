// SPDX-License-Identifier: BSD-3-Clause
// The part of workload_simulator that runs a trace, or a synthetic one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "replay.hpp"

namespace command {

struct TraceOptions {
  std::string swf, synthetic, speedup = "linear", finish_by, write_swf;
  double load = 0, malleable = 0, estimates = 0, resize_s = 10;
  bool is_wanted() const { return !swf.empty() || !synthetic.empty(); }
};

/// What of the other options matters here.
struct TraceRun {
  std::vector<std::string> policies;
  sched::PolicyOptions policy_options;
  sched::SimulationOptions simulation;
  std::int64_t jobs = 0; ///< of a synthetic trace
  int procs = 0;         ///< 0: what the trace says
  std::uint64_t seed = 1;
  std::string csv, plot;
  bool json = false;
};

void add_trace_options(base::CommandLine& app, TraceOptions& o);
/// @throws Failure for an option of a trace that is given without one.
void refuse_without_trace(const base::CommandLine& app, const TraceOptions& o);
/// Runs the policies one after the other and prints. @throws Failure, base::Error
void run_trace(const TraceOptions& o, const TraceRun& run);

} // namespace command
