// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <vector>

#include "policy.hpp"

namespace sched {

/// What can be said to a job that is to have ended by job.finish_by_s, before it is taken.
struct Promise {
  int procs = 0;    ///< the smallest size on which it is predicted to keep its time; 0: on none
  double end_s = 0; ///< predicted on it; on none: the earliest end there is, infinite where that is not known
};

/// The jobs that run hold their processors until they are predicted to end; those that may be asked go down to what
/// they can spare, as under "qos". Jobs that wait and have to start no later than this one get theirs first, each on
/// the smallest size that keeps its time. Where a time is not known, processors are held for ever. Pure.
///
/// @param job  with sizes, step_s and steps_left; not in `state`.
Promise promise_for(const State& state, const Job& job);

/// "4=100,8=55": the seconds that a job takes on 4 and on 8 processors, for each of `sizes`; 0 where nothing is said.
/// @throws base::Error{bad_argument}
std::vector<double> seconds_by_size(std::string_view text, const Sizes& sizes);

/// Seconds left on n processors, -1 when not known.
double seconds_left(const Job& job, int n);
/// The smallest size on which the job, going on at `from_s`, keeps its finish-by time; 0: none is known to.
int smallest_in_time(const Job& job, double from_s);
/// Seconds left on the best size; infinite when not known.
double least_seconds_left(const Job& job);
/// When a waiting job has to start at the latest, on its best size; infinite where it has no time, or is too late.
double latest_start_s(const Job& job, double now_s);

} // namespace sched
