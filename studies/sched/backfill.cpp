// SPDX-License-Identifier: BSD-3-Clause
#include "backfill.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <queue>
#include <utility>

#include "base/status.hpp"
#include "sched/free_processors.hpp"

namespace sched {
namespace {

/// What both have: time, jobs that wait and that run, and processors that are free by the estimates.
class Backfilling {
public:
  Backfilling(const std::vector<TraceJob>& jobs, int procs)
      : jobs_(jobs), estimated_(procs), free_(procs), start_s_(jobs.size(), never) {}
  virtual ~Backfilling() = default;

  std::vector<double> run() {
    std::size_t next = 0; // to arrive
    while (true) {
      const double at_s = std::min({ends_.empty() ? never : ends_.top().first, next_start(),
                                    next < jobs_.size() ? jobs_[next].submit_s : never});
      if (at_s == never) return std::move(start_s_);
      now_s_ = at_s;
      estimated_.forget_before(at_s);
      bool is_early = false;
      for (; !ends_.empty() && ends_.top().first <= at_s; ends_.pop()) is_early |= end(ends_.top().second);
      if (is_early) ended_early();
      for (; next < jobs_.size() && jobs_[next].submit_s <= at_s; ++next) {
        waiting_.push_back(next);
        arrived(next);
      }
      schedule();
    }
  }

protected:
  /// Of a job that waits for its time and not for an event; never: of none.
  virtual double next_start() { return never; }
  virtual void ended_early() {} ///< a job, before its estimate
  virtual void arrived(std::size_t) {}
  virtual void schedule() = 0;

  /// Its processors are taken in `estimated_` already, or are by `takes`.
  void start(std::size_t i, bool takes) {
    const TraceJob& job = jobs_[i];
    start_s_[i] = now_s_;
    free_ -= job.procs;
    ends_.emplace(now_s_ + job.run_s, i);
    if (takes) estimated_.add(now_s_, now_s_ + job.estimate_s, -job.procs);
  }

  const std::vector<TraceJob>& jobs_;
  std::list<std::size_t> waiting_; ///< in the order of arrival
  FreeProcessors estimated_;       ///< by the estimates
  int free_;
  double now_s_ = 0;

private:
  /// Whether it ends before its estimate.
  bool end(std::size_t i) {
    const TraceJob& job = jobs_[i];
    free_ += job.procs;
    estimated_.add(now_s_, start_s_[i] + job.estimate_s, job.procs);
    return job.run_s < job.estimate_s;
  }

  using Time = std::pair<double, std::size_t>;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> ends_;
  std::vector<double> start_s_;
};

class Easy : public Backfilling {
public:
  using Backfilling::Backfilling;

protected:
  void schedule() override {
    while (!waiting_.empty() && jobs_[waiting_.front()].procs <= free_) {
      start(waiting_.front(), true);
      waiting_.pop_front();
    }
    if (waiting_.empty()) return;
    const TraceJob& head = jobs_[waiting_.front()];
    const double reserved_s = estimated_.earliest(head.procs, 0, now_s_), limit_s = reserved_s - now_s_;
    int extra = estimated_.free_at(reserved_s) - head.procs;
    for (auto at = std::next(waiting_.begin()); at != waiting_.end();) {
      const TraceJob& job = jobs_[*at];
      const bool is_short = job.estimate_s <= limit_s;
      if (job.procs > free_ || (!is_short && job.procs > extra)) {
        ++at;
        continue;
      }
      if (!is_short) extra -= job.procs;
      start(*at, true);
      at = waiting_.erase(at);
    }
  }
};

class Conservative : public Backfilling {
public:
  Conservative(const std::vector<TraceJob>& jobs, int procs) : Backfilling(jobs, procs), reserved_s_(jobs.size()) {}

protected:
  double next_start() override {
    while (!starts_.empty() && reserved_s_[starts_.top().second] != starts_.top().first) starts_.pop(); // moved since
    return starts_.empty() ? never : starts_.top().first;
  }

  void ended_early() override {
    for (const std::size_t i : waiting_) move_up(i);
  }
  void arrived(std::size_t i) override { reserve(i, estimated_.earliest(jobs_[i].procs, jobs_[i].estimate_s, now_s_)); }
  void schedule() override {
    if (next_start() > now_s_) return;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (reserved_s_[*at] > now_s_) {
        ++at;
        continue;
      }
      start(*at, false);
      reserved_s_[*at] = -1;
      at = waiting_.erase(at);
    }
  }

private:
  void reserve(std::size_t i, double at_s) {
    reserved_s_[i] = at_s;
    starts_.emplace(at_s, i);
    estimated_.add(at_s, at_s + jobs_[i].estimate_s, -jobs_[i].procs);
  }
  /// From the time that it has on, its own processors are free for it.
  void move_up(std::size_t i) {
    const TraceJob& job = jobs_[i];
    const double from_s = reserved_s_[i], to_s = estimated_.earliest(job.procs, job.estimate_s, now_s_, from_s);
    if (to_s >= from_s) return;
    estimated_.add(from_s, from_s + job.estimate_s, job.procs);
    reserve(i, to_s);
  }

  std::vector<double> reserved_s_; ///< -1: it has started
  using Time = std::pair<double, std::size_t>;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> starts_;
};

} // namespace

std::vector<double> backfill(const std::vector<TraceJob>& jobs, int procs, Backfill kind) {
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].procs < 1 || jobs[i].procs > procs || (i > 0 && jobs[i].submit_s < jobs[i - 1].submit_s))
      throw base::Error(base::Status::bad_argument,
                        "scheduler: job {} asks for {} processors at {} s, expected 1 .. {} processors, and times that "
                        "ascend",
                        jobs[i].id, jobs[i].procs, jobs[i].submit_s, procs);
  if (kind == Backfill::easy) return Easy(jobs, procs).run();
  return Conservative(jobs, procs).run();
}

} // namespace sched
