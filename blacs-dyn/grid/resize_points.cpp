// SPDX-License-Identifier: BSD-3-Clause
#include "grid/resize_points.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <utility>

#include "dyngrid/balance.h"
#include "grid/application.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

// ---- the program comes to one

int ResizePoints::arrive_at(const char* name) {
  const Place& here = app_.whereabouts.place();
  if (here.kind == Place::Kind::named && name && here.text == name) return arrive(here);
  return arrive(Place::named(name));
}

int ResizePoints::arrive(const Place& place) {
  was_refused_ = false;
  if (const std::optional<int> outcome = come_in(place)) return *outcome;
  const Balancing::Point here(app_.balancing);
  const bool is_restored = restore_if_due();
  if (!is_restored)
    app_.checkpoints.save_if_due([this] { app_.balancing.all_came(); }); // a checkpoint is no part of the step
  Findings found = look();
  --app_.settings.points; // a run that is restored begins with this point
  const bool goes_on = save_as_asked(found);
  ++app_.settings.points;
  if (!goes_on) return DYNGRID_LEAVE;
  int outcome = DYNGRID_SAME;
  try {
    outcome = act_on(std::move(found));
  } catch (const Error& error) {
    was_refused_ = error.status() != Status::mpi_failure;
    if (!was_refused_ || !is_restored) throw;
    base::detail::set_last_message(error.what());
  }
  return outcome == DYNGRID_SAME && is_restored ? int{DYNGRID_RESIZED} : outcome;
}

bool ResizePoints::restore_if_due() {
  if (!app_.checkpoints.must_restore()) return false;
  app_.balancing.all_came(); // it is no part of the step
  app_.routines.call_before();
  app_.checkpoints.restore(nullptr);
  app_.routines.call_after();
  return true;
}

/// A checkpoint by a signal or from outside. Collective over the grid. @return false: the run ends here
bool ResizePoints::save_as_asked(Findings& found) {
  if (!found.wants_checkpoint()) return true;
  std::optional<control::CheckpointRequest> request;
  if (app_.control) request = app_.control->take_checkpoint();
  Checkpoints::forget_signal();
  const std::string failure = app_.checkpoints.save();
  if (app_.control) app_.control->checkpointed(request, app_.settings.checkpoint, failure);
  if ((found.all & PlaceWord::ends_after_it) == 0 || !failure.empty()) return true;
  if (found.request) found.request->put_off();
  if (app_.processes.id() == 0)
    std::fprintf(stderr, "dyngrid: checkpoint %s written at resize point %lld; the run ends here, as was asked for\n",
                 app_.settings.checkpoint.c_str(), static_cast<long long>(app_.settings.points));
  return false;
}

std::optional<int> ResizePoints::come_in(const Place& place) {
  if (!app_.grid.has_me()) place.check_name();
  app_.whereabouts.come_to(place);
  if (app_.changes.is_led()) return go_on_where_led();
  if (!app_.processes.is_newcomer() && !app_.grid.is_still_outside()) return std::nullopt;
  const int outcome = app_.processes.is_newcomer() ? app_.changes.join() : app_.changes.sleep_until_needed();
  app_.checkpoints.heed_signal();
  Checkpoints::forget_signal(); // the others had it while this process was not in the grid
  return outcome;
}

// ---- what is asked

void ResizePoints::request(Shape to, advise::Without without) {
  requested_.reset();
  if (to.size() == 0) return;
  requested_.emplace();
  requested_->to = to;
  requested_->without = std::move(without);
}

/// The program's own, the timetable's, or one from outside, in this order.
ResizePoints::Findings ResizePoints::next_asked() {
  Settings& settings = app_.settings;
  const std::int64_t point = settings.points++;
  Findings asked;
  if (requested_) {
    asked.goal = std::exchange(requested_, std::nullopt);
    if (!asked.goal->is_at_point) asked.goal->placement = settings.placement; // it did not wait for a growth
  } else if (app_.processes.id() == 0) {
    for (const TimedRequest& entry : settings.requests)
      if (entry.step == point) {
        asked.goal.emplace();
        asked.goal->to = entry.to;
        asked.goal->placement = entry.placement.value_or(settings.placement);
      }
  }
  if (app_.control) asked.request = app_.control->resize_point(app_.matrices, asked.goal.has_value());
  return asked;
}

std::uint64_t ResizePoints::Findings::asked() const {
  if (request) return PlaceWord::outside_request;
  return goal ? std::uint64_t{PlaceWord::own_request} : 0;
}

// ---- what all find

