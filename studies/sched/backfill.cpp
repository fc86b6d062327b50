// SPDX-License-Identifier: BSD-3-Clause
#include "backfill.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <list>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "base/status.hpp"
#include "sched/free_processors.hpp"

namespace sched {
namespace {

/// Jobs that wait, by their place in the order of arrival: a tree over all places that knows the fewest processors and
/// the shortest estimate below each of its nodes.
class WaitingJobs {
public:
  explicit WaitingJobs(std::size_t places) {
    while (leaves_ < places) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
  }

  void put(std::size_t place, int procs, double estimate_s) { set(place, {procs, estimate_s}); }
  void take(std::size_t place) { set(place, {}); }

  /// The first place from `from` on whose job needs at most `procs`, and at most `limit_s` or at most `extra`
  /// processors; `none` when there is none.
  std::size_t next(std::size_t from, int procs, double limit_s, int extra) const {
    return next(1, 0, leaves_, from, procs, limit_s, extra);
  }
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

private:
  struct Node {
    int procs = std::numeric_limits<int>::max();
    double estimate_s = never;
  };

  void set(std::size_t place, Node leaf) {
    std::size_t at = leaves_ + place;
    nodes_[at] = leaf;
    while ((at /= 2) > 0) {
      const Node &a = nodes_[2 * at], &b = nodes_[2 * at + 1];
      nodes_[at] = {std::min(a.procs, b.procs), std::min(a.estimate_s, b.estimate_s)};
    }
  }

  std::size_t next(std::size_t node, std::size_t begin, std::size_t end, std::size_t from, int procs, double limit_s,
                   int extra) const {
    const Node& n = nodes_[node];
    if (end <= from || n.procs > procs || (n.estimate_s > limit_s && n.procs > extra)) return none;
    if (end - begin == 1) return begin;
    const std::size_t middle = (begin + end) / 2;
    const std::size_t left = next(2 * node, begin, middle, from, procs, limit_s, extra);
    return left != none ? left : next(2 * node + 1, middle, end, from, procs, limit_s, extra);
  }

  std::size_t leaves_ = 1;
  std::vector<Node> nodes_;
};

/// What both have: time, running jobs, and processors that are free by the estimates.
class Backfilling {
public:
  Backfilling(const std::vector<TraceJob>& jobs, int procs)
      : jobs_(jobs), estimated_(procs), free_(procs), start_s_(jobs.size(), never) {}
  virtual ~Backfilling() = default;

  std::vector<double> run() {
    std::size_t arrived = 0;
    while (true) {
      const double at_s = std::min({ends_.empty() ? never : ends_.top().first, next_start(),
                                    arrived < jobs_.size() ? jobs_[arrived].submit_s : never});
      if (at_s == never) return std::move(start_s_);
      now_s_ = at_s;
      estimated_.forget_before(at_s);
      bool has_ended = false, is_early = false;
      for (; !ends_.empty() && ends_.top().first <= at_s; ends_.pop()) {
        has_ended = true;
        is_early |= end(ends_.top().second);
      }
      const std::size_t first_new = arrived;
      while (arrived < jobs_.size() && jobs_[arrived].submit_s <= at_s) ++arrived;
      schedule(has_ended, is_early, first_new, arrived);
    }
  }

protected:
  /// Of a job that waits for its time and not for an event; never: of none.
  virtual double next_start() { return never; }
  /// Jobs first_new up to, and without, end_new have come.
  virtual void schedule(bool has_ended, bool is_early, std::size_t first_new, std::size_t end_new) = 0;

  /// Its processors are taken in `estimated_` already, or are by `takes`.
  void start(std::size_t i, bool takes) {
    const TraceJob& job = jobs_[i];
    start_s_[i] = now_s_;
    free_ -= job.procs;
    ends_.emplace(now_s_ + job.run_s, i);
    if (takes) estimated_.add(now_s_, now_s_ + job.estimate_s, -job.procs);
  }

  const std::vector<TraceJob>& jobs_;
  FreeProcessors estimated_; ///< by the estimates
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
  Easy(const std::vector<TraceJob>& jobs, int procs) : Backfilling(jobs, procs), waiting_(jobs.size()) {}

protected:
  void schedule(bool has_ended, bool, std::size_t first_new, std::size_t end_new) override {
    for (std::size_t i = first_new; i < end_new; ++i) waiting_.put(i, jobs_[i].procs, jobs_[i].estimate_s);
    const std::size_t head_before = head_;
    while (next_of_queue() && jobs_[head_].procs <= free_) start_waiting(head_);
    if (!next_of_queue()) return;
    const TraceJob& head = jobs_[head_];
    const double reserved_s = estimated_.earliest(head.procs, 0, now_s_);
    int extra = estimated_.free_at(reserved_s) - head.procs;
    // where nothing has ended and the first is the same, those that could not start before cannot now
    std::size_t at = has_ended || head_ != head_before ? head_ + 1 : std::max(first_new, head_ + 1);
    const double limit_s = reserved_s - now_s_;
    while (free_ > 0 && (at = waiting_.next(at, free_, limit_s, extra)) != WaitingJobs::none) {
      if (jobs_[at].estimate_s > limit_s) extra -= jobs_[at].procs;
      start_waiting(at);
    }
  }

private:
  bool next_of_queue() {
    head_ = waiting_.next(head_, std::numeric_limits<int>::max() - 1, never, 0);
    if (head_ != WaitingJobs::none) return true;
    head_ = 0;
    return false;
  }
  void start_waiting(std::size_t i) {
    waiting_.take(i);
    start(i, true);
  }

  WaitingJobs waiting_;
  std::size_t head_ = 0; ///< nobody waits before this place
};

class Conservative : public Backfilling {
public:
  Conservative(const std::vector<TraceJob>& jobs, int procs) : Backfilling(jobs, procs), reserved_s_(jobs.size()) {}

protected:
  double next_start() override {
    while (!starts_.empty() && reserved_s_[starts_.top().second] != starts_.top().first) starts_.pop(); // moved since
    return starts_.empty() ? never : starts_.top().first;
  }

  void schedule(bool, bool is_early, std::size_t first_new, std::size_t end_new) override {
    if (is_early)
      for (const std::size_t i : waiting_) move_up(i);
    for (std::size_t i = first_new; i < end_new; ++i) {
      waiting_.push_back(i);
      reserve(i, estimated_.earliest(jobs_[i].procs, jobs_[i].estimate_s, now_s_));
    }
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

  std::list<std::size_t> waiting_; ///< in the order of arrival
  std::vector<double> reserved_s_; ///< -1: it has started
  using Time = std::pair<double, std::size_t>;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> starts_;
};

} // namespace

std::vector<double> backfill(const std::vector<TraceJob>& jobs, int procs, Backfill kind) {
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].procs < 1 || jobs[i].procs > procs || (i > 0 && jobs[i].submit_s < jobs[i - 1].submit_s))
      throw base::Error(base::Status::bad_argument,
                        fmt::format("scheduler: job {} asks for {} processors at {} s, expected 1 .. {} processors, "
                                    "and times that ascend",
                                    jobs[i].id, jobs[i].procs, jobs[i].submit_s, procs));
  if (kind == Backfill::easy) return Easy(jobs, procs).run();
  return Conservative(jobs, procs).run();
}

} // namespace sched
