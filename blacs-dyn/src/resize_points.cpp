// SPDX-License-Identifier: BSD-3-Clause
#include "resize_points.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>

#include <fmt/format.h>

#include "application.hpp"
#include "base/fnv1a.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

// ---- the program comes to one

int ResizePoints::arrive_at(const char* name) {
  if (place_.kind == Place::Kind::named && name && place_.text == name) return arrive(place_);
  return arrive(Place::named(name));
}

int ResizePoints::arrive(const Place& place) {
  if (const std::optional<int> outcome = come_in(place)) return *outcome;
  const Balancing::Point here(app_.balancing);
  app_.checkpoints.save_if_due([this] { app_.balancing.all_came(); }); // a checkpoint is no part of the step
  return after(act_on(look()));
}

/// outcome: of a change in which process 0 may have fallen asleep, which answers for the grid from there on.
int ResizePoints::after(int outcome) {
  return outcome == asleep_outside ? attend() : outcome;
}

std::optional<int> ResizePoints::come_in(const Place& place) {
  if (!app_.grid.has_me()) place.check_name();
  if (place_.hash != place.hash) place_ = place;
  if (under_way_ && under_way_->is_led()) return go_on_where_led();
  if (app_.processes.is_newcomer()) return join();
  if (app_.grid.is_still_outside()) return sleep_until_needed();
  return std::nullopt;
}

/// While new processes are on their way a program of short steps does not ask at each of them whether they are there:
/// they start on its cores, and every process would wait for one that has just lost its own. Alike on all processes of
/// the grid.
bool ResizePoints::passes_by() {
  if (to_pass_ == 0 || !awaits_newcomers()) {
    to_pass_ = 0;
    return false;
  }
  --to_pass_;
  ++app_.settings.points;
  if (app_.control) app_.control->resize_point(app_.matrices, true); // of the step; what is asked for waits
  return true;
}

/// On process 0: so seldom that nobody comes in much later; PlaceWord::Flag. Local.
std::uint64_t ResizePoints::looks_to_come() {
  constexpr double longest_s = 0.05; // as the nap of a sleeper
  if (app_.processes.id() != 0) return 0;
  const std::int64_t points = app_.settings.points - std::exchange(looked_at_, app_.settings.points);
  const double now_s = MPI_Wtime(), passed_s = now_s - std::exchange(looked_s_, now_s);
  if (!awaits_newcomers() || points < 1) return 0;
  const double fit = longest_s * static_cast<double>(points) / passed_s;
  const auto is_free = [&settings = app_.settings](int count) { // the timetable is process 0's
    return std::none_of(settings.requests.begin(), settings.requests.end(), [&](const TimedRequest& entry) {
      return entry.step >= settings.points && entry.step < settings.points + count;
    });
  };
  for (const int count : {7, 3, 1})
    if (fit >= count + 1 && is_free(count)) return PlaceWord::passing(count);
  return 0;
}

ResizePoints::Findings ResizePoints::look() {
  if (passes_by()) {
    app_.balancing.all_came(); // as far as this process knows
    return {};
  }
  keep_warm();
  Findings found{next_wish()};
  Wish& wish = found.wish;
  try {
    const std::uint64_t mine = wish.flags() | news() | looks_to_come() | app_.balancing.flags();
    found.all = compare_places(place_, mine | app_.council.flags());
    app_.balancing.all_came();
    to_pass_ = PlaceWord::points_to_pass(found.all);
    if (app_.council.is_needed() && found.is_anything()) {
      found.all = app_.council.call(Council::Call::point, {}, mine);
      if (!found.is_anything()) app_.council.is_over();
    }
  } catch (const Error&) { // what was asked for waits for a resize point where all are
    if (wish.request)
      wish.request->put_off();
    else
      request(wish.to, wish.without);
    throw;
  }
  return found;
}

bool ResizePoints::Findings::is_anything() const {
  constexpr std::uint64_t any = PlaceWord::own_request | PlaceWord::outside_request | PlaceWord::loads |
                                PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come |
                                PlaceWord::keeping_is_over;
  return (all & any) != 0;
}

int ResizePoints::act(Findings found) {
  return after(act_on(std::move(found)));
}

