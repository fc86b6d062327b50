// SPDX-License-Identifier: BSD-3-Clause
#include "grid/changes.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "dyngrid/balance.h"
#include "grid/change_reports.hpp"
#include "grid/control.hpp"
#include "grid/headroom.hpp"
#include "grid/machine_figures.hpp"
#include "grid/newcomer_command.hpp"
#include "grid/place.hpp"
#include "grid/relayout.hpp"
#include "processes/messages.hpp"

namespace blacs_dyn {

using base::Error;

// ---- what is asked for

void Changes::request(Shape to, advise::Without without) {
  requested_.reset();
  if (to.size() == 0) return;
  requested_.emplace();
  requested_->to = to;
  requested_->without = std::move(without);
}

bool Changes::request_if_none(Shape to) {
  if (requested_ || waiting_ || under_way_) return false;
  waiting_.emplace();
  waiting_->to = to;
  waiting_->placement = parts_.settings.placement;
  return true;
}

/// The program's own, the timetable's, one that has waited, or one from outside, in this order.
Changes::Asked Changes::next_asked() {
  Settings& settings = parts_.settings;
  const std::int64_t point = settings.points++;
  Asked asked;
  if (requested_) {
    asked.goal = std::exchange(requested_, std::nullopt);
    asked.goal->placement = settings.placement;
  } else if (parts_.processes.id() == 0) {
    for (const TimedRequest& entry : settings.requests)
      if (entry.step == point) {
        asked.goal.emplace();
        asked.goal->to = entry.to;
        asked.goal->placement = entry.placement.value_or(settings.placement);
      }
  }
  asked.has_waited = !asked.goal && waiting_;
  if (asked.has_waited) asked.goal = std::move(waiting_);
  waiting_.reset();
  if (control_) asked.request = control_->resize_point(parts_.registered.matrices, asked.goal.has_value());
  return asked;
}

std::uint64_t Changes::Asked::flags() const {
  if (request) return PlaceWord::outside_request;
  return goal ? std::uint64_t{PlaceWord::own_request} : 0;
}

void Changes::pass_point() {
  ++parts_.settings.points;
  if (control_) control_->resize_point(parts_.registered.matrices, true); // of the step
}

void Changes::put_off(Asked asked) {
  if (asked.request)
    asked.request->put_off();
  else
    waiting_ = std::move(asked.goal);
}

bool Changes::is_due() {
  const auto is_now = [&](const TimedRequest& entry) { return entry.step == parts_.settings.points; };
  const std::vector<TimedRequest>& timetable = parts_.settings.requests;
  const bool is_timed = parts_.processes.id() == 0 && std::any_of(timetable.begin(), timetable.end(), is_now);
  return requested_ || waiting_ || is_timed || (control_ && control_->state().is_pending()) || news() != 0;
}

/// A request from outside. Groups that have gone are left out.
Resize::Goal Changes::goal_of(const control::ResizeRequest& request) const {
  Resize::Goal goal;
  goal.to = request.to;
  goal.placement = request.placement.value_or(parts_.settings.placement);
  goal.without = request.without;
  for (const SpawnGroup& group : parts_.processes.process_set().groups) {
    const std::int64_t number = parts_.processes.number_of(group.id);
    if (group.id != 0 && std::find(request.groups.begin(), request.groups.end(), number) != request.groups.end())
      goal.leave.push_back(group.id);
  }
  goal.is_forced = request.force;
  goal.is_from_outside = request.origin == control::ResizeRequest::Origin::outside;
  goal.growth.hosts = request.hosts;
  goal.growth.form = request.form;
  goal.growth.seconds_left = control_ ? control_->state().seconds_left() : -1;
  return goal;
}

Resize::Goal Changes::agree_on_goal(const Asked& asked, bool is_own) {
  const MPI_Comm grid = parts_.grid.comm();
  const int size = parts_.processes.process_set().grid.shape.size();
  int root = 0;
  if (is_own) {
    const int mine = asked.goal ? parts_.grid.rank() + (asked.has_waited ? size : 0) : INT_MAX;
    check_mpi(MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MIN, grid), "MPI_Allreduce");
    root %= size;
  }
  Resize::Goal goal = asked.request ? goal_of(*asked.request) : asked.goal.value_or(Resize::Goal{});
  goal.is_at_point = true;
  // sent with the rest: only process 0 knows what earlier runs measured
  const double bandwidth = parts_.machine.figures().bandwidth_bytes_per_s;
  goal.growth.seconds_to_move_all = parts_.registered.matrices.bytes() / bandwidth / size;
  return value_of_root(goal, root, grid);
}

// ---- what is done

