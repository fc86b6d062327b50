// SPDX-License-Identifier: BSD-3-Clause
#include "grid/changes.hpp"

#include <fmt/format.h>

#include "grid/application.hpp"

namespace blacs_dyn {

using base::Error;

int Changes::make(Resize::Goal goal, std::optional<control::ResizeRequest> request, std::uint64_t all) {
  Resize next(app_, std::move(goal), std::move(request));
  const bool is_at_point = next.goal().is_at_point;
  if (is_at_point && under_way_ && under_way_->goal().to == next.goal().to && next.goal().without.is_empty() &&
      under_way_->goal().growth.is_like(next.goal().growth)) {
    under_way_->take_over(next);
    return let_in(all);
  }
  if (is_at_point && under_way_ && waits_for_growth(next)) {
    if ((all & PlaceWord::own_request) == 0)
      next.put_off();
    else
      app_.points.ask_again(next.goal());
    return let_in(all);
  }
  next.say_why();
  try {
    return carry_out(next);
  } catch (const Error& error) {
    if (is_at_point)
      next.failed(error);
    else if (app_.control)
      app_.control->asks_no_more(); // what the scheduler has granted is given back where nothing comes of it
    throw;
  }
}

/// A newer request waits until the growth under way has ended, where it can use the processes that start. It also waits
/// when the growth before was called off: requests that come faster than processes start would keep the grid from ever
/// growing.
bool Changes::waits_for_growth(const Resize& newer) const {
  const Resize::Goal& goal = newer.goal();
  if (has_called_off_) return true;
  return goal.to.size() > app_.processes.process_set().grid.shape.size() && goal.without.is_empty() &&
         goal.leave.empty() && !goal.exact && under_way_->goal().growth.is_like(goal.growth);
}

/// From the decision on. A change that is under way already is called off.
int Changes::carry_out(Resize& next) {
  const Resize::Goal& goal = next.goal();
  const bool is_there = next.is_grid_already();
  try {
    next.ask_scheduler();
  } catch (const Error&) { // a program that asks anew has given back what it was granted before
    if (app_.settings.is_scheduled) call_off("other processes were asked of the scheduler, which refuses them");
    throw;
  }
  if (!under_way_ || !(under_way_->goal().to == goal.to)) next.check_room();
  has_called_off_ = has_called_off_ || under_way_;
  call_off(fmt::format("{} is requested instead", to_string(goal.to)));
  if (is_there) {
    const int outcome = app_.relayout.all(); // the rules may say otherwise by now
    next.already_there();
    return outcome;
  }
  next.decide();
  const bool must_await = next.must_await() && !next.are_they_there_already();
  if (must_await && goal.is_at_point && !app_.settings.waits) {
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

void Changes::call_off(const std::string& why) {
  if (under_way_) take_under_way().call_off(why);
}

int Changes::let_in(std::uint64_t all) {
  constexpr std::uint64_t is_decided = PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come;
  if (!under_way_ || (all & is_decided) == 0) return DYNGRID_SAME;
  under_way_->begin_again();
  Resize change = take_under_way();
  try {
    if (all & PlaceWord::newcomers_do_not_come) change.tell_why_not();
    change.gather();
    return see_through(change);
  } catch (const Error& error) {
    change.failed(error);
    throw;
  }
}

int Changes::see_through(Resize& change) {
  for (;;) {
    switch (change.move_and_commit()) {
    case Resize::Outcome::resized:
      has_called_off_ = false;
      app_.balancing.joined(app_.last_resize.total_s);
      return DYNGRID_RESIZED;
    case Resize::Outcome::redirected:
      under_way_ = std::move(change);
      return DYNGRID_REDIRECT;
    case Resize::Outcome::gone:
      return leave();
    case Resize::Outcome::asleep:
      app_.points.request({}); // made while this change was on its way: the others have made it too
      break;
    }
    change.rest();
    std::optional<Resize> woken = sleep();
    if (!woken) return leave();
    change = std::move(*woken);
  }
}

int Changes::join() {
  const double started = MPI_Wtime();
  auto gathered = app_.processes.join();
  if (!gathered) return leave();
  Resize change(app_, std::move(*gathered), started);
  return see_through(change);
}

/// Until this process is called into a change; empty: until the end.
std::optional<Resize> Changes::sleep() {
  const double started = MPI_Wtime();
  auto woken = app_.processes.sleep(app_.spawn_options());
  if (!woken) return std::nullopt;
  return Resize(app_, std::move(*woken), started);
}

int Changes::sleep_until_needed() {
  std::optional<Resize> woken = sleep();
  return woken ? see_through(*woken) : leave();
}

int Changes::leave() {
  app_.grid.leave();
  app_.matrices.leave();
  return DYNGRID_LEAVE;
}

// ---- those that were requested, or are kept

std::uint64_t Changes::news() {
  if (app_.processes.id() != 0) return 0;
  app_.processes.look_after_called_off();
  if (!under_way_) return app_.processes.is_keeping_over() ? std::uint64_t{PlaceWord::process0_tells} : 0;
  const std::optional<Resize::News> heard = under_way_->news();
  if (!heard) return 0;
  return *heard == Resize::News::they_are_there ? PlaceWord::newcomers_are_there : PlaceWord::newcomers_do_not_come;
}

std::uint64_t Changes::introductions() const {
  const bool has_some = app_.processes.id() == 0 && !under_way_ && app_.processes.has_to_introduce();
  return has_some ? std::uint64_t{PlaceWord::process0_tells} : 0;
}

std::uint64_t Changes::introduce(std::uint64_t all) {
  constexpr std::uint64_t tells = PlaceWord::process0_tells;
  return (all & tells) == 0 || app_.processes.introduce() ? all : all & ~tells;
}

void Changes::keep_warm() {
  const GroupPolicy& policy = app_.settings.group_policy;
  if (app_.processes.id() != 0 || policy.warm == 0) return;
  if (!under_way_) app_.processes.keep_warm(warm_groups(policy), [this] { return app_.spawn_options(); });
  if (app_.control) app_.control->know_warm(app_.processes.warm());
}

void Changes::release_kept() {
  app_.processes.release_kept();
  app_.tell_control_who_is_where();
}

} // namespace blacs_dyn
