// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/timetable.hpp"

#include "base/status.hpp"
#include "base/text.hpp"

namespace gridmap {

using base::Error;
using base::Status;

namespace {

TimedResize parse_entry(std::string_view entry, std::string_view where) {
  const std::size_t colon = entry.find(':');
  const std::size_t at = entry.find('@');
  const auto step = base::whole_number<long>(entry.substr(0, colon));
  const auto shape =
      colon == std::string_view::npos ? std::nullopt : base::grid_shape_from(entry.substr(colon + 1, at - colon - 1));
  if (!step || *step < 0 || !shape)
    throw Error(Status::bad_argument, "entry \"{}\" of {} is not STEP:ROWSxCOLUMNS, as in 5:3x3,10:4x4@local2", entry,
                where);
  TimedResize resize{*step, *shape};
  if (at != std::string_view::npos) resize.placement = parse_placement(entry.substr(at + 1), where);
  return resize;
}

} // namespace

std::vector<TimedResize> parse_timetable(std::string_view text, std::string_view where) {
  std::vector<TimedResize> timetable;
  text = base::trimmed(text);
  if (!text.empty() && text.back() == ',') text.remove_suffix(1); // the last entry may have one too
  for (const std::string& entry : base::split(text, ',')) {
    const TimedResize resize = parse_entry(entry, where);
    if (!timetable.empty() && resize.step <= timetable.back().step)
      throw Error(Status::bad_argument, "{} names step {} after step {}, expected ascending steps", where, resize.step,
                  timetable.back().step);
    timetable.push_back(resize);
  }
  return timetable;
}

} // namespace gridmap