/// Collective over the council.
int ResizePoints::act_on(Findings found) {
  const CouncilEnds ends(app_.council);
  Wish& wish = found.wish;
  const bool is_own = (found.all & PlaceWord::own_request) != 0; // goes before one from outside, which process 0 has
  if (!is_own && (found.all & PlaceWord::outside_request) == 0) {
    if ((found.all & PlaceWord::keeping_is_over) != 0) release_kept();
    if (under_way_ || (found.all & PlaceWord::loads) == 0) return let_in(found.all);
    return balance();
  }
  if (is_own && wish.request) {
    wish.request->put_off();
    wish = Wish{};
  }
  Resize::Goal goal = agree_on_goal(wish, is_own);
  return change(std::move(goal), std::move(wish.request), found.all);
}

std::uint64_t ResizePoints::Wish::flags() const {
  if (request) return PlaceWord::outside_request;
  return to.size() > 0 ? std::uint64_t{PlaceWord::own_request} : 0;
}

/// Of those that were sent for, or are kept; PlaceWord::Flag. Local.
std::uint64_t ResizePoints::news() {
  if (app_.processes.id() != 0) return 0;
  if (!under_way_) return app_.processes.is_keeping_over() ? std::uint64_t{PlaceWord::keeping_is_over} : 0;
  const std::optional<Resize::News> heard = under_way_->news();
  if (!heard) return 0;
  return *heard == Resize::News::they_are_there ? PlaceWord::newcomers_are_there : PlaceWord::newcomers_do_not_come;
}

/// On process 0: what a growth took, or what ended, is started anew.
void ResizePoints::keep_warm() {
  const GroupPolicy& policy = app_.settings.group_policy;
  if (app_.processes.id() != 0 || policy.warm == 0) return;
  if (!under_way_) app_.processes.keep_warm(warm_groups(policy), [this] { return app_.spawn_options(); });
  if (app_.control) app_.control->know_warm(app_.processes.warm());
}

/// Nobody took them in time. Collective over the council.
void ResizePoints::release_kept() {
  app_.processes.release_kept();
  app_.tell_control_who_is_where();
}

/// The program's own, the timetable's, or one from outside, in this order.
ResizePoints::Wish ResizePoints::next_wish() {
  Settings& settings = app_.settings;
  const std::int64_t point = settings.points++;
  Wish wish{std::exchange(requested_, Shape{}), settings.placement, std::exchange(without_, {}), std::nullopt};
  if (app_.processes.speaks() && wish.to.size() == 0)
    for (const TimedRequest& entry : settings.requests)
      if (entry.step == point) {
        wish.to = entry.to;
        wish.placement = entry.placement.value_or(settings.placement);
      }
  if (app_.control) wish.request = app_.control->resize_point(app_.matrices, wish.to.size() > 0);
  if (wish.request) {
    wish.to = {wish.request->to.nprow, wish.request->to.npcol};
    wish.placement = wish.request->placement.value_or(settings.placement);
    wish.without = wish.request->without;
  }
  return wish;
}

/// One all-reduce: what all processes of the grid want, by PlaceWord::Flag. @throws agreed Error{bad_state} when they
/// are at different places.
std::uint64_t ResizePoints::compare_places(const Place& place, std::uint64_t flags) {
  const bool counts = plain_places_count_ || place.kind != Place::Kind::plain;
  static const Place some_line(Place::Kind::plain);
  const std::uint64_t mine = PlaceWord::of(counts ? place : some_line, flags);
  std::uint64_t all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, app_.grid.comm()), "MPI_Allreduce");
  if (PlaceWord::is_one_place(all)) {
    place.check_name();
    return all;
  }
  check_places(place);
  plain_places_count_ = false; // they are of different programs
  return all;
}

void ResizePoints::check_places(const Place& place) const {
  Packet packet;
  place.write(packet);
  broadcast(packet.bytes(), 0, app_.grid.comm());
  together(app_.grid.comm(), [&] {
    place.check_name();
    Packet told(packet.bytes());
    const Place first = Place::read(told);
    if (!first.meets(place))
      throw Error(Status::bad_state,
                  fmt::format("blacs-dyn: the processes of the grid are at different resize points: rank 0 at {}, rank "
                              "{} at {}; all of them have to come to the "
                              "same one (two lines that mean one place take one name, by dyngrid_resize_point_at)",
                              first.shown(), app_.grid.rank(), place.shown()));
  });
}

/// Loads are handed over, and what follows from them is done. A failure is said, and the program goes on as it was.
int ResizePoints::balance() {
  const Balancing::Verdict verdict = app_.balancing.exchange();
  try {
    return balance_as(verdict);
  } catch (const Error&) {
    return DYNGRID_SAME;
  }
}

