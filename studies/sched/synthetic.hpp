// SPDX-License-Identifier: BSD-3-Clause
// Workloads after published models, as traces. Pure; the same seed gives the same jobs on every platform.
#pragma once
#include <cstdint>

#include "speedup.hpp"
#include "trace.hpp"

namespace sched {

/// Rigid jobs. Sizes: serial, powers of two, others; log2 of the size is uniform in two stages. ln of the run time is
/// hyper-gamma, its weights depend on the size. ln of the time between arrivals is gamma, over a daily cycle of half
/// hours. The parameters are those published for all jobs together; the largest size is the machine. Source: Lublin and
/// Feitelson 2003.
///
/// @param procs  of the machine, from 8 on. @throws base::Error{bad_argument}
Trace lublin_trace(std::int64_t jobs, int procs, std::uint64_t seed);

/// Jobs whose average parallelism is log-uniform from 1 to the machine, and whose work in processor seconds is
/// log-uniform as well; each asks for its average parallelism, and takes work / speed-up. Arrivals are Poisson. Source:
/// Downey 1997, whose limits are those of two machines: here work is from 100 processor seconds to an hour of the whole
/// machine, or to 36 hours of the job where that is less, and the daily cycle is left out.
///
/// @param procs  of the machine, from 2 on. @throws base::Error{bad_argument}
Trace downey_trace(std::int64_t jobs, int procs, const Speedup& speedup, std::uint64_t seed);

/// Makes that part of the jobs malleable, by lot.
void set_malleable(Trace& trace, double part, std::uint64_t seed);
/// Estimates from once to `most` times the run time, uniform.
void set_estimates(Trace& trace, double most, std::uint64_t seed);
/// Finish-by times: from `least` to `most` times the run time after the arrival, uniform.
void set_finish_by(Trace& trace, double least, double most, std::uint64_t seed);

} // namespace sched
