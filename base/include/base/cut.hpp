// SPDX-License-Identifier: BSD-3-Clause
// Items in a row, cut into one stretch for each part so that the slowest part takes the least time. Exact, for any time
// that is a function of a part and its stretch and does not fall when the stretch gets longer. Source: the parametric
// search of Pinar, Tabak, Aykanat 2008.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace base {

using Borders = std::vector<std::int64_t>; ///< part i has the items borders[i] .. borders[i+1]-1

/// The end of the longest stretch from `from` that takes at most `seconds`; -1 when not even an empty one does.
template <class Time>
std::int64_t longest(const Time& time, int process, std::int64_t from, std::int64_t items, double seconds) {
  if (time(process, from, from) > seconds) return -1;
  std::int64_t fits = from, too_long = items + 1;
  while (too_long - fits > 1) {
    const std::int64_t middle = fits + (too_long - fits) / 2;
    (time(process, from, middle) <= seconds ? fits : too_long) = middle;
  }
  return fits;
}

template <class Time> double time_of(const Time& time, const Borders& first) {
  double seconds = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    seconds = std::max(seconds, time(static_cast<int>(i), first[i], first[i + 1]));
  return seconds;
}

/// Each part in turn takes as many items as fit; false when some are left over.
template <class Time> bool probe(const Time& time, int parts, std::int64_t items, double seconds, Borders& first) {
  first.assign(1, 0);
  for (int i = 0; i < parts; ++i) {
    const std::int64_t end = longest(time, i, first.back(), items, seconds);
    if (end < 0) return false;
    first.push_back(end);
  }
  return first.back() == items;
}

/// The least reachable time, from a reachable one. reach(seconds) returns a real time of at most that, or infinity.
/// Ends when nothing reaches the next smaller double.
template <class Reach> double least_time(double reached, Reach reach) {
  for (double missed = 0; reached > 0;) {
    const double below = std::nextafter(reached, 0.0);
    double middle = missed + (reached - missed) / 2;
    if (middle >= below || reached - missed <= 1e-15 * reached) middle = below;
    const double seconds = reach(middle);
    if (seconds <= middle)
      reached = seconds;
    else if (middle == below)
      break;
    else
      missed = middle;
  }
  return reached;
}

/// The borders with the least largest time.
template <class Time> Borders cut(const Time& time, int parts, std::int64_t items) {
  // all to the first part is possible, whatever the others take
  Borders first(static_cast<std::size_t>(parts) + 1, items), best;
  first[0] = 0;
  best = first;
  least_time(time_of(time, first), [&](double seconds) {
    if (!probe(time, parts, items, seconds, first)) return std::numeric_limits<double>::infinity();
    best = first;
    return time_of(time, first);
  });
  return best;
}

} // namespace base
