// SPDX-License-Identifier: BSD-3-Clause
#include "advise/chain.hpp"

#include <numeric>

#include "base/cut.hpp"
#include "base/status.hpp"
#include "refusal.hpp"

namespace advise {
namespace {

void check(const ChainRequest& r) {
  if (r.speeds.empty()) refuse("balance: the list of speeds is empty, expected one per process");
  check_all("balance: speed", r.speeds, false);
  if (!r.fixed_s.empty() && r.fixed_s.size() != r.speeds.size())
    throw base::Error(base::Status::shape_mismatch,
                      "advise: balance: {} fixed times for {} processes, expected one each", r.fixed_s.size(),
                      r.speeds.size());
  check_all("balance: fixed time", r.fixed_s, true);
  check_all("balance: cost", r.costs, true);
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
