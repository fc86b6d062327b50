// SPDX-License-Identifier: BSD-3-Clause
#include "advise/chain.hpp"

#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/cut.hpp"
#include "base/status.hpp"

namespace advise {

using base::Error;
using base::Status;
namespace {

[[noreturn]] void bad_chain(const std::string& message) {
  throw Error(Status::bad_argument, "advise: balance: " + message);
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
                fmt::format("advise: balance: {} fixed times for {} processes, expected one each", fixed_s.size(),
                            speeds.size()));
  check_all("fixed time", fixed_s, true);
}

void check(const ChainRequest& request) {
  check_processes(request.speeds, request.fixed_s);
  check_all("cost", request.costs, true);
}

} // namespace

ChainTimes::ChainTimes(const ChainRequest& request)
    : prefix_(request.costs.size() + 1, 0.0), speeds_(request.speeds), fixed_(request.fixed_s) {
  std::partial_sum(request.costs.begin(), request.costs.end(), prefix_.begin() + 1);
  fixed_.resize(speeds_.size(), 0.0);
}

Chain balance_chain(const ChainRequest& request) {
  check(request);
  const ChainTimes time(request);
  Chain chain;
  chain.first = base::cut(time, time.processes(), time.items());
  chain.seconds = base::time_of(time, chain.first);
  return chain;
}

} // namespace advise