int ResizePoints::rebalance() {
  if (app_.processes.is_newcomer() || (under_way_ && under_way_->is_led())) return arrive(Place());
  place_ = Place();
  if (app_.grid.is_still_outside()) return sleep_until_needed();
  if (under_way_)
    throw Error(Status::bad_state, fmt::format("blacs-dyn: dyngrid_rebalance while new processes for {} are on their "
                                               "way: ask again when they are there",
                                               to_string(under_way_->goal().to)));
  const CouncilEnds ends(app_.council);
  if (app_.council.is_needed()) app_.council.call(Council::Call::rebalance, {}, 0);
  return after(balance_as(app_.balancing.exchange(true)));
}

int ResizePoints::balance_as(const Balancing::Verdict& verdict) {
  using Kind = Balancing::Verdict::Kind;
  if (verdict.kind == Kind::nothing) return DYNGRID_SAME;
  const std::vector<double> before = app_.processes.know_speeds(verdict.ids, verdict.speeds);
  Balancing::FactorOrder order(app_.balancing, verdict);
  int outcome = DYNGRID_SAME;
  try {
    if (verdict.kind == Kind::relayout) {
      outcome = app_.balancing.lay_out_anew(verdict.to);
    } else {
      Resize::Goal goal;
      goal.to = verdict.to.shape;
      goal.exact = verdict.to;
      goal.is_at_point = true;
      outcome = change(std::move(goal));
    }
  } catch (const Error& error) {
    app_.processes.know_speeds(verdict.ids, before);
    app_.balancing.failed(error.what());
    throw;
  }
  order.keep();
  app_.balancing.carried_out();
  return outcome;
}

/// Whose wish counts: the lowest rank's of those that have one of their own, else process 0's. It tells the others.
/// Collective over the council.
Resize::Goal ResizePoints::agree_on_goal(const Wish& wish, bool is_own) {
  const MPI_Comm council = app_.processes.council();
  int root = app_.processes.process_set().grid.rank_of_process0();
  if (is_own) {
    const int mine = wish.to.size() > 0 && app_.grid.has_me() ? app_.grid.rank() : INT_MAX;
    check_mpi(MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MIN, council), "MPI_Allreduce");
  }
  Resize::Goal goal;
  goal.to = wish.to;
  goal.placement = wish.placement;
  goal.without = wish.without;
  goal.is_at_point = true;
  if (wish.request) { // groups that have gone are left out
    const Processes& processes = app_.processes;
    const std::vector<std::int64_t>& numbers = wish.request->groups;
    for (const SpawnGroup& group : processes.process_set().groups)
      if (group.id != 0 && std::find(numbers.begin(), numbers.end(), processes.number_of(group.id)) != numbers.end())
        goal.leave.push_back(group.id);
    goal.is_forced = wish.request->force;
    goal.growth.hosts = wish.request->hosts;
    goal.growth.form = wish.request->form;
    goal.growth.seconds_left = app_.control ? app_.control->seconds_left() : -1;
    if (!wish.request->why.empty()) std::fprintf(stderr, "dyngrid: %s\n", wish.request->why.c_str());
  }
  Packet packet;
  packet.put(goal);
  broadcast(packet.bytes(), root, council);
  goal = Packet(packet.bytes()).get<Resize::Goal>();
  const double bandwidth = gridmap::Machine().bandwidth_bytes_per_s;
  goal.growth.seconds_to_move_all = app_.matrices.bytes() / bandwidth / app_.processes.process_set().grid.shape.size();
  return goal;
}

bool ResizePoints::is_change_due() {
  if (!app_.grid.has_me()) return true;
  bool is_due = requested_.size() > 0 || app_.council.flags() != 0;
  if (app_.processes.speaks())
    for (const TimedRequest& entry : app_.settings.requests) is_due = is_due || entry.step == app_.settings.points;
  is_due = is_due || (app_.control && app_.control->is_pending()) || news() != 0;
  return (compare_places(Place(Place::Kind::query), is_due ? 1 : 0) & 1) != 0;
}

void ResizePoints::request(Shape to, control::Without without) {
  requested_ = to;
  without_ = std::move(without);
}

std::string ResizePoints::name_for_newcomers() const {
  const Place& place = app_.council.is_attending() ? others_place_ : place_;
  return place.kind == Place::Kind::named ? place.text : std::string();
}

const char* ResizePoints::entry_point() {
  can_be_led_ = true;
  return entry_point_.c_str();
}

// ---- or changes the grid itself

