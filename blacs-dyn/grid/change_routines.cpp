// SPDX-License-Identifier: BSD-3-Clause
#include "grid/change_routines.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "base/status.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

/// @param which      is called
/// @param what_goes  on although it failed: the other processes know of nothing
template <class Call> void call(Call&& routine, const char* which, const char* what_goes) {
  const auto say = [&](const char* what) {
    std::fprintf(stderr, "dyngrid: %s threw an exception: %s; the %s goes on\n", which, what, what_goes);
  };
  try {
    routine();
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("of an unknown type");
  }
}

void call(dyngrid_change_routine routine, void* data, const char* which) {
  if (routine) call([&] { routine(data); }, which, "change");
}

/// In the order of ChangeRoutines::Inside, of which nothing is none.
constexpr const char* routine_names[] = {"", "a routine that dyngrid_on_change calls before a change",
                                         "a routine that dyngrid_on_change calls after a change",
                                         "the routine that dyngrid_on_panel calls after a panel"};
constexpr const char* name_of(ChangeRoutines::Inside inside) {
  return routine_names[static_cast<int>(inside)];
}

} // namespace

void ChangeRoutines::add(dyngrid_change_routine before, dyngrid_change_routine after, void* data) {
  if (before || after) {
    routines_.push_back({before, after, data, ++last_number_});
    return;
  }
  const auto kept =
      std::remove_if(routines_.begin(), routines_.end(), [&](const Routine& r) { return r.data == data; });
  if (kept == routines_.end())
    throw Error(Status::not_found,
                "blacs-dyn: dyngrid_on_change: before and after are null, and no routines are known with this data");
  routines_.erase(kept, routines_.end());
}

bool ChangeRoutines::is_known(const Routine& routine) const {
  return std::any_of(routines_.begin(), routines_.end(), [&](const Routine& r) { return r.number == routine.number; });
}

void ChangeRoutines::call_before() {
  const std::vector<Routine> routines = routines_; // a routine may add and forget others
  owes_after_ = true;
  inside_ = Inside::before;
  for (auto one = routines.rbegin(); one != routines.rend(); ++one)
    if (is_known(*one)) call(one->before, one->data, name_of(inside_));
  inside_ = Inside::nothing;
}

void ChangeRoutines::call_after() {
  const std::vector<Routine> routines = routines_;
  owes_after_ = false;
  inside_ = Inside::after;
  for (const Routine& one : routines)
    if (is_known(one)) call(one.after, one.data, name_of(inside_));
  inside_ = Inside::nothing;
}

void ChangeRoutines::call_on_panel(const dyngrid_panel& panel) {
  const PanelRoutine one = on_panel_; // it may be replaced inside
  if (!one.routine) return;
  inside_ = Inside::panel;
  call([&] { one.routine(&panel, one.data); }, name_of(inside_), "factorization");
  inside_ = Inside::nothing;
}

void ChangeRoutines::clear() {
  routines_.clear();
  on_panel_ = {};
}

void ChangeRoutines::refuse_inside(const char* what, std::initializer_list<Inside> kinds) const {
  if (std::find(kinds.begin(), kinds.end(), inside_) != kinds.end())
    throw Error(Status::bad_state, "blacs-dyn: {} inside {}", what, name_of(inside_));
}

} // namespace blacs_dyn
