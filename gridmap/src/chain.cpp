// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/index.hpp"
#include "base/status.hpp"

namespace gridmap {

using base::Error;
using base::Status;
namespace {

constexpr double out_of_reach = std::numeric_limits<double>::infinity();

using base::at;

[[noreturn]] void bad_chain(const std::string& message) {
  throw Error(Status::bad_argument, "gridmap: balance: " + message);
}

void check_all(std::string_view what, const std::vector<double>& values, bool may_be_0) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]) || values[k] < 0 || (values[k] == 0 && !may_be_0))
      bad_chain(
          fmt::format("{} {} is {}, expected a finite number {}", what, k, values[k], may_be_0 ? "from 0" : "above 0"));
}

void check_processes(const std::vector<double>& speeds, const std::vector<double>& fixed_s) {
  if (speeds.empty()) bad_chain("the list of speeds is empty, expected one per process");
  check_all("speed", speeds, false);
  if (!fixed_s.empty() && fixed_s.size() != speeds.size())
    throw Error(Status::shape_mismatch,
                fmt::format("gridmap: balance: {} fixed times for {} processes, expected one each", fixed_s.size(),
                            speeds.size()));
  check_all("fixed time", fixed_s, true);
}

void check(const ChainRequest& request) {
  check_processes(request.speeds, request.fixed_s);
  check_all("cost", request.costs, true);
}

/// Seconds of stretches on processes. A longer stretch is never faster, in floating point neither: prefix sums only.
class Times {
public:
  explicit Times(const ChainRequest& request)
      : prefix_(request.costs.size() + 1, 0.0), speeds_(request.speeds), fixed_(request.fixed_s) {
    std::partial_sum(request.costs.begin(), request.costs.end(), prefix_.begin() + 1);
    fixed_.resize(speeds_.size(), 0.0);
  }
  std::int64_t items() const { return static_cast<std::int64_t>(prefix_.size()) - 1; }
  int processes() const { return static_cast<int>(speeds_.size()); }
  double operator()(int process, std::int64_t from, std::int64_t to) const {
    return (prefix_[at(to)] - prefix_[at(from)]) / speeds_[at(process)] + fixed_[at(process)];
  }

private:
  std::vector<double> prefix_, speeds_, fixed_;
};

/// The end of the longest stretch from `from` that takes at most `seconds`; -1 when not even an empty one does.
std::int64_t longest(const Times& time, int process, std::int64_t from, double seconds) {
  if (time(process, from, from) > seconds) return -1;
  std::int64_t fits = from, too_long = time.items() + 1;
  while (too_long - fits > 1) {
    const std::int64_t middle = fits + (too_long - fits) / 2;
    (time(process, from, middle) <= seconds ? fits : too_long) = middle;
  }
  return fits;
}

double time_of(const Times& time, const std::vector<std::int64_t>& first) {
  double seconds = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    seconds = std::max(seconds, time(static_cast<int>(i), first[i], first[i + 1]));
  return seconds;
}

/// Each process in turn takes as much as fits; false when something is left over.
bool probe(const Times& time, double seconds, std::vector<std::int64_t>& first) {
  first.assign(1, 0);
  for (int i = 0; i < time.processes(); ++i) {
    const std::int64_t end = longest(time, i, first.back(), seconds);
    if (end < 0) return false;
    first.push_back(end);
  }
  return first.back() == time.items();
}

/// The least time that can be reached, from one that was. reach(seconds) gives what really takes so long or less, or
/// infinity. Ends when nothing reaches the next smaller double.
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

} // namespace

Chain balance_chain(const ChainRequest& request) {
  check(request);
  const Times time(request);
  // all to the first process is possible, whatever the others' fixed times are
  std::vector<std::int64_t> first(at(time.processes()) + 1, time.items());
  first[0] = 0;
  Chain chain;
  chain.first = first;
  chain.seconds = least_time(time_of(time, first), [&](double seconds) {
    if (!probe(time, seconds, first)) return out_of_reach;
    chain.first = first;
    return time_of(time, first);
  });
  return chain;
}

} // namespace gridmap
