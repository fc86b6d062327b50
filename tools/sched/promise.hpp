// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <vector>

#include "policy.hpp"

namespace sched {

/// The prediction for a job with the required end job.finish_by_s, before it is accepted.
struct Promise {
  int procs = 0;    ///< the smallest size that is predicted to meet the time; 0: none
  double end_s = 0; ///< predicted on it; on none: the earliest possible end, infinite where that is not known
};

/// Running jobs hold their processors until their predicted end; those that may be asked shrink as far as they can, as
/// under "qos". Waiting jobs with a latest start no later than this one's get theirs first, each on the smallest size
/// that keeps its time. Where a time is not known, processors are held for ever. Pure.
///
/// @param job with sizes, step_s and steps_left; not in `state`.
Promise promise_for(const State& state, const Job& job);

/// "4=100,8=55": the seconds of a job on 4 and on 8 processors, for each of `sizes`; 0 where none is given.
/// @throws base::Error{bad_argument}
std::vector<double> seconds_by_size(std::string_view text, const Sizes& sizes);

/// Seconds left on n processors, -1 when not known.
double seconds_left(const Job& job, int n);
/// The smallest size on which the job, going on at `from_s`, is known to keep its finish-by time; 0: none.
int smallest_in_time(const Job& job, double from_s);
/// Seconds left on the best size; infinite when not known.
double least_seconds_left(const Job& job);
/// The latest start of a waiting job, on its best size; infinite where it has no required end, or is too late.
double latest_start_s(const Job& job, double now_s);

} // namespace sched
