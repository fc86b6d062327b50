// SPDX-License-Identifier: BSD-3-Clause
// What the scheduler offers to a job that may grow, and what of it the job takes. Pure.
#pragma once
#include <vector>

#include "launch.hpp"

namespace sched {

/// The processors with these ids, by host.
std::vector<Host> offer_of(const Hosts& hosts, const std::vector<int>& ids);

/// Which of the offered `ids` an answer takes that names hosts with slots: on each host the lowest.
/// @throws base::Error{bad_state} for what was not offered.
std::vector<int> taken_of(const Hosts& hosts, const std::vector<int>& ids, const std::vector<Host>& answer);

/// Which n processors a job has that says how many of its processes are where: of each host the first of `candidates`
/// there. What it says of hosts that are not known is left out, and so is what would be more than n; the first of the
/// other candidates fill it up. @return ascending; fewer than n where there are not so many candidates.
std::vector<int> booked_of(const Hosts& hosts, const std::vector<int>& candidates, const std::vector<Host>& said,
                           int n);

/// Seconds of a step on each size, where the processors of that size differ in speed: those of a job that has `own` are
/// the lowest of them, then the fastest of `free`. What is known was seen at `speed`, the mean of its processors.
std::vector<double> steps_by_speed(const std::vector<double>& step_s, const std::vector<int>& sizes,
                                   const std::vector<double>& speeds, const std::vector<int>& own,
                                   const std::vector<int>& free, double speed);
double mean_speed(const std::vector<double>& speeds, const std::vector<int>& ids); ///< 1 where there are none

/// Speed of each processor, by id; empty where all are alike.
std::vector<double> speeds_of(const Hosts& hosts);

} // namespace sched
