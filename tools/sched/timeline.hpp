// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job_table.hpp"

namespace sched {

/// The jobs on each processor over time. Pure.
struct Timeline {
  int procs = 0;
  double begin_s = 0, end_s = 0; ///< a segment without end is drawn to end_s
  std::vector<Segment> segments;
  std::map<std::int64_t, std::string> names;
};

/// A line for each processor, `columns` characters wide; jobs as letters, below a key of letters, names and
/// segments.
std::string timeline_text(const Timeline& timeline, int columns = 72);
/// A picture: time to the right, a row for each processor, a colour for each job.
std::string timeline_svg(const Timeline& timeline);

} // namespace sched