/// While new processes are on their way a program of short steps does not ask at each of them whether they are there:
/// they start on its cores, and every process would wait for one that has just lost its own. Alike on all processes of
/// the grid.
bool ResizePoints::passes_by() {
  if (to_pass_ == 0 || !app_.changes.awaits_newcomers()) {
    to_pass_ = 0;
    return false;
  }
  --to_pass_;
  ++app_.settings.points;
  if (app_.control) app_.control->resize_point(app_.matrices, true); // of the step; what is asked for waits
  return true;
}

namespace {

/// The number of points before they look again: so small that no process joins much later, and that it passes no point
/// that the timetable names. Pure.
int points_to_pass(std::int64_t points, double in_s, const std::vector<TimedRequest>& timetable, std::int64_t next) {
  constexpr double longest_s = 0.05; // as the nap of a sleeping process
  const double fit = longest_s * static_cast<double>(points) / in_s;
  for (const int count : {7, 3, 1})
    if (fit >= count + 1 && std::none_of(timetable.begin(), timetable.end(), [&](const TimedRequest& entry) {
          return entry.step >= next && entry.step < next + count;
        }))
      return count;
  return 0;
}

} // namespace

/// On process 0, which has the timetable; PlaceWord::Flag. Local.
std::uint64_t ResizePoints::looks_to_come() {
  if (app_.processes.id() != 0) return 0;
  const std::int64_t next = app_.settings.points, points = next - std::exchange(looked_at_, next);
  const double now_s = MPI_Wtime(), passed_s = now_s - std::exchange(looked_s_, now_s);
  if (!app_.changes.awaits_newcomers() || points < 1) return 0;
  return PlaceWord::passing(points_to_pass(points, passed_s, app_.settings.requests, next));
}

ResizePoints::Findings ResizePoints::look() {
  if (passes_by()) {
    app_.balancing.all_came(); // as far as this process knows
    return {};
  }
  app_.changes.keep_warm();
  Findings found = next_asked();
  try {
    const std::uint64_t mine = found.asked() | app_.changes.news() | looks_to_come() | app_.balancing.flags() |
                               app_.checkpoints.flags() | (app_.control ? app_.control->checkpoint_flags() : 0);
    found.all = app_.whereabouts.agree(app_.whereabouts.place(), mine | app_.changes.introductions());
    app_.balancing.all_came();
    found.all = app_.changes.introduce(found.all);
    to_pass_ = PlaceWord::points_to_pass(found.all);
  } catch (const Error&) { // what was asked for waits for a resize point where all are
    if (found.request)
      found.request->put_off();
    else
      requested_ = std::move(found.goal);
    throw;
  }
  return found;
}

bool ResizePoints::Findings::is_anything() const {
  constexpr std::uint64_t any = PlaceWord::own_request | PlaceWord::outside_request | PlaceWord::loads |
                                PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come |
                                PlaceWord::process0_tells;
  return (all & any) != 0;
}

bool ResizePoints::is_change_due() {
  if (!app_.grid.has_me()) return true;
  bool is_due = requested_.has_value();
  if (app_.processes.id() == 0)
    for (const TimedRequest& entry : app_.settings.requests) is_due = is_due || entry.step == app_.settings.points;
  is_due = is_due || (app_.control && app_.control->is_pending()) || app_.changes.news() != 0;
  is_due = is_due || app_.checkpoints.flags() != 0 || (app_.control && app_.control->checkpoint_flags() != 0);
  return (app_.whereabouts.agree(Place(Place::Kind::query), is_due ? 1 : 0) & 1) != 0;
}

// ---- what is done

int ResizePoints::act(Findings found) {
  return save_as_asked(found) ? act_on(std::move(found)) : DYNGRID_LEAVE;
}

/// Collective over the grid.
int ResizePoints::act_on(Findings found) {
  const bool is_own = (found.all & PlaceWord::own_request) != 0; // goes before one from outside, which process 0 has
  if (!is_own && (found.all & PlaceWord::outside_request) == 0) {
    if ((found.all & PlaceWord::process0_tells) != 0) app_.changes.release_kept();
    if (app_.changes.under_way() || (found.all & PlaceWord::loads) == 0) return app_.changes.let_in(found.all);
    return balance();
  }
  if (is_own && found.request) {
    found.request->put_off();
    found.request.reset();
  }
  Resize::Goal goal = agree_on_goal(found, is_own);
  return app_.changes.make(std::move(goal), std::move(found.request), found.all);
}

