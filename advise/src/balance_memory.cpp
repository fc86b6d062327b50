// SPDX-License-Identifier: BSD-3-Clause
#include "advise/balance_memory.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "advise/topology.hpp"
#include "base/index.hpp"

namespace advise {

using base::at;

namespace {

constexpr std::size_t most_steps = 512, most_observations = 32; ///< that are kept
constexpr const char* beyond_plan_term = "beyond plan";         ///< a term of the cost of a change
constexpr BalanceRules rules;

WorkOnGrid work_of(const BalanceRequest& s) {
  return {{s.m, s.row_costs}, {s.n, s.col_costs}};
}

/// Of the slowest process, if all work of a step were a second at speed 1. speeds: by place.
double slowest_s(const WorkOnGrid& work, const BalanceLayout& layout, const std::vector<double>& speeds) {
  const std::vector<double> parts = work.parts(layout.rows, layout.cols);
  double longest = 0;
  for (std::size_t place = 0; place < parts.size(); ++place) longest = std::max(longest, parts[place] / speeds[place]);
  return longest;
}

/// Above 0, as decide_balance() needs it.
double share_of(const ProcessLoad& load) {
  return std::clamp(load.share, LoadRules().least_share, 1.0);
}

bool is_near(double a, double b, double within) {
  return std::abs(a - b) <= within * std::max(std::abs(a), std::abs(b));
}

bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double one, double other) { return is_near(one, other, rules.same_speeds); });
}

/// Steps on one grid do not show how the time that is not work depends on the grid: it counts as the same on each.
void set_terms(BalanceRequest& r, const std::vector<StepObservation>& observed) {
  const StepTerms terms = fit_step_terms(observed);
  r.work_s = terms.work_s;
  r.volume_s = terms.volume_s;
  r.border_s = 0;
  r.processor_part = terms.processor_part;
  const auto is_of_first = [&](const StepObservation& o) { return o.grid == observed.front().grid; };
  if (!std::all_of(observed.begin(), observed.end(), is_of_first)) return;
  const base::GridShape grid = observed.front().grid;
  r.border_s = std::exchange(r.volume_s, 0) * (1.0 / grid.nprow + 1.0 / grid.npcol);
}

/// The processes with the least share of the grid, where it is far below the largest one.
struct Competing {
  double most = 0, below = 0; ///< the largest share; a process with a share below that competes
  std::vector<int> processes;
};
Competing competing_most(const std::vector<BalanceProcess>& processes) {
  Competing c;
  double least = 1;
  for (const BalanceProcess& p : processes) {
    if (p.place < 0) continue;
    c.most = std::max(c.most, p.share);
    least = std::min(least, p.share);
  }
  c.below = rules.competes_below * c.most;
  for (std::size_t k = 0; k < processes.size(); ++k)
    if (processes[k].place >= 0 && processes[k].share < c.below && processes[k].share <= rules.competes_most * least)
      c.processes.push_back(static_cast<int>(k));
  return c;
}

/// Parts that differ so little take equally long, whatever was measured.
bool are_alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](std::int64_t one, std::int64_t other) {
    return is_near(static_cast<double>(one), static_cast<double>(other), rules.same_conditions);
  });
}

/// Since when speeds, grid and parts are unchanged.
double steady_since(const BalanceMemory& memory, double now_s) {
  double since = memory.known.changed_s;
  for (const ProcessLoad& load : memory.loads)
    if (load.place >= 0) since = std::max(since, now_s - load.held_s);
  return since;
}

/// The last ones, of those that ended at `until` or before.
UsualTime steady_steps(const BalanceMemory& memory, double now_s, double until) {
  const double since = steady_since(memory, now_s);
  UsualTime steady(rules.last_steps);
  for (const BalanceMemory::Step& step : memory.known.steps)
    if (step.begun_s >= since && step.ended_s <= until) steady.add(step.step_s);
  return steady;
}

/// A step that something else slowed down once does not predict later ones: half of the error is forgotten in a while.
double error_at(const BalanceMemory& memory, double now_s) {
  return rules.usual_error +
         (memory.error - rules.usual_error) * std::exp2((memory.error_s - now_s) / rules.error_half_s);
}

std::vector<double> all_speeds(const BalanceMemory& memory) {
  std::vector<double> speeds;
  for (const ProcessLoad& load : memory.loads) speeds.push_back(memory.speed_of(load));
  return speeds;
}

/// The layout there is: indices in memory.loads, by place.
BalanceLayout layout_now(const BalanceMemory& memory, const BalanceRequest& s) {
  BalanceLayout now{s.grid, std::vector<int>(at(s.grid.size())), s.rows, s.cols};
  for (std::size_t k = 0; k < memory.loads.size(); ++k)
    if (const int place = memory.loads[k].place; place >= 0 && place < s.grid.size())
      now.order[at(place)] = static_cast<int>(k);
  return now;
}