int Changes::make(Resize::Goal goal, std::optional<control::ResizeRequest> request, std::uint64_t all) {
  Resize next(parts_, std::move(goal), std::move(request));
  const bool is_at_point = next.goal().is_at_point;
  if (under_way_ && under_way_->goal().to == next.goal().to && next.goal().without.is_empty() &&
      under_way_->goal().growth.is_like(next.goal().growth) &&
      (is_at_point || under_way_->goal().placement == next.goal().placement)) {
    under_way_->take_over(next);
    return let_in(all);
  }
  if (is_at_point && under_way_ && waits_for_growth(next)) {
    if ((all & PlaceWord::own_request) == 0)
      next.put_off();
    else
      waiting_ = next.goal();
    return let_in(all);
  }
  next.say_why();
  try {
    return carry_out(next);
  } catch (const Error& error) {
    if (is_at_point) next.failed(error);
    give_back(next);
    throw;
  }
}

/// A newer request waits until the growth under way has ended, where it can use the processes that start. It also waits
/// when the growth before was called off: requests that come faster than processes start would keep the grid from ever
/// growing.
bool Changes::waits_for_growth(const Resize& newer) const {
  const Resize::Goal& goal = newer.goal();
  if (has_called_off_) return true;
  return goal.to.size() > parts_.processes.process_set().grid.shape.size() && goal.without.is_empty() &&
         goal.leave.empty() && !goal.exact && under_way_->goal().growth.is_like(goal.growth);
}

/// From the decision on. A change that is under way already is called off: before the scheduler is asked anew where it
/// has granted that one.
int Changes::carry_out(Resize& next) {
  const Resize::Goal& goal = next.goal();
  const bool is_there = next.is_grid_already();
  if (under_way_ && under_way_->goal().is_granted && next.asks_scheduler()) make_way(next);
  next.ask_scheduler(control_.get());
  next.check_room(headroom_);
  make_way(next);
  if (is_there) {
    const int outcome = relayout_.all(); // the rules may say otherwise by now
    next.already_there();
    return outcome;
  }
  next.decide(headroom_);
  const bool must_await = next.must_await() && !next.are_they_there_already();
  if (must_await && goal.is_at_point && !parts_.settings.waits) {
    next.say_sent_for();
    under_way_ = std::move(next);
    return DYNGRID_SAME;
  }
  if (must_await) next.await_newcomers();
  next.gather();
  return see_through(next);
}

Resize Changes::take_under_way() {
  Resize change = std::move(*under_way_);
  under_way_.reset();
  return change;
}

void Changes::make_way(const Resize& newer) {
  has_called_off_ = has_called_off_ || under_way_;
  const Resize::Goal& goal = newer.goal();
  call_off(fmt::format("{} is requested instead", goal.need.empty() ? to_string(goal.to) : goal.need));
}

void Changes::call_off(const std::string& why) {
  if (!under_way_) return;
  Resize change = take_under_way();
  change.call_off(why);
  give_back(change);
}

/// What the scheduler has granted, where nothing comes of it.
void Changes::give_back(const Resize& change) {
  if (change.goal().is_granted && control_) control_->state().asks_no_more();
}

int Changes::let_in(std::uint64_t all) {
  constexpr std::uint64_t is_decided = PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come;
  if (!under_way_ || (under_way_->goal().is_at_point && (all & is_decided) == 0)) return DYNGRID_SAME;
  under_way_->begin_again();
  Resize change = take_under_way();
  try {
    if (!change.goal().is_at_point) change.await_newcomers();
    if (all & PlaceWord::newcomers_do_not_come) change.tell_why_not();
    change.gather();
    return see_through(change);
  } catch (const Error& error) {
    change.failed(error);
    give_back(change);
    throw;
  }
}

int Changes::see_through(Resize& change) {
  for (;;) {
    switch (change.move_and_commit()) {
    case Resize::Outcome::resized:
      has_called_off_ = false;
      balancing_.joined(parts_.reports.last().total_s);
      return DYNGRID_RESIZED;
    case Resize::Outcome::redirected:
      under_way_ = std::move(change);
      return DYNGRID_REDIRECT;
    case Resize::Outcome::gone:
      return leave();
    case Resize::Outcome::asleep:
      requested_.reset(); // made while this change was on its way: the others have made it too
      waiting_.reset();
      break;
    }
    change.rest();
    std::optional<Resize> woken = sleep();
    if (!woken) return leave();
    change = std::move(*woken);
  }
}

std::optional<int> Changes::come_in() {
  if (parts_.processes.is_newcomer()) return join();
  if (parts_.grid.is_still_outside()) return sleep_until_needed();
  return std::nullopt;
}

int Changes::join() {
  const double started = MPI_Wtime();
  auto gathered = parts_.processes.join();
  if (!gathered) return leave();
  Resize change(parts_, std::move(*gathered), started);
  return see_through(change);
}

/// Until this process is called into a change; empty: until the end.
std::optional<Resize> Changes::sleep() {
  const double started = MPI_Wtime();
  auto woken = parts_.processes.sleep(parts_.newcomers.options());
  if (!woken) return std::nullopt;
  return Resize(parts_, std::move(*woken), started);
}

