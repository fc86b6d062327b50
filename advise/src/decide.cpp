// SPDX-License-Identifier: BSD-3-Clause
#include "advise/decide.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/payoff.hpp"
#include "advise/step_time.hpp"
#include "base/status.hpp"

namespace advise {
namespace {

using base::GridShape;

Decision declined(std::string why) {
  Decision d;
  d.why = std::move(why);
  return d;
}

Decision not_allowed(const Situation& s, GridShape to) {
  return declined(
      fmt::format("{} is not among the grids that the application allows ({})", to_string(to), s.allowed.text()));
}

/// Where no allowed grid has as few, or as many, processes.
Decision none_allowed(const Situation& s, const std::string& processes) {
  return declined(
      fmt::format("no allowed grid has {}{}{}", processes,
                  s.allowed.only_adds() ? fmt::format(" and keeps the rows and columns of {}", to_string(s.grid)) : "",
                  s.allowed.text().empty() ? "" : " (" + s.allowed.text() + ")"));
}

/// Why the form does not lead to this grid; empty: it does.
std::string not_of_form(const Situation& s, GridShape to, Form form) {
  const bool are_rows = to.nprow < s.grid.nprow;
  if (form != gridmap::Strategy::local || (!are_rows && to.npcol >= s.grid.npcol)) return {};
  return fmt::format("{} has {} {}, expected at least the {} of {}: the form local only adds rows and columns; request "
                     "the grid without it",
                     to_string(to), are_rows ? to.nprow : to.npcol, are_rows ? "row(s)" : "column(s)",
                     are_rows ? s.grid.nprow : s.grid.npcol, to_string(s.grid));
}

std::string shown(const Prediction& p) {
  return p.is_measured ? fmt::format("{:.3g} s", p.seconds)
                       : fmt::format("{:.3g} s (predicted, +-{:.2g})", p.seconds, p.error);
}

/// The price: empty when the change may be made, otherwise why not.
std::string cannot_pay_off(const Situation& s, GridShape to, const Forecast& f) {
  if (to.size() <= s.grid.size()) return {};
  const bool is_hopeless = f.then.is_measured && f.payoff_at_best < 0; // for any number of steps
  if (s.steps_left < 0 && !is_hopeless) return {};
  if (f.payoff_at_best >= 0 && f.payoff_at_best <= s.steps_left) return {};
  const std::string steps =
      fmt::format("a step takes {} on {} and {} on {}", shown(f.now), to_string(s.grid), shown(f.then), to_string(to));
  if (f.payoff_at_best < 0) return fmt::format("{} would not be quicker: {}", to_string(to), steps);
  return fmt::format("{} costs more time than it saves: the change takes {:.3g} s and needs {} steps to win that back, "
                     "{} are left; {}",
                     to_string(to), f.resize_s(),
                     f.payoff_steps >= 0 ? std::to_string(f.payoff_steps)
                                         : fmt::format("{} (at best)", f.payoff_at_best),
                     s.steps_left, steps);
}

bool is_measured(const Situation& s, GridShape shape) {
  const auto at = s.steps.find(shape);
  return at != s.steps.end() && at->second.count > 0;
}

/// A growth from a grid that keeps all cores busy to a grid without measurements.
bool is_beyond_cores(const Situation& s, GridShape to) {
  return s.cores > 0 && to.size() > s.grid.size() && s.grid.size() >= s.cores && !is_measured(s, to);
}

GridShape used(const Situation& s, GridShape grid) {
  return s.used_grid ? s.used_grid(grid) : grid;
}

/// Why a larger grid has nothing for its new processes; empty: they get a part of some matrix.
std::string no_data(const Situation& s, GridShape to) {
  const GridShape there = used(s, to);
  if (to.size() <= s.grid.size() || is_measured(s, to) || there.size() > used(s, s.grid).size()) return {};
  return fmt::format(
      "{} gives new processes no part of any matrix: there are blocks for {} processes ({}). What helps: "
      "smaller blocks (dyngrid_matrix_reblock), or a rule for them (dyngrid_matrix_set_rule); a "
      "request with force overrides this check",
      to_string(to), there.size(), to_string(there));
}

std::string too_many(const Situation& s, int procs) {
  return fmt::format("{} processes on {} core(s), expected at most {} ({} a core); a request with force overrides this "
                     "check",
                     procs, s.cores, s.most(), s.per_core);
}

std::string no_gain(const Situation& s, int procs) {
  return fmt::format("{} processes on {} core(s): no gain is predicted beyond the cores; a request with force "
                     "overrides this check",
                     procs, s.cores);
}

Decision accepted(const Situation& s, GridShape to, std::string why, bool force) {
  if (!force && s.steps_left == 0 && to.size() > s.grid.size())
    return declined(fmt::format("{} costs more time than it saves: no steps are left", to_string(to)));
  Decision d{true, to, std::move(why), forecast(s, to), std::nullopt};
  if (force) return d;
  const bool is_larger = to.size() > s.grid.size();
  const std::string without_data = no_data(s, to);
  const std::string against = is_larger && s.most() > 0 && to.size() > s.most() ? too_many(s, to.size())
                              : !without_data.empty()                           ? without_data
                              : is_beyond_cores(s, to)                          ? no_gain(s, to.size())
                              : d.forecast                                      ? cannot_pay_off(s, to, *d.forecast)
                                                                                : "";
  if (against.empty()) {
    if (is_larger && d.forecast && d.forecast->payoff_steps >= 0)
      d.why += fmt::format("; the time saved exceeds the cost after {} steps ({})", d.forecast->payoff_steps,
                           d.forecast->then.is_measured ? "measured" : "predicted");
    return d;
  }
  d.is_accepted = false;
  d.to = {};
  d.why = against;
  return d;
}

/// Whether a grid of `procs` processes lies among those measured: beyond them nothing is known, and the largest is
/// tried.
bool reaches(const Situation& s, GridShape to) {
  int p = 0, q = 0;
  for (const auto& [shape, times] : s.steps) {
    p = std::max(p, shape.nprow);
    q = std::max(q, shape.npcol);
  }
  return to.nprow <= p && to.npcol <= q;
}

int started(const Situation& s, GridShape to) {
  return std::max(0, to.size() - s.grid.size() - s.parked);
}

Cost planned(const Situation& s, GridShape to) {
  return s.planned_exchange ? s.planned_exchange(s.grid, to) : Cost();
}

} // namespace

Cost change_cost(const Situation& s, GridShape to) {
  return s.change(s.grid, to, started(s, to), planned(s, to));
}

std::optional<Forecast> forecast(const Situation& s, GridShape to) {
  std::optional<Forecast> f = s.forecast(s.grid, to, started(s, to), planned(s, to));
  const std::optional<Prediction> now = s.step(s.grid);
  if (f && !f->then.is_measured && !no_data(s, to).empty()) { // processes without data shorten no step
    f->then.seconds = f->now.seconds;
    f->payoff_steps = f->payoff_at_best = -1;
    return f;
  }
  if (s.gain <= 0 || !now || (f && f->then.is_measured)) return f;
  f = Forecast{};
  f->now = f->then = *now;
  f->then.is_measured = false;
  f->then.seconds /= s.gain;
  f->change = change_cost(s, to);
  f->payoff_steps = f->payoff_at_best = payoff_point(f->resize_s(), f->now.seconds, f->then.seconds);
  return f;
}

Decision decide_resize(const Situation& s, GridShape to, bool force, Form form) {
  if (to == s.grid) return declined(fmt::format("the grid is {} already", to_string(to)));
  if (const std::string why = not_of_form(s, to, form); !why.empty()) return declined(why);
  if (!force && !s.allowed.permits(to)) return not_allowed(s, to);
  return accepted(s, to, "as asked", force);
}

Decision decide_resize_without(const Situation& s, GridShape to, const Without& without, bool force, Form form) {
  if (const std::string why = not_of_form(s, to, form); !why.empty()) return declined(why);
  if (!force && !s.allowed.permits(to)) return not_allowed(s, to);
  std::vector<int> named;
  try {
    named = without.among(s.processes);
  } catch (const base::Error& error) {
    return declined(error.what());
  }
  if (const std::string why = too_few_without(s.processes, named, to); !why.empty()) return declined(why);
  const bool is_there = std::any_of(s.processes.begin(), s.processes.end(), [&](const ProcessInfo& process) {
    return process.place >= 0 && std::find(named.begin(), named.end(), process.id) != named.end();
  });
  const std::string who = fmt::format("{}", fmt::join(named, ", "));
  if (to == s.grid && !is_there) return declined(fmt::format("the grid is {} without {} already", to_string(to), who));
  return accepted(s, to, fmt::format("as requested, without process {}", who), true);
}

Decision decide_grow(const Situation& s, std::int64_t by, bool force, Form form) {
  if (form == gridmap::Strategy::local && !s.allowed.only_adds()) {
    Situation there = s;
    there.allowed = s.allowed.adding_to(s.grid);
    return decide_grow(there, by, force);
  }
  std::int64_t most = std::min<std::int64_t>(std::int64_t{s.grid.size()} + by, 1 << 20);
  if (!force && s.cores > 0) { // more than cores only as far as it was tried
    std::int64_t tried = s.cores;
    for (const auto& [shape, times] : s.steps) tried = std::max(tried, std::int64_t{shape.nprow} * shape.npcol);
    if (s.most() > 0) tried = std::min(tried, s.most());
    if (most > tried && tried <= s.grid.size()) return declined(no_gain(s, static_cast<int>(most)));
    most = std::min(most, tried);
  }
  const auto room = static_cast<int>(most);
  const std::optional<GridShape> first = s.allowed.largest(room, s.grid.size() + 1);
  std::optional<GridShape> largest = first;
  while (!force && largest && !no_data(s, *largest).empty()) // perhaps a smaller one, or one of another form
    largest = s.allowed.largest(largest->size() - 1, s.grid.size() + 1);
  if (first && !largest) return declined(no_data(s, *first));
  if (!largest) return none_allowed(s, fmt::format("{} to {} processes", s.grid.size() + 1, room));
  if (force || !reaches(s, *largest))
    return accepted(s, *largest,
                    fmt::format("{} of the {} processes offered make {}, the largest allowed grid{}",
                                largest->size() - s.grid.size(), by, to_string(*largest),
                                s.allowed.only_adds() ? " that only adds rows and columns" : ""),
                    force);
  const StepModel model(s.steps, s.cores);
  const auto quickest = s.allowed.quickest(room, model);
  const GridShape best = quickest ? GridShape{quickest->nprow, quickest->npcol} : s.grid;
  if (best.size() <= s.grid.size()) {
    const auto now = model.at(s.grid), then = model.at(*largest);
    return declined(fmt::format("no larger grid is quicker: a step takes {} on {} and {} on {}",
                                now ? shown(*now) : "?", to_string(s.grid), then ? shown(*then) : "?",
                                to_string(*largest)));
  }
  return accepted(s, best,
                  fmt::format("{} of the {} processes offered make {}: {}", best.size() - s.grid.size(), by,
                              to_string(best), quickest->why),
                  force);
}

Decision decide_offer(const Situation& s, const Offer& offer, bool force) {
  std::vector<double> speeds(static_cast<std::size_t>(s.grid.size()), 1);
  for (const ProcessInfo& process : s.processes)
    if (process.place >= 0 && process.place < s.grid.size())
      speeds[static_cast<std::size_t>(process.place)] = process.speed;
  const auto permits = [&](GridShape to) {
    return to.size() > s.grid.size() && (force || (s.allowed.permits(to) && no_data(s, to).empty()));
  };
  const std::optional<Prediction> step = s.step(s.grid);
  Worth worth;
  if (step && s.steps_left > 0)
    worth = {static_cast<double>(s.steps_left) * step->seconds,
             [&](GridShape to) { return change_cost(s, to).total(); }};
  const Choice choice = choose(s.grid, speeds, offer, permits, worth);
  const int offered = slots_of(offer.hosts);
  if (choice.hosts.empty())
    return declined(fmt::format("none of the {} processors offered is taken: {}", offered, choice.left_because));
  Situation there = s; // the hosts add their cores
  if (there.cores > 0) there.cores += slots_of(choice.hosts);
  there.gain = choice.gain;
  Decision d =
      accepted(there, choice.grid,
               fmt::format("{} of the {} processors offered, {:g} of their speed, make {}, {:.3g} times as fast",
                           slots_of(choice.hosts), offered, choice.power, to_string(choice.grid), choice.gain),
               force);
  if (d.is_accepted) d.choice = choice;
  return d;
}

Decision decide_shrink(const Situation& s, std::int64_t by) {
  const std::int64_t rest = s.grid.size() - by;
  if (rest < 1)
    return declined(fmt::format("{} has {} processes, {} cannot be given back", to_string(s.grid), s.grid.size(), by));
  const auto most = static_cast<int>(rest);
  std::optional<GridShape> to = s.allowed.largest(most);
  if (!to) return none_allowed(s, fmt::format("{} processes or fewer", most));
  std::string why = fmt::format("the largest allowed grid of at most {} processes", most);
  if (reaches(s, *to))
    if (const auto quickest = s.allowed.quickest(most, StepModel(s.steps, s.cores))) {
      to = GridShape{quickest->nprow, quickest->npcol};
      why = quickest->why;
    }
  return accepted(s, *to, why, true);
}

Decision decide_leave(const Situation& s, const std::vector<std::int64_t>& groups) {
  std::int64_t by = 0, asleep = 0;
  for (const GroupInfo& group : s.groups)
    if (std::find(groups.begin(), groups.end(), group.number) != groups.end()) {
      by += group.active;
      asleep += group.active == 0 ? group.processes : 0;
    }
  if (by == 0 && asleep > 0) return accepted(s, s.grid, fmt::format("{} processes that sleep leave", asleep), true);
  if (by == 0) return declined("none of these process groups has processes in the grid");
  const auto most = static_cast<int>(s.grid.size() - by);
  const std::string why = fmt::format("{} processes leave", by);
  if (const auto to = s.allowed.largest(most)) return accepted(s, *to, why, true);
  const std::optional<GridShape> to = Allowed().largest(most);
  return to ? accepted(s, *to, why + "; no allowed grid is that small", true)
            : declined(why + ", and no process would stay");
}

} // namespace advise
