// SPDX-License-Identifier: BSD-3-Clause
#include "advise/waiting.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "advise/rules.hpp"

namespace advise {
namespace {

constexpr std::size_t most_seen = 8; ///< parts of one process that are kept
constexpr BalanceRules rules;

} // namespace

/// The time of a step lies between all of it waiting, and all of it work, of every step seen before.
bool Waiting::goes_with(const Steps& steps, const Seen& now) {
  return std::all_of(steps.seen.begin(), steps.seen.end(), [&](const Seen& before) {
    const double as_work = before.step_s * now.part / before.part;
    const double least = std::min(as_work, before.step_s), most = std::max(as_work, before.step_s);
    return now.step_s >= least * (1 - rules.same_load) && now.step_s <= most * (1 + rules.same_load);
  });
}

void Waiting::saw(int process, double part, double step_s, double since_s) {
  if (!(part > 0) || !(step_s > 0)) return;
  Steps& steps = of_[process];
  const Seen now{part, step_s};
  if (!goes_with(steps, now)) steps.seen.clear();
  if (steps.seen.empty()) steps.since_s = since_s;
  const auto same = [&](const Seen& before) {
    return std::abs(before.part - part) <= rules.same_part * std::max(before.part, part);
  };
  steps.seen.erase(std::remove_if(steps.seen.begin(), steps.seen.end(), same), steps.seen.end());
  steps.seen.push_back(now);
  if (steps.seen.size() > most_seen) steps.seen.erase(steps.seen.begin());
}

void Waiting::keep(const std::vector<int>& processes) {
  for (auto each = of_.begin(); each != of_.end();)
    each = std::count(processes.begin(), processes.end(), each->first) > 0 ? std::next(each) : of_.erase(each);
}

std::optional<WaitingTerms> Waiting::terms(int process, double least_work_s) const {
  const auto found = of_.find(process);
  if (found == of_.end()) return std::nullopt;
  const std::vector<Seen>& seen = found->second.seen;
  const auto [least, most] =
      std::minmax_element(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.part < b.part; });
  if (seen.empty() || most->part < rules.parts_apart * least->part) return std::nullopt;
  const auto count = static_cast<double>(seen.size());
  double part = 0, step_s = 0; // means
  for (const Seen& s : seen) {
    part += s.part / count;
    step_s += s.step_s / count;
  }
  double squares = 0, products = 0;
  for (const Seen& s : seen) {
    squares += (s.part - part) * (s.part - part);
    products += (s.part - part) * (s.step_s - step_s);
  }
  WaitingTerms terms;
  terms.work_s = std::max(least_work_s, products / squares);
  terms.waits_s = step_s - terms.work_s * part;
  terms.since_s = found->second.since_s;
  if (terms.waits_s < rules.least_waiting * seen.back().step_s) return std::nullopt;
  return terms;
}

} // namespace advise
