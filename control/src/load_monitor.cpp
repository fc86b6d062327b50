// SPDX-License-Identifier: BSD-3-Clause
#include "control/load_monitor.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "advise/rules.hpp"
#include "base/clock.hpp"
#include "base/status.hpp"
#include "base/thread.hpp"

namespace control {
namespace {

constexpr advise::LoadRules rules;

} // namespace

bool take_marked_speeds(std::vector<advise::ProcessLoad>& loads) {
  double sum = 0;
  int in_grid = 0;
  for (const advise::ProcessLoad& load : loads) {
    if (load.place < 0) continue;
    if (load.rate <= 0) return false;
    sum += load.rate;
    ++in_grid;
  }
  if (in_grid == 0) return false;
  const double mean = sum / in_grid;
  std::map<std::string, std::pair<double, int>> hosts;
  for (const advise::ProcessLoad& load : loads)
    if (load.rate > 0) {
      hosts[load.host].first += load.rate / mean;
      ++hosts[load.host].second;
    }
  for (advise::ProcessLoad& load : loads) {
    const auto host = hosts.find(load.host);
    const double usual = host == hosts.end() ? 1 : host->second.first / host->second.second;
    load.speed = load.rate > 0 ? load.rate / mean : usual;
  }
  return true;
}

void MarkedRate::add(double cpu_s, double units) {
  if (!(units > 0)) return;
  cpu_s_ += cpu_s;
  units_ += units;
  if (cpu_s_ < rules.piece_s) return;
  last_.push_back(units_ / cpu_s_);
  if (last_.size() > rules.pieces) last_.pop_front();
  cpu_s_ = units_ = 0;
}

double MarkedRate::value() const {
  return last_.empty() ? 0 : *std::max_element(last_.begin(), last_.end());
}

bool LoadJournal::add(const Load& load, double now_s) {
  constexpr double first_seen_s = (rules.needed - 1) * rules.period_s; // before the sample that decides
  last_ = load;
  if (!load.is_calm) calm_since_s_ = now_s;
  const bool is_stop = load.stopped > 0;
  const bool is_single_stop = is_stop && since_stop_ >= rules.of;
  since_stop_ = is_stop ? 0 : since_stop_ + 1;
  if (is_single_stop) return false; // by a debugger, say: it does not predict what the process will get
  ++samples_;
  if (!watch_.add(load.share)) return false;
  watch_.settle();
  since_s_ = now_s - first_seen_s;
  return true;
}

void LoadJournal::write(advise::LoadFigures& load, double now_s) const {
  load.samples = samples_;
  load.source = static_cast<std::int32_t>(last_.source);
  load.share = watch_.share();
  load.latest = last_.share;
  load.waited = last_.waited;
  load.throttled = last_.throttled;
  load.stolen = last_.stolen;
  load.stopped = last_.stopped;
  load.busy = last_.busy;
  load.competing = samples_ > 0 ? last_.competing : -1;
  load.held_s = std::max(0.0, now_s - since_s_);
  load.calm_s = std::max(0.0, now_s - calm_since_s_);
}

LoadMonitor::LoadMonitor(std::string root)
    : root_(std::move(root)), journal_(base::monotonic_s()), reader_(LoadSource::schedstat, root_), owner_(getpid()) {
  try {
    thread_ = base::thread_without_signals([this] { run(); });
  } catch (const std::exception& error) {
    throw base::Error(base::Status::io_failure, "control: the load monitor cannot start a thread: {}", error.what());
  }
}

void LoadMonitor::Ended::operator()(LoadMonitor* monitor) const {
  if (getpid() == monitor->owner_) delete monitor; // else leaked on purpose: there is no thread to end
}

LoadMonitor::~LoadMonitor() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void LoadMonitor::write(advise::LoadFigures& load) const {
  const std::lock_guard lock(mutex_);
  const double now = base::monotonic_s();
  journal_.write(load, now);
  if (now - due_s_ > rules.stopped_s) load.calm_s = 0; // it was stopped, which the monitor's thread has not seen yet
  load.rate = rate_.value();
  load.stopped_s = stopped_s_;
}

void LoadMonitor::work(double cpu_s, double wall_s, double units) {
  reader_.work(cpu_s, wall_s);
  const std::lock_guard lock(mutex_);
  rate_.add(cpu_s, units);
}

void LoadMonitor::run() {
  std::unique_lock lock(mutex_);
  due_s_ = base::monotonic_s() + period_s;
  while (!ended_.wait_for(lock, std::chrono::duration<double>(std::max(0.0, due_s_ - base::monotonic_s())),
                          [this] { return is_ending_; })) {
    const double late_s = base::monotonic_s() - due_s_;
    lock.unlock();
    try {
      look(late_s);
    } catch (const std::exception&) { // out of memory: the next sample may find some
    }
    lock.lock();
    due_s_ = base::monotonic_s() + period_s;
  }
}

/// late_s: the delay of this thread's wake-up.
void LoadMonitor::look(double late_s) {
  const bool sleeps = sleeps_.load(std::memory_order_relaxed);
  const double stopped_s = late_s > rules.stopped_s ? late_s : 0;
  if (stopped_s > 0) {
    const std::lock_guard lock(mutex_);
    stopped_s_ += stopped_s;
  }
  if (sleeps != did_sleep_) { // earlier samples are of the other kind
    reader_.look();
    did_sleep_ = sleeps;
    const std::lock_guard lock(mutex_);
    journal_.begin_again(base::monotonic_s());
    return;
  }
  auto load = reader_.look_after(wanted_s, sleeps, stopped_s);
  if (!load) return;
  if (stopped_s > 0) load->is_calm = false; // of a sleeping process, too: the user who stopped it may do so again
  const std::lock_guard lock(mutex_);
  if (journal_.add(*load, base::monotonic_s())) has_changed_.store(true, std::memory_order_relaxed);
}

} // namespace control