int ResizePoints::resize(Shape to, gridmap::Placement placement, const char* without) {
  if (app_.processes.is_newcomer() || (under_way_ && under_way_->is_led())) return arrive(Place());
  place_ = Place();
  if (app_.grid.is_still_outside()) return sleep_until_needed();
  const MPI_Comm grid = app_.grid.comm();
  const auto number = static_cast<int>(placement);
  Resize::Goal goal;
  together(grid, [&] {
    if (without) goal.without = control::Without::parse(without, "dyngrid_resize_without: without");
    base::check_grid_shape(to, "blacs-dyn: dyngrid_resize");
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_resize: placement is {}, expected {} .. {}",
                                                    number, int{DYNGRID_OPTIMAL}, int{DYNGRID_LOCAL2}));
  });
  const std::array<std::int64_t, 6> range{to.nprow, -to.nprow, to.npcol, -to.npcol, number, -number};
  std::array<std::int64_t, 6> most{};
  check_mpi(MPI_Allreduce(range.data(), most.data(), 6, MPI_INT64_T, MPI_MAX, grid), "MPI_Allreduce");
  if (most[0] != -most[1] || most[2] != -most[3] || most[4] != -most[5])
    throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: dyngrid_resize: arguments differ between the processes: "
                                                   "rows {} .. {}, columns {} .. {}, placement {} .. {}",
                                                   -most[1], most[0], -most[3], most[2], -most[5], most[4]));
  check_same(grid, base::Fnv1a().text(goal.without.text()).positive(),
             "blacs-dyn: dyngrid_resize_without: the processes to be left out differ between processes");
  goal.to = to;
  goal.placement = placement;
  return change_now(std::move(goal));
}

int ResizePoints::need(const char* grids) {
  if (app_.processes.is_newcomer() || (under_way_ && under_way_->is_led())) return arrive(Place());
  place_ = Place();
  if (app_.grid.is_still_outside()) return sleep_until_needed();
  control::Allowed needed;
  together(app_.grid.comm(), [&] {
    if (!grids) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_need: the text is null");
    needed = control::Allowed::parse(grids);
    if (needed.text().empty())
      throw Error(Status::bad_argument, "blacs-dyn: dyngrid_need: no grids are named, expected e.g. \"8:32\"");
  });
  check_same(app_.grid.comm(), base::Fnv1a().text(needed.text()).positive(),
             "blacs-dyn: dyngrid_need: the grids differ between processes");
  const Shape here = app_.grid.shape();
  if (needed.permits({here.nprow, here.npcol})) return DYNGRID_SAME;
  Resize::Goal goal;
  goal.need = needed.text();
  goal.placement = app_.settings.placement;
  return change_now(std::move(goal));
}

/// The program waits for it.
int ResizePoints::change_now(Resize::Goal goal) {
  const CouncilEnds ends(app_.council);
  if (app_.council.is_needed()) app_.council.call(Council::Call::change, Packet().put(goal), 0);
  return after(change(std::move(goal)));
}

int ResizePoints::pop() {
  place_ = Place();
  const ProcessSet& process_set = app_.processes.process_set();
  if (!app_.grid.has_me() || process_set.levels.size() < 2)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_pop: this is the first grid, there is none below it");
  const GridMap& level = process_set.levels[process_set.levels.size() - 2];
  const auto is_here = [&](int id) { return has(process_set.grid.ids, id); };
  Resize::Goal goal;
  goal.to = level.shape;
  goal.placement = app_.settings.placement;
  if (std::all_of(level.ids.begin(), level.ids.end(), is_here)) goal.exact = level;
  return change_now(std::move(goal));
}

// ---- a change of the grid

/// all: what the processes found out at this resize point; PlaceWord::Flag.
int ResizePoints::change(Resize::Goal goal, std::optional<control::ResizeRequest> request, std::uint64_t all) {
  Resize next(app_, std::move(goal), std::move(request));
  if (!next.goal().is_at_point) return carry_out_or_give_back(next);
  if (under_way_ && under_way_->goal().to == next.goal().to && next.goal().without.is_empty() &&
      under_way_->goal().growth.is_like(next.goal().growth)) {
    under_way_->take_over(next);
    return let_in(all);
  }
  try {
    return carry_out(next);
  } catch (const Error& error) {
    next.failed(error);
    throw;
  }
}

/// What the scheduler has granted is given back where nothing comes of it.
int ResizePoints::carry_out_or_give_back(Resize& next) {
  try {
    return carry_out(next);
  } catch (const Error&) {
    if (app_.control) app_.control->asks_no_more();
    throw;
  }
}