/// A layout with ids of processes in place of indices, and their speeds; without the time of a step.
BalanceMemory::Measured with_speeds(const BalanceMemory& memory, const BalanceLayout& layout,
                                    const BalanceRequest& request) {
  BalanceMemory::Measured m{{layout, 0}, {}, 0};
  for (int& process : m.step.order) {
    m.speeds.push_back(memory.speed_of(memory.loads[at(process)]));
    process = memory.id_of(process);
  }
  m.work = slowest_s(work_of(request), layout, m.speeds);
  return m;
}

/// In place of one that is the same; of too many the oldest is forgotten.
template <class T, class Same> void keep_newest(std::vector<T>& list, T newest, Same same) {
  const auto old = std::find_if(list.begin(), list.end(), [&](const T& other) { return same(other, newest); });
  if (old != list.end()) list.erase(old);
  list.push_back(std::move(newest));
  if (list.size() > most_observations) list.erase(list.begin());
}

void remember(BalanceMemory& memory, BalanceMemory::Measured now) {
  keep_newest(memory.known.measured, std::move(now), [](const auto& one, const auto& other) {
    return one.step == other.step && are_near(one.speeds, other.speeds);
  });
}

void observe(BalanceMemory& memory, const BalanceRequest& subject, double now_s) {
  UsualTime steady = steady_steps(memory, now_s, now_s - rules.unseen_s);
  const bool is_sure = steady.count() >= rules.sure_steps;
  if (steady.count() == 0 && memory.known.observed.empty()) steady = steady_steps(memory, now_s, now_s);
  if (steady.count() == 0) return;
  BalanceMemory::Measured now = with_speeds(memory, layout_now(memory, subject), subject);
  now.step.step_s = steady.seconds();
  StepObservation o{subject.grid, now.work, 1, now.step.step_s};
  for (const ProcessLoad& load : memory.loads)
    if (load.place >= 0) o.share = std::min(o.share, share_of(load));
  memory.known.rows_were_cut |= o.grid.nprow > 1;
  memory.known.cols_were_cut |= o.grid.npcol > 1;
  memory.known.one_process_ran |= o.grid.size() == 1;
  keep_newest(memory.known.observed, o, [](const StepObservation& one, const StepObservation& other) {
    return one.grid == other.grid && is_near(one.work, other.work, rules.same_conditions) &&
           is_near(one.share, other.share, rules.same_conditions);
  });
  if (is_sure) remember(memory, std::move(now));
}

/// Steps measured with the present speeds and costs, by processes that still exist.
std::vector<MeasuredStep> remembered(const BalanceMemory& memory, const BalanceRequest& s) {
  const bool have_no_costs = s.row_costs.are_alike() && s.col_costs.are_alike();
  const WorkOnGrid work = work_of(s);
  const BalanceLayout now = layout_now(memory, s);
  const auto is_as_now = [&](const MeasuredStep& step) { // `order` has indices
    return step.grid == now.grid && step.order == now.order && are_alike(step.rows, now.rows) &&
           are_alike(step.cols, now.cols);
  };
  std::vector<MeasuredStep> list;
  for (const BalanceMemory::Measured& known : memory.known.measured) {
    MeasuredStep step = known.step;
    std::vector<double> speeds;
    for (int& process : step.order) {
      const auto load = std::find_if(memory.loads.begin(), memory.loads.end(),
                                     [&](const ProcessLoad& other) { return other.process == process; });
      if (load == memory.loads.end()) break;
      speeds.push_back(memory.speed_of(*load));
      process = static_cast<int>(load - memory.loads.begin());
    }
    if (!are_near(speeds, known.speeds)) continue;
    if (is_as_now(step)) continue;
    if (!have_no_costs && !is_near(slowest_s(work, step, known.speeds), known.work, rules.same_conditions)) continue;
    list.push_back(std::move(step));
  }
  return list;
}

/// As long as the grids that ran: a program goes back to 7 x 1 from 3 x 1, although dyngrid would not begin with it.
void allow_aspects_that_ran(BalanceRequest& r, const std::vector<StepObservation>& observed) {
  if (r.max_aspect == 0) return;
  for (const StepObservation& o : observed) r.max_aspect = std::max(r.max_aspect, aspect(o.grid));
}

/// What is known of steps with a matrix of another size does not hold for this one.
void begin_with(BalanceMemory& memory, const BalanceRequest& subject, double now_s) {
  const bool is_other = memory.known.m != subject.m || memory.known.n != subject.n;
  if (is_other && memory.known.m != 0) {
    memory.known = {};
    memory.grid_changed(now_s);
  }
  memory.known.m = subject.m;
  memory.known.n = subject.n;
}

