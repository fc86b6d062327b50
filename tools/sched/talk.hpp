// SPDX-License-Identifier: BSD-3-Clause
// The scheduler's offer to a job that may grow, and the part that the job takes. Pure.
#pragma once
#include <vector>

#include "launch.hpp"

namespace sched {

/// The processors with these ids, by host.
std::vector<Host> offer_of(const Hosts& hosts, const std::vector<int>& ids);

/// The offered `ids` that an answer takes by naming hosts with slots: on each host the lowest.
/// @throws base::Error{bad_state} for ids that were not offered.
std::vector<int> taken_of(const Hosts& hosts, const std::vector<int>& ids, const std::vector<Host>& answer);

/// The n processors of a job that reports its number of processes on each host: of each host the first of `candidates`
/// there. Unknown hosts are ignored, and so is any number beyond n; the first of the other candidates complete it.
/// @return ascending; fewer than n where there are fewer candidates.
std::vector<int> booked_of(const Hosts& hosts, const std::vector<int>& candidates, const std::vector<Host>& reported,
                           int n);

/// Seconds of a step on each size, where processors differ in speed. Those of a job that has `own` are the lowest of
/// them, then the fastest of `free`. The known times were measured at `speed`, the mean of its processors.
std::vector<double> steps_by_speed(const std::vector<double>& step_s, const std::vector<int>& sizes,
                                   const std::vector<double>& speeds, const std::vector<int>& own,
                                   const std::vector<int>& free, double speed);
double mean_speed(const std::vector<double>& speeds, const std::vector<int>& ids); ///< 1 where there are none

/// Speed of each processor, by id; empty where all are equal.
std::vector<double> speeds_of(const Hosts& hosts);

} // namespace sched