/// From the decision on. What is under way already is called off.
int ResizePoints::carry_out(Resize& next) {
  const Resize::Goal& goal = next.goal();
  const bool is_there = next.is_grid_already();
  try {
    next.ask_scheduler();
  } catch (const Error&) { // whoever asks anew has given back what it was granted before
    if (under_way_ && app_.settings.is_scheduled) {
      under_way_->call_off("other processes were asked of the scheduler, which refuses them");
      under_way_.reset();
    }
    throw;
  }
  if (!under_way_ || !(under_way_->goal().to == goal.to)) next.check_room();
  if (under_way_) {
    under_way_->call_off(fmt::format("{} is wanted instead", to_string(goal.to)));
    under_way_.reset();
  }
  if (is_there) {
    const int outcome = app_.relayout.all_by_council(); // the rules may say otherwise by now
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

/// At a resize point: lets newcomers in when all of those that were sent for are ready. Collective over the council.
int ResizePoints::let_in(std::uint64_t all) {
  constexpr std::uint64_t is_decided = PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come;
  if (!under_way_ || (all & is_decided) == 0) return DYNGRID_SAME;
  under_way_->begin_again();
  Resize change = std::move(*under_way_);
  under_way_.reset();
  try {
    if (all & PlaceWord::newcomers_do_not_come) change.tell_why_not();
    change.gather();
    return see_through(change);
  } catch (const Error& error) {
    change.failed(error);
    throw;
  }
}

int ResizePoints::see_through(Resize& change) {
  for (;;) {
    switch (change.move_and_commit()) {
    case Resize::Outcome::resized:
      app_.balancing.joined();
      return DYNGRID_RESIZED;
    case Resize::Outcome::redirected:
      under_way_ = std::move(change);
      return DYNGRID_REDIRECT;
    case Resize::Outcome::gone:
      return leave();
    case Resize::Outcome::asleep:
      request({}); // made while this change was on its way: the others have made it too
      if (app_.council.is_attending()) return asleep_outside;
      break;
    }
    change.rest();
    const double started = MPI_Wtime();
    auto woken = app_.processes.sleep(app_.spawn_options());
    if (!woken) return leave();
    change = Resize(app_, std::move(*woken), started);
  }
}

int ResizePoints::join() {
  const double started = MPI_Wtime();
  auto gathered = app_.processes.join();
  if (!gathered) return leave();
  Resize change(app_, std::move(*gathered), started);
  return see_through(change);
}

int ResizePoints::sleep_until_needed() {
  const double started = MPI_Wtime();
  auto woken = app_.processes.sleep(app_.spawn_options());
  if (!woken) return leave();
  Resize change(app_, std::move(*woken), started);
  return see_through(change);
}

/// At another resize point than the one where this process was woken or let in: the right one, or not.
int ResizePoints::go_on_where_led() {
  Resize led = std::move(*under_way_);
  under_way_.reset();
  entry_point_.clear();
  try {
    return after(see_through(led));
  } catch (const Error& error) {
    if (!app_.council.is_attending() || error.status() == Status::mpi_failure) throw;
    led.failed(error);
  }
  return attend();
}

int ResizePoints::leave() {
  app_.grid.leave();
  app_.matrices.leave();
  return DYNGRID_LEAVE;
}

void ResizePoints::end() {
  place_ = Place(Place::Kind::end);
  if (!under_way_) return;
  if (under_way_->is_led()) {
    go_on_where_led(); // which ends the others' waiting: they do not meet this process here
    return;
  }
  under_way_->call_off("the application ends");
  under_way_.reset();
}

// ---- those that join

void ResizePoints::write(Packet& packet) const {
  place_.write(packet);
  packet.put(plain_places_count_);
}

void ResizePoints::read(Packet& packet) {
  plain_places_count_ = packet.get<bool>();
}

ResizePoints::Where ResizePoints::compare(const Place& others, bool may_be_led) const {
  if (others.meets(place_)) return Where::here;
  const bool can_be_led =
      can_be_led_ && may_be_led && others.kind == Place::Kind::named && place_.kind != Place::Kind::end;
  return can_be_led ? Where::elsewhere : Where::nowhere;
}

void ResizePoints::refuse(const Place& others, const char* who) const {
  throw Error(Status::bad_state,
              fmt::format("blacs-dyn: a {} process is at {}, the others are at {}: it would go on in another part "
                          "of the program; give lines that mean one "
                          "place one name by dyngrid_resize_point_at, or lead it to a name by dyngrid_entry_point",
                          who, place_.shown(), others.shown()));
}

} // namespace blacs_dyn