/// The terms of a step, and the error of its predictions.
void learn(BalanceMemory& memory, BalanceRequest& r, double now_s) {
  set_terms(r, memory.known.observed);
  r.error = error_at(memory, now_s);
  const Competing competing = competing_most(r.processes);
  std::vector<int> ids;
  for (const int k : competing.processes) ids.push_back(memory.id_of(k));
  memory.known.waiting.keep(ids);
  if (ids.empty() || r.step_s == 0) return;
  BalanceRequest apart = r; // the knowledge of the others, and of the waiting times of these
  std::vector<StepObservation> calm;
  std::copy_if(memory.known.observed.begin(), memory.known.observed.end(), std::back_inserter(calm),
               [&](const StepObservation& o) { return o.share >= competing.below; });
  if (!calm.empty()) set_terms(apart, calm);
  const std::vector<double> parts = work_of(r).parts(r.rows, r.cols);
  bool is_told = false;
  for (const int k : competing.processes) {
    BalanceProcess& p = apart.processes[at(k)];
    memory.known.waiting.saw(memory.id_of(k), parts[at(p.place)], r.step_s, now_s - r.held_s);
    const double alone = memory.alone_speed_of(memory.loads[at(k)]);
    const auto terms = memory.known.waiting.terms(memory.id_of(k), apart.work_s / (alone * competing.most));
    if (!terms) continue;
    p.waits_s = terms->waits_s;
    p.speed = apart.work_s / terms->work_s;
    p.share = std::min(1.0, p.speed / alone);
    apart.held_s = std::max(apart.held_s, now_s - terms->since_s);
    apart.error = rules.usual_error; // predictions without that were wrong for a reason that is known by now
    is_told = true;
  }
  if (is_told) r = std::move(apart);
}

} // namespace

// ---- steps

void BalanceMemory::step(double ended_s, double step_s, double size) {
  if (size < rules.least_size) return;
  if (known.is_cold) { // the first one on a grid fills caches and buffers
    known.is_cold = false;
    return;
  }
  known.steps.push_back({ended_s - step_s, ended_s, step_s / size});
  if (known.steps.size() > most_steps) known.steps.pop_front();
  if (known.trial && known.trial->after.count() < rules.judged_steps) known.trial->after.add(step_s / size);
}

void BalanceMemory::begin_panels(double now_s) {
  outside = std::exchange(known, {});
  grid_changed(now_s);
}

void BalanceMemory::end_panels() {
  if (!outside) return;
  known = *std::exchange(outside, std::nullopt);
  decided.reset();
}

void BalanceMemory::grid_changed(double now_s) {
  known.steps.clear();
  known.is_cold = true;
  known.changed_s = now_s;
  decided.reset();
}

// ---- loads

double BalanceMemory::alone_speed_of(const ProcessLoad& load) const {
  const auto found = alone.find(load.process);
  return found == alone.end() ? load.speed : found->second.speed;
}

double BalanceMemory::speed_of(const ProcessLoad& load) const {
  return std::max(alone_speed_of(load) * share_of(load), std::numeric_limits<double>::min());
}

void BalanceMemory::speed_given(int id, double speed) {
  alone[id].given = speed;
}

void BalanceMemory::take(std::vector<ProcessLoad> newest, double now_s) {
  for (const ProcessLoad& before : loads) {
    if (before.place < 0) continue;
    const bool is_in = std::any_of(newest.begin(), newest.end(), [&](const ProcessLoad& load) {
      return load.process == before.process && load.place >= 0;
    });
    if (!is_in) left_s[before.process] = now_s;
  }
  for (const ProcessLoad& load : newest) {
    Alone& own = alone[load.process]; // unless a balance gave it that speed, the program did
    if (load.speed != own.given && load.speed > 0) own.speed = own.given = load.speed;
  }
  loads = std::move(newest);
}

bool BalanceMemory::is_settled(double now_s) const {
  const bool are_near = std::all_of(loads.begin(), loads.end(), [&](const ProcessLoad& load) {
    return load.place < 0 || (std::abs(load.latest - load.share) <= rules.settled_within);
  });
  return are_near || now_s - steady_since(*this, now_s) >= rules.settled_s;
}

bool BalanceMemory::is_due(double now_s) const {
  if (loads.empty() || !is_settled(now_s) || now_s < next_s) return false;
  if (!decided) return true;
  if (now_s - decided->at_s >= (are_costs_new ? rules.costs_s : rules.again_s)) return true;
  std::vector<double> speeds;
  for (const ProcessLoad& load : loads)
    if (load.place >= 0) speeds.push_back(speed_of(load));
  if (!are_near(speeds, decided->speeds)) return true;
  return now_s - steady_since(*this, now_s) >= rules.longer_held * decided->held_s;
}

