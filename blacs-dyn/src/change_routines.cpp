// SPDX-License-Identifier: BSD-3-Clause
#include "change_routines.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "base/status.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

void call(dyngrid_change_routine routine, void* data, const char* when) {
  const auto say = [&](const char* what) {
    std::fprintf(stderr,
                 "dyngrid: a routine of dyngrid_on_change that is called %s a change threw an exception: %s; the "
                 "change goes on\n",
                 when, what);
  };
  try {
    if (routine) routine(data);
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("of an unknown type");
  }
}

} // namespace

void ChangeRoutines::add(dyngrid_change_routine before, dyngrid_change_routine after, void* data) {
  if (before || after) {
    routines_.push_back({before, after, data});
    return;
  }
  const auto kept =
      std::remove_if(routines_.begin(), routines_.end(), [&](const Routine& r) { return r.data == data; });
  if (kept == routines_.end())
    throw Error(Status::not_found,
                "blacs-dyn: dyngrid_on_change: before and after are null, and no routines are known with this data");
  routines_.erase(kept, routines_.end());
}

void ChangeRoutines::call_before() {
  const std::vector<Routine> routines = routines_; // a routine may add others
  owes_after_ = true;
  inside_ = Inside::before;
  for (auto one = routines.rbegin(); one != routines.rend(); ++one) call(one->before, one->data, "before");
  inside_ = Inside::nothing;
}

void ChangeRoutines::call_after() {
  const std::vector<Routine> routines = routines_;
  owes_after_ = false;
  inside_ = Inside::after;
  for (const Routine& one : routines) call(one.after, one.data, "after");
  inside_ = Inside::nothing;
}

void ChangeRoutines::refuse_inside(const char* what, bool only_before) const {
  if (inside_ == Inside::before || (inside_ == Inside::after && !only_before))
    throw Error(Status::bad_state,
                fmt::format("blacs-dyn: {} inside a routine that dyngrid_on_change calls {} a change", what,
                            inside_ == Inside::before ? "before" : "after"));
}

} // namespace blacs_dyn
