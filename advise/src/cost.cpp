// SPDX-License-Identifier: BSD-3-Clause
#include "advise/cost.hpp"

#include <algorithm>
#include <utility>

#include "advise/payoff.hpp"
#include "base/statistics.hpp"

namespace advise {
namespace {

/// The mean of the exchanges from -> to; empty when there was none.
std::optional<double> measured_exchange(const std::vector<ChangeCost>& changes, GridShape from, GridShape to) {
  double sum = 0, count = 0;
  for (const ChangeCost& c : changes)
    if (c.from == from && c.to == to) {
      sum += c.exchange_s;
      ++count;
    }
  if (count == 0) return std::nullopt;
  return sum / count;
}

/// Measured over planned.
double correction(const std::vector<ChangeCost>& changes) {
  std::vector<double> ratios;
  for (const ChangeCost& c : changes)
    if (c.predicted_exchange_s > 0 && c.exchange_s > 0) ratios.push_back(c.exchange_s / c.predicted_exchange_s);
  return ratios.empty() ? 1 : base::median(std::move(ratios));
}

} // namespace

double Cost::total() const {
  double sum = 0;
  for (const Term& term : terms) sum += term.seconds;
  return sum;
}

double Cost::of(std::string_view name) const {
  for (const Term& term : terms)
    if (term.name == name) return term.seconds;
  return 0;
}

Cost& Cost::operator+=(const Cost& more) {
  for (const Term& term : more.terms) {
    const auto here = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.name == term.name; });
    if (here == terms.end())
      terms.push_back(term);
    else
      here->seconds += term.seconds;
  }
  return *this;
}

Cost& Cost::operator*=(double factor) {
  for (Term& term : terms) term.seconds *= factor;
  return *this;
}

Cost exchange_cost(const Machine& machine, const PlanVolume& volume) {
  double wire = volume.wire_bytes / machine.bandwidth_bytes_per_s;
  if (volume.is_contended) wire *= 1 + machine.contention;
  double packing = volume.touched_bytes / machine.pack_bytes_per_s;
  if (machine.cores > 0 && volume.processes > machine.cores)
    packing = std::max(packing, volume.packed_bytes / machine.pack_bytes_per_s / machine.cores);
  return {{{"latency", static_cast<double>(volume.turns) * machine.latency_s},
           {"bandwidth", wire},
           {"packing", std::max(0.0, packing - wire)}}};
}

double usual_spawn_s(int n) {
  constexpr GridRules rules;
  return n <= 0 ? 0 : rules.start_s + rules.start_each_s * n;
}

double predict_spawn(const std::vector<ChangeCost>& growths, int n, double otherwise) {
  if (n <= 0) return 0;
  double count = 0, mean_n = 0, mean_s = 0;
  for (const ChangeCost& c : growths) {
    if (c.spawned <= 0) continue;
    ++count;
    mean_n += c.spawned;
    mean_s += c.spawn_s;
  }
  if (count == 0) return otherwise;
  mean_n /= count;
  mean_s /= count;
  double nn = 0, ns = 0;
  for (const ChangeCost& c : growths) {
    if (c.spawned <= 0) continue;
    nn += (c.spawned - mean_n) * (c.spawned - mean_n);
    ns += (c.spawned - mean_n) * (c.spawn_s - mean_s);
  }
  // more processes never take less time; of one size only, nothing is known of the slope
  const double slope = nn > 0 ? std::max(0.0, ns / nn) : 0;
  return std::max(0.0, mean_s + slope * (n - mean_n));
}

double Forecast::exchange_s() const {
  double sum = 0;
  for (const Term& term : change.terms)
    if (term.name != "spawn" && term.name != "merge" && term.name != "plan") sum += term.seconds;
  return sum;
}

Cost CostModel::change(GridShape from, GridShape to, int started, const Cost& planned) const {
  Cost cost{{{"spawn", predict_spawn(spawns, started, usual_spawn_s ? usual_spawn_s(started) : 0)},
             {"merge", 0},
             {"plan", 0}}};
  for (const ChangeCost& c : changes) {
    cost.terms[1].seconds += c.merge_s / static_cast<double>(changes.size());
    cost.terms[2].seconds += c.plan_s / static_cast<double>(changes.size());
  }
  if (const auto measured = measured_exchange(changes, from, to)) return cost += {{{"exchange", *measured}}};
  Cost exchange = planned;
  return cost += exchange *= correction(changes);
}

std::optional<Forecast> CostModel::forecast(GridShape from, GridShape to, int started, const Cost& planned) const {
  const StepModel model(steps, cores);
  const auto now = model.at(from), then = model.at(to);
  if (!now || !then) return std::nullopt;
  Forecast f;
  f.now = *now;
  f.then = *then;
  f.change = change(from, to, started, planned);
  f.payoff_steps = payoff_point(f.resize_s(), now->seconds, then->seconds);
  f.payoff_at_best = payoff_point(f.resize_s(), now->seconds + now->error, std::max(0.0, then->seconds - then->error));
  return f;
}

} // namespace advise