namespace {

/// A request from outside. Groups that have gone are left out.
Resize::Goal goal_of(const control::ResizeRequest& request, const Application& app) {
  Resize::Goal goal;
  goal.to = {request.to.nprow, request.to.npcol};
  goal.placement = request.placement.value_or(app.settings.placement);
  goal.without = request.without;
  for (const SpawnGroup& group : app.processes.process_set().groups) {
    const std::int64_t number = app.processes.number_of(group.id);
    if (group.id != 0 && std::find(request.groups.begin(), request.groups.end(), number) != request.groups.end())
      goal.leave.push_back(group.id);
  }
  goal.is_forced = request.force;
  goal.growth.hosts = request.hosts;
  goal.growth.form = request.form;
  goal.growth.seconds_left = app.control ? app.control->seconds_left() : -1;
  return goal;
}

} // namespace

/// The goal that counts: that of the lowest rank with a goal of its own, else that of process 0. That process sends it
/// to the others.
/// Collective over the grid.
Resize::Goal ResizePoints::agree_on_goal(const Findings& found, bool is_own) {
  const MPI_Comm grid = app_.grid.comm();
  int root = 0;
  if (is_own) {
    const int mine = found.goal ? app_.grid.rank() : INT_MAX;
    check_mpi(MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MIN, grid), "MPI_Allreduce");
  }
  Resize::Goal goal = found.request ? goal_of(*found.request, app_) : found.goal.value_or(Resize::Goal{});
  goal.is_at_point = true;
  // sent with the rest: only process 0 knows what earlier runs measured
  const int size = app_.processes.process_set().grid.shape.size();
  const double bandwidth = app_.machine.figures().bandwidth_bytes_per_s;
  goal.growth.seconds_to_move_all = app_.matrices.bytes() / bandwidth / size;
  Packet packet;
  packet.put(goal);
  broadcast(packet.bytes(), root, grid);
  goal = Packet(packet.bytes()).get<Resize::Goal>();
  return goal;
}

/// Gathers the loads and carries out the decision that follows. An agreed failure is printed, and the program goes on
/// as it was; one of MPI may be this process's alone.
int ResizePoints::balance() {
  const Balancing::Verdict verdict = app_.balancing.exchange();
  try {
    return balance_as(verdict);
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw;
    return DYNGRID_SAME;
  }
}

/// New layouts by the speeds and shares of `to`. Collective over the grid. @throws agreed Error, all as before.
int ResizePoints::lay_out_anew(const GridMap& to) {
  const ProcessSet& set = app_.processes.process_set();
  const GridMap before = set.grid;
  app_.processes.take_speeds(set.speeds_on(to), to);
  try {
    return app_.relayout.all();
  } catch (...) {
    app_.processes.take_speeds(set.speeds_on(before), before);
    throw;
  }
}

int ResizePoints::balance_as(const Balancing::Verdict& verdict) {
  using Kind = Balancing::Verdict::Kind;
  if (verdict.kind == Kind::nothing) return DYNGRID_SAME;
  const std::vector<double> speeds = app_.processes.know_speeds(verdict.ids, verdict.speeds);
  Matrix* factored = app_.matrices.find(verdict.for_factors);
  const int order = factored ? std::exchange(factored->order, int{DYNGRID_ORDER_FACTOR}) : 0;
  if (factored) ++factored->relayouts; // a process that sleeps receives it
  int outcome = DYNGRID_SAME;
  try {
    if (verdict.kind == Kind::relayout) {
      outcome = lay_out_anew(verdict.to);
    } else {
      Resize::Goal goal;
      goal.to = verdict.to.shape;
      goal.exact = verdict.to;
      goal.is_at_point = true;
      outcome = app_.changes.make(std::move(goal));
    }
  } catch (const Error& error) {
    app_.processes.know_speeds(verdict.ids, speeds);
    if (factored) {
      factored->order = order;
      --factored->relayouts;
    }
    app_.balancing.failed(error.what());
    throw;
  }
  app_.balancing.carried_out(app_.last_resize.total_s);
  return outcome;
}

/// At another resize point than the one where this process was woken or admitted: the right one, or not.
int ResizePoints::go_on_where_led() {
  Resize led = app_.changes.take_under_way();
  app_.whereabouts.changed();
  return app_.changes.see_through(led);
}

void ResizePoints::end() {
  app_.whereabouts.come_to(Place(Place::Kind::end));
  if (app_.changes.is_led())
    go_on_where_led(); // which ends the others' waiting: they do not meet this process here
  else
    app_.changes.call_off("the application ends");
}

} // namespace blacs_dyn