int Changes::sleep_until_needed() {
  std::optional<Resize> woken = sleep();
  return woken ? see_through(*woken) : leave();
}

int Changes::leave() {
  parts_.grid.leave();
  parts_.registered.matrices.leave();
  return DYNGRID_LEAVE;
}

int Changes::pop() {
  const ProcessSet& process_set = parts_.processes.process_set();
  if (!parts_.grid.has_me() || process_set.levels.size() < 2)
    throw Error(base::Status::bad_state, "blacs-dyn: dyngrid_pop: this is the first grid, there is none below it");
  const GridMap& level = process_set.levels[process_set.levels.size() - 2];
  const auto is_here = [&](int id) { return has(process_set.grid.ids, id); };
  Resize::Goal goal;
  goal.to = level.shape;
  goal.placement = parts_.settings.placement;
  if (std::all_of(level.ids.begin(), level.ids.end(), is_here)) {
    goal.exact = level;
    goal.exact->row_shares = goal.exact->col_shares = {}; // by the present speeds
  }
  return make(std::move(goal));
}

int Changes::balance(const Balancing::Decision& decision) {
  using Kind = Balancing::Decision::Kind;
  if (decision.kind == Kind::nothing) return DYNGRID_SAME;
  const std::vector<double> speeds = parts_.processes.know_speeds(decision.ids, decision.speeds);
  Matrix* factored = parts_.registered.matrices.find(decision.for_factors);
  const int order = factored ? std::exchange(factored->order, int{DYNGRID_ORDER_FACTOR}) : 0;
  if (factored) ++factored->relayouts; // a process that sleeps receives it
  int outcome = DYNGRID_SAME;
  try {
    if (decision.kind == Kind::relayout) {
      outcome = lay_out_anew(decision.to);
    } else {
      Resize::Goal goal;
      goal.to = decision.to.shape;
      goal.exact = decision.to;
      goal.is_at_point = true;
      outcome = make(std::move(goal));
    }
  } catch (const Error& error) {
    parts_.processes.know_speeds(decision.ids, speeds);
    if (factored) {
      factored->order = order;
      --factored->relayouts;
    }
    balancing_.failed(error.what());
    throw;
  }
  balancing_.carried_out(parts_.reports.last().total_s);
  return outcome;
}

/// New layouts by the speeds and shares of `to`. Collective over the grid. @throws agreed Error, all as before.
int Changes::lay_out_anew(const GridMap& to) {
  const ProcessSet& set = parts_.processes.process_set();
  const GridMap before = set.grid;
  GridMap now = to;
  now.speeds = set.speeds_on(to);
  parts_.processes.take_speeds(now.speeds, now);
  try {
    return relayout_.all();
  } catch (...) {
    parts_.processes.take_speeds(set.speeds_on(before), before);
    throw;
  }
}

int Changes::grow(Change change) {
  Resize growth(parts_, {}, std::nullopt);
  growth.decide_by(std::move(change), headroom_);
  if (growth.must_await()) growth.await_newcomers();
  parts_.grid.close_all_contexts();
  growth.gather();
  return see_through(growth);
}

// ---- those that were requested, or are kept

std::uint64_t Changes::news() {
  parts_.processes.look_after_called_off();
  if (parts_.processes.id() != 0) return 0;
  if (!under_way_) return parts_.processes.is_keeping_over() ? std::uint64_t{PlaceWord::process0_sends} : 0;
  const std::optional<Resize::News> news = under_way_->news();
  if (!news) return 0;
  return *news == Resize::News::they_are_there ? PlaceWord::newcomers_are_there : PlaceWord::newcomers_do_not_come;
}

std::uint64_t Changes::introductions() const {
  const bool has_some = parts_.processes.id() == 0 && !under_way_ && parts_.processes.has_to_introduce();
  return has_some ? std::uint64_t{PlaceWord::process0_sends} : 0;
}

std::uint64_t Changes::introduce(std::uint64_t all) {
  constexpr std::uint64_t sends = PlaceWord::process0_sends;
  return (all & sends) == 0 || parts_.processes.introduce() ? all : all & ~sends;
}

void Changes::keep_warm() {
  const GroupPolicy& policy = parts_.settings.group_policy;
  if (parts_.processes.id() != 0 || policy.warm == 0) return;
  if (!under_way_)
    parts_.processes.keep_warm(
        warm_groups(policy), [this](int fresh) { return headroom_.trouble_with_spares(fresh); },
        [this] { return parts_.newcomers.options(); });
  if (control_) control_->know_warm(parts_.processes.warm());
}

void Changes::release_kept() {
  parts_.processes.release_kept();
  if (control_) control_->know(parts_.processes);
}

} // namespace blacs_dyn
