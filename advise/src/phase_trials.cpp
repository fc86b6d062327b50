// SPDX-License-Identifier: BSD-3-Clause
#include "advise/phase_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.hpp"

namespace advise {

using base::at;

namespace {
constexpr PhaseRules rules;
} // namespace

PhaseTrials::PhaseTrials(const std::vector<std::size_t>& candidates) {
  for (const std::size_t count : candidates) times_.emplace_back(count);
}

std::size_t PhaseTrials::Times::runs() const {
  return known >= 0 ? rules.settled : std::min(rules.settled, last.count());
}

double PhaseTrials::Times::typical() const {
  if (known >= 0 && last.count() < rules.tries) return known;
  return last.count() == 0 ? -1 : last.seconds();
}

double PhaseTrials::move_factor(const PhaseMoveKey& move) const {
  if (const auto own = moves_.find(move); own != moves_.end()) return own->second.typical();
  std::vector<double> others;
  for (const auto& [key, times] : moves_) others.push_back(times.typical());
  return others.empty() ? 1 : base::median(others);
}

std::size_t PhaseTrials::move_runs(const PhaseMoveKey& move) const {
  const auto own = moves_.find(move);
  return own == moves_.end() ? 0 : own->second.runs();
}

double PhaseTrials::hope(int phase, int candidate) const {
  const Times& t = of(phase, candidate);
  if (t.runs() >= rules.settled || t.last.count() == 0) return 1;
  const double least = t.last.least_s(), typical = t.typical();
  return typical <= 0 ? 1 : least / typical * (1 - rules.scatter / std::sqrt(static_cast<double>(t.last.count())));
}

bool PhaseTrials::wants_try(int phase, int candidate) const {
  const Times& t = of(phase, candidate);
  if (t.runs() >= rules.tries) return false;
  if (t.last.count() == 0) return true;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < times_[at(phase)].size(); ++c)
    if (const double s = typical_s(phase, static_cast<int>(c)); s >= 0) best = std::min(best, s);
  return t.last.least_s() <= rules.hopeless * best;
}

std::optional<int> PhaseTrials::next(int phase) const {
  std::optional<int> least;
  for (int c = 0; c < static_cast<int>(times_[at(phase)].size()); ++c)
    if (wants_try(phase, c) && (!least || of(phase, c).last.count() < of(phase, *least).last.count())) least = c;
  return least;
}

bool PhaseTrials::is_all_tried() const {
  for (int p = 0; p < static_cast<int>(times_.size()); ++p)
    if (next(p)) return false;
  return true;
}

void PhaseTrials::use(int phase, int candidate) {
  used_.push_back({{phase, candidate}, {of(phase, candidate).runs(), typical_s(phase, candidate)}});
}

void PhaseTrials::use(const PhaseMoveKey& move) {
  used_moves_.push_back({move, {move_runs(move), move_factor(move)}});
}

bool PhaseTrials::has_changed(const AsPlanned& then, std::size_t runs, double now) const {
  return runs > then.runs || std::abs(now - then.value) > rules.changed * then.value;
}

bool PhaseTrials::is_outdated() const {
  for (const auto& [key, then] : used_)
    if (has_changed(then, of(key.first, key.second).runs(), typical_s(key.first, key.second))) return true;
  return std::any_of(used_moves_.begin(), used_moves_.end(), [&](const auto& used) {
    return has_changed(used.then, move_runs(used.key), move_factor(used.key));
  });
}

} // namespace advise
