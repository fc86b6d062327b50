// SPDX-License-Identifier: BSD-3-Clause
// Jobs of real machines, as the archives keep them: the Standard Workload Format. Pure.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sched/time.hpp"

namespace sched {

/// A job that ran `run_s` seconds on `procs` processors.
struct TraceJob {
  std::int64_t id = 0; ///< as the trace numbers it
  double submit_s = 0, run_s = 0;
  double estimate_s = 0; ///< what its user said that it would take; never below run_s
  int procs = 1;
  bool is_malleable = false;
  double finish_by_s = never; ///< infinite: whenever
};

/// What a trace has besides plain jobs, and the first line of it.
struct TraceRemark {
  std::string what;
  bool is_left_out = false; ///< these jobs are not among Trace::jobs
  std::int64_t jobs = 0, first_line = 0;
};

struct Trace {
  std::vector<TraceJob> jobs; ///< by submit_s, of equals in the order of the file
  int procs = 0;              ///< of the machine
  std::int64_t lines = 0;     ///< of jobs, all of them
  std::vector<TraceRemark> remarks;
};

/// Reads the Standard Workload Format, version 2 (Chapin et al. 1999): lines of 18 numbers, -1 for what is not known;
/// header and comments begin with ';'. Processors are those asked for (field 8), else those allocated (5).
///
/// @param procs  of the machine; 0: what the header says, MaxProcs or else MaxNodes.
/// @throws base::Error{bad_argument} that names `where` and the line.
Trace parse_swf(std::string_view text, std::string_view where, int procs = 0);

/// Writes it in the same format. What a TraceJob does not know is -1.
void write_swf(std::ostream& out, const Trace& trace, std::string_view note);

/// Work that arrives over what the machine can do meanwhile: sum of procs * run_s over procs * (last - first submit).
double offered_load(const Trace& trace);
/// Stretches or shrinks the times between arrivals until that is so.
/// @throws base::Error{bad_argument} when all jobs come at once.
void set_offered_load(Trace& trace, double load);

} // namespace sched