void BalanceMemory::decision_took(double seconds, double now_s) {
  next_s = now_s + seconds / rules.decision_part;
}

BalanceDecision decide_balance(BalanceRequest subject, BalanceMemory& memory, double now_s) {
  BalanceDecision decision;
  int in_grid = 0;
  for (const ProcessLoad& load : memory.loads)
    if (load.place >= 0) {
      ++in_grid;
      if (load.samples == 0) decision.why_not = "the load of some processes was not measured yet";
    }
  if (in_grid != subject.grid.size()) decision.why_not = "the loads are of another grid";
  if (!decision.why_not.empty()) return decision;
  begin_with(memory, subject, now_s);
  if (memory.is_settled(now_s)) observe(memory, subject, now_s);
  if (memory.known.observed.empty()) {
    decision.why_not = "no step was measured yet";
    return decision;
  }
  const UsualTime steady = steady_steps(memory, now_s, now_s);
  BalanceRequest& r = decision.request = std::move(subject);
  r.step_s = steady.count() == 0 ? 0 : steady.seconds();
  r.measured_error = r.step_s > 0 ? steady.error_s() / r.step_s : 0;
  r.held_s = std::max(0.0, now_s - steady_since(memory, now_s));
  r.measured = remembered(memory, r);
  allow_aspects_that_ran(r, memory.known.observed);
  r.rows_were_cut = memory.known.rows_were_cut;
  r.cols_were_cut = memory.known.cols_were_cut;
  r.one_process_ran = memory.known.one_process_ran;
  BalanceMemory::Decided decided{now_s, r.held_s, {}};
  for (const ProcessLoad& load : memory.loads) {
    BalanceProcess p;
    p.speed = memory.speed_of(load);
    p.share = share_of(load);
    p.place = load.place;
    p.may_leave = load.process != 0;
    p.calm_s = load.samples > 0 ? load.calm_s : 0;
    if (const auto left = memory.left_s.find(load.process); left != memory.left_s.end())
      p.away_s = now_s - left->second;
    if (load.place >= 0) decided.speeds.push_back(p.speed);
    r.processes.push_back(p);
  }
  learn(memory, r, now_s);
  if (r.change && memory.beyond_plan.count() > 0)
    r.change = [planned = r.change, beyond_s = memory.beyond_plan.seconds()](const BalanceChoice& choice) {
      Cost cost = planned(choice);
      cost.terms.push_back({beyond_plan_term, beyond_s});
      return cost;
    };
  decision.balance = decide_balance(r);
  memory.decided = std::move(decided);
  memory.are_costs_new = false;
  return decision;
}

// ---- afterwards

void BalanceMemory::carried_out(const BalanceDecision& decision, double change_s, double now_s) {
  const Balance& balance = decision.balance.value();
  Trial trial;
  trial.outcome.action = balance.action;
  trial.outcome.predicted_before_s = balance.now.step_s();
  trial.outcome.predicted_after_s = balance.then.step_s();
  trial.outcome.before_s = decision.request.step_s;
  trial.outcome.predicted_change_s = balance.then.change.total();
  trial.outcome.change_s = change_s;
  beyond_plan.add(std::max(0.0, change_s - (balance.then.change.total() - balance.then.change.of(beyond_plan_term))));
  trial.speeds = all_speeds(*this);
  trial.from = with_speeds(*this, balance.now, decision.request);
  trial.to = with_speeds(*this, balance.then, decision.request);
  known.trial = std::move(trial);
  grid_changed(now_s);
}

std::optional<BalanceOutcome> BalanceMemory::outcome(double now_s) {
  if (!has_outcome()) return std::nullopt;
  BalanceOutcome outcome = known.trial->outcome;
  outcome.after_s = known.trial->after.seconds();
  outcome.steps = static_cast<int>(known.trial->after.count());
  Trial trial = *std::exchange(known.trial, std::nullopt);
  if (are_near(trial.speeds, all_speeds(*this))) {                    // else something else has changed, too
    if (outcome.before_s > 0 && outcome.after_s > outcome.before_s) { // the way back is known, although measured
                                                                      // briefly
      trial.from.step.step_s = outcome.before_s;
      trial.to.step.step_s = outcome.after_s;
      remember(*this, std::move(trial.from));
      remember(*this, std::move(trial.to));
      decided.reset();
    }
    const double off = outcome.after_s / outcome.predicted_after_s - 1;
    error = std::hypot(error_at(*this, now_s), off) / std::sqrt(2);
    error_s = now_s;
  }
  return outcome;
}

} // namespace advise
