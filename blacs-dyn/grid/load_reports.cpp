// SPDX-License-Identifier: BSD-3-Clause
#include "grid/load_reports.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "advise/rules.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"

namespace blacs_dyn {

using advise::LoadFigures;
using base::Error;
using base::Status;

namespace {
constexpr advise::BalanceRules rules;
}

void LoadReports::start_monitor() {
  if (monitor_) return;
  try {
    const char* root = environment("DYNGRID_LOAD_ROOT");
    monitor_.reset(new control::LoadMonitor(root ? root : ""));
  } catch (const std::exception& error) { // this process has no figures; the others see that they are missing
    if (processes_.id() == 0) std::fprintf(stderr, "dyngrid: %s\n", error.what());
    is_on_ = false;
  }
}

bool LoadReports::begin_or_wake() {
  if (settings_.balance != control::BalanceMode::off) is_on_ = true;
  if (is_on_) start_monitor();
  if (!std::exchange(is_asleep_, false)) return false;
  sent_.reset();
  monitor_->sleeps(false);
  return true;
}

LoadFigures LoadReports::own() const {
  LoadFigures load;
  load.process = processes_.id();
  if (monitor_) monitor_->write(load);
  load.speed = processes_.process_set().speed_of(load.process);
  return load;
}

void LoadReports::was_sent() {
  if (monitor_) monitor_->was_sent();
}

void LoadReports::end() {
  monitor_.reset();
  if (processes_.id() == 0 && processes_.world() != MPI_COMM_NULL) receive();
}

// ---- marked work

void LoadReports::work_begins() {
  if (marked_) throw Error(Status::bad_state, "blacs-dyn: dyngrid_work_begin: the work before has no dyngrid_work_end");
  marked_ = Clocks{base::monotonic_s(), control::thread_cpu_s()};
}

void LoadReports::work_ends(double units) {
  if (!marked_) throw Error(Status::bad_state, "blacs-dyn: dyngrid_work_end without dyngrid_work_begin before it");
  if (!std::isfinite(units) || units < 0)
    throw Error(Status::bad_argument,
                "blacs-dyn: dyngrid_work_end: units is {}, expected a finite number of at least 0", units);
  const Clocks begun = *std::exchange(marked_, std::nullopt);
  if (!monitor_) return;
  monitor_->work(control::thread_cpu_s() - begun.cpu_s, base::monotonic_s() - begun.wall_s, units);
}

// ---- sleeping processes

void LoadReports::while_asleep() {
  if (processes_.id() < 0) return;
  processes_.receive_reports(base::tag_load);
  if (settings_.balance == control::BalanceMode::off) return;
  start_monitor();
  if (!monitor_) return;
  is_asleep_ = true;
  monitor_->sleeps(true);
  const double now = base::monotonic_s();
  if (sent_ && now - sent_->at_s < rules.asleep_news_s) return;
  const LoadFigures load = own();
  if (load.samples == 0) return;
  const auto is_calm = [](const LoadFigures& of) { return of.calm_s > rules.asleep_news_s; };
  if (sent_ && std::abs(load.share - sent_->load.share) < rules.asleep_share && is_calm(load) == is_calm(sent_->load) &&
      now - sent_->at_s < rules.asleep_s)
    return;
  sent_ = {load, now};
  const char* bytes = reinterpret_cast<const char*>(&load);
  processes_.send_to_process0(base::tag_load, {bytes, bytes + sizeof load});
}

void LoadReports::receive() {
  const double now = base::monotonic_s();
  for (const std::vector<char>& bytes : processes_.receive_reports(base::tag_load)) {
    LoadFigures load;
    if (bytes.size() != sizeof load) continue;
    std::memcpy(&load, bytes.data(), sizeof load);
    load.place = -1;
    received_[load.process] = {load, now};
  }
}

std::vector<LoadFigures> LoadReports::of_sleepers() {
  receive();
  const double now = base::monotonic_s();
  const ProcessSet& set = processes_.process_set();
  std::map<int, Report> asleep;
  std::vector<LoadFigures> loads;
  for (const int id : set.all_parked()) {
    LoadFigures load;
    load.process = id; // nothing is known of it yet
    if (const auto known = received_.find(id); known != received_.end()) {
      asleep.insert(*known);
      load = known->second.load;
      const double ago = now - known->second.at_s;
      load.held_s += ago;
      if (load.calm_s > 0) load.calm_s += ago;   // it would have reported a competitor
      if (ago > rules.silent_s) load.calm_s = 0; // not taken back: all would wait for it
    }
    load.speed = set.speed_of(id);
    const int owner = set.group_of(id).owner;
    if (owner > 0 && !has(set.grid.ids, owner)) load.calm_s = 0; // it wakes those it owns: not taken back before
    loads.push_back(load);
  }
  received_ = std::move(asleep); // a process that works again begins anew when it sleeps the next time
  return loads;
}

} // namespace blacs_dyn
