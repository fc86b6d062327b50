// SPDX-License-Identifier: BSD-3-Clause
#include "grid/resize_points.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "grid/checkpoints.hpp"
#include "grid/program_position.hpp"
#include "grid/settings.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

// ---- the program comes to one

int ResizePoints::arrive_at(const char* name) {
  const Place& here = program_position_.place();
  if (here.kind == Place::Kind::named && name && here.text == name) return arrive(here);
  return arrive(Place::named(name));
}

int ResizePoints::arrive(const Place& place) {
  was_refused_ = false;
  if (const std::optional<int> outcome = come_in(place)) return *outcome;
  const Balancing::Point here(balancing_);
  const bool is_restored = (checkpoints_.must_restore() || checkpoints_.may_be_due()) && restore_or_save();
  Findings found = look();
  const Checkpoints::RepeatsPoint repeats(checkpoints_);
  if (!save_as_asked(found)) return DYNGRID_LEAVE;
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

/// What the environment asks for before anything is requested here: only where all processes are at this point.
/// @return whether a checkpoint was restored
bool ResizePoints::restore_or_save() {
  const bool is_due = agree_on_due(program_position_.place());
  if (restore_if_due()) return true;
  if (!is_due) return false;
  balancing_.all_came(); // a checkpoint is no part of the step
  checkpoints_.save();
  return false;
}

bool ResizePoints::agree_on_due(const Place& place) {
  const bool is_due = grid_.rank() == 0 && checkpoints_.is_due();
  return (program_position_.agree(place, is_due ? PlaceWord::checkpoint : std::uint64_t{0}) & PlaceWord::checkpoint) !=
         0;
}

bool ResizePoints::restore_if_due() {
  if (checkpoints_.must_restore()) balancing_.all_came(); // it is no part of the step
  return checkpoints_.restore_if_due();
}

/// A checkpoint by a signal or from outside. Collective over the grid. @return false: the run ends here
bool ResizePoints::save_as_asked(Findings& found) {
  if (!found.wants_checkpoint()) return true;
  const bool is_written = checkpoints_.save_as_asked();
  if ((found.all & PlaceWord::ends_after_it) == 0 || !is_written) return true;
  if (found.asked.request) found.asked.request->put_off();
  if (grid_.rank() == 0)
    std::fprintf(stderr, "dyngrid: checkpoint %s written at resize point %lld; the run ends here, as requested\n",
                 settings_.checkpoint.c_str(), static_cast<long long>(checkpoints_.points_passed()));
  return false;
}

std::optional<int> ResizePoints::come_in(const Place& place) {
  if (!grid_.has_me()) place.check_name();
  program_position_.come_to(place);
  if (changes_.is_led()) return go_on_where_led();
  const std::optional<int> outcome = changes_.come_in();
  if (!outcome) return std::nullopt;
  checkpoints_.heed_signal();
  Checkpoints::forget_signal(); // the others had it while this process was not in the grid
  return outcome;
}

// ---- what all find

/// While new processes are on their way a program of short steps does not ask at each of them whether they are there:
/// they start on its cores, and every process would wait for one that has just lost its own. Alike on all processes of
/// the grid.
bool ResizePoints::passes_by() {
  if (to_pass_ == 0 || !changes_.awaits_newcomers()) {
    to_pass_ = 0;
    return false;
  }
  --to_pass_;
  changes_.pass_point();
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
  if (grid_.rank() != 0) return 0;
  const std::int64_t next = settings_.points, points = next - std::exchange(looked_at_, next);
  const double now_s = MPI_Wtime(), passed_s = now_s - std::exchange(looked_s_, now_s);
  if (!changes_.awaits_newcomers() || points < 1) return 0;
  return PlaceWord::passing(points_to_pass(points, passed_s, settings_.requests, next));
}

ResizePoints::Findings ResizePoints::look() {
  if (passes_by()) {
    balancing_.all_came(); // as far as this process knows
    return {};
  }
  changes_.keep_warm();
  Findings found{changes_.next_asked(), 0};
  try {
    const std::uint64_t mine =
        found.asked.flags() | changes_.news() | looks_to_come() | balancing_.flags() | checkpoints_.flags();
    found.all = program_position_.agree(program_position_.place(), mine | changes_.introductions());
    balancing_.all_came();
    found.all = changes_.introduce(found.all);
    to_pass_ = PlaceWord::points_to_pass(found.all);
  } catch (const Error&) { // what was asked for waits for a resize point where all are
    changes_.put_off(std::move(found.asked));
    throw;
  }
  return found;
}

bool ResizePoints::Findings::is_anything() const {
  constexpr std::uint64_t any = PlaceWord::own_request | PlaceWord::outside_request | PlaceWord::loads |
                                PlaceWord::newcomers_are_there | PlaceWord::newcomers_do_not_come |
                                PlaceWord::process0_sends;
  return (all & any) != 0;
}

bool ResizePoints::is_change_due() {
  if (!grid_.has_me()) return true;
  const bool is_due = changes_.is_due() || checkpoints_.flags() != 0;
  return (program_position_.agree(Place(Place::Kind::query), is_due ? 1 : 0) & 1) != 0;
}

// ---- what is done

int ResizePoints::act(Findings found) {
  return save_as_asked(found) ? act_on(std::move(found)) : DYNGRID_LEAVE;
}

/// Collective over the grid.
int ResizePoints::act_on(Findings found) {
  const bool is_own = (found.all & PlaceWord::own_request) != 0; // goes before one from outside, which process 0 has
  if (!is_own && (found.all & PlaceWord::outside_request) == 0) {
    if ((found.all & PlaceWord::process0_sends) != 0) changes_.release_kept();
    if (changes_.under_way() || (found.all & PlaceWord::loads) == 0) return changes_.let_in(found.all);
    return balance();
  }
  if (is_own && found.asked.request) {
    found.asked.request->put_off();
    found.asked.request.reset();
  }
  Resize::Goal goal = changes_.agree_on_goal(found.asked, is_own);
  return changes_.make(std::move(goal), std::move(found.asked.request), found.all);
}

/// Gathers the loads and carries out the decision that follows. An agreed failure is printed, and the program goes on
/// as it was; one of MPI may be this process's alone.
int ResizePoints::balance() {
  const Balancing::Decision decision = balancing_.exchange();
  try {
    return changes_.balance(decision);
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw;
    return DYNGRID_SAME;
  }
}

/// At another resize point than the one where this process was woken or admitted: the right one, or not.
int ResizePoints::go_on_where_led() {
  Resize led = changes_.take_under_way();
  program_position_.changed();
  return changes_.see_through(led);
}

void ResizePoints::end() {
  program_position_.come_to(Place(Place::Kind::end));
  if (changes_.is_led())
    go_on_where_led(); // which ends the others' waiting: they do not meet this process here
  else
    changes_.call_off("the application ends");
}

} // namespace blacs_dyn
