// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>
#include <deque>
#include <functional>

#include <fmt/format.h>

#include "advise/rules.hpp"
#include "base/status.hpp"
#include "promise.hpp"

namespace sched {

int State::free() const {
  int left = procs;
  for (const Job* job : running) left -= std::max(job->procs, job->target);
  return std::max(left, 0);
}

namespace {

bool may_be_asked(const Job& job, double now_s) {
  return job.resizable && job.target == 0 && job.unresponsive_until_s <= now_s;
}

/// A job, its planned size, and the least size that it may shrink to.
struct Plan {
  const Job* job;
  int procs;
  int least = 0;
  double power = 0; ///< total speed that it gets of its processors
};

/// The total nominal speed that a job has left after shrinking to n processors.
double power_left(const Job& job, int n) {
  return job.power > 0 && job.procs > 0 ? job.power * n / job.procs : n;
}

/// The total speed that each job gets when the remaining free processors are given in this order, the fastest first.
/// @param left processors that none of them has yet
void weigh(std::vector<Plan>& plans, const std::vector<double>& free_speeds, int left) {
  if (free_speeds.empty()) {
    for (Plan& plan : plans) plan.power = plan.job->procs * plan.job->share + (plan.procs - plan.job->procs);
    return;
  }
  std::size_t given = 0;
  for (const Plan& plan : plans) given += static_cast<std::size_t>(plan.procs - plan.job->procs);
  const std::size_t all = given + static_cast<std::size_t>(left);
  auto next = free_speeds.begin() + static_cast<std::ptrdiff_t>(free_speeds.size() - std::min(free_speeds.size(), all));
  for (Plan& plan : plans) {
    plan.power = power_left(*plan.job, plan.job->procs) * plan.job->share;
    for (int k = plan.job->procs; k < plan.procs; ++k) plan.power += next != free_speeds.end() ? *next++ : 1;
  }
}

/// The plan that goes up to its next size, given `left` processors; -1 for none.
using Raise = std::function<int(const std::vector<Plan>&, int left)>;

/// The first of the queue takes all it can, then the second.
int raise_first(const std::vector<Plan>& plans, int left) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const int next = plans[i].job->sizes->above(plans[i].procs);
    if (next != 0 && next - plans[i].procs <= left) return static_cast<int>(i);
  }
  return -1;
}

/// The one with the least power, of equals the first; higher priorities before.
int raise_even(const std::vector<Plan>& plans, int left) {
  int best = -1;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Plan& plan = plans[i];
    const int next = plan.job->sizes->above(plan.procs);
    if (next == 0 || next - plan.procs > left) continue;
    if (best >= 0) {
      const Plan& other = plans[static_cast<std::size_t>(best)];
      if (other.job->priority > plan.job->priority ||
          (other.job->priority == plan.job->priority && other.power <= plan.power))
        continue;
    }
    best = static_cast<int>(i);
  }
  return best;
}

int raise_all(std::vector<Plan>& plans, int left, const std::vector<double>& free_speeds, const Raise& raise) {
  weigh(plans, free_speeds, left);
  for (int i = raise(plans, left); i >= 0; i = raise(plans, left)) {
    Plan& plan = plans[static_cast<std::size_t>(i)];
    const int next = plan.job->sizes->above(plan.procs);
    left -= next - plan.procs;
    plan.power += next - plan.procs;
    plan.procs = next;
    if (!free_speeds.empty()) weigh(plans, free_speeds, left);
  }
  return left;
}

/// Adaptive starts: every waiting job that fits on its smallest size, in the order of the queue; then the rest is
/// distributed.
/// @return processors still free
int start_adaptive(const State& state, int free, const Raise& raise, std::vector<Decision>& out) {
  std::vector<Plan> plans;
  for (const Job* job : state.waiting) {
    const int smallest = job->sizes->smallest();
    if (smallest > free) continue;
    plans.push_back({job, smallest});
    free -= smallest;
  }
  if (plans.empty()) return free;
  free = raise_all(plans, free, state.free_speeds, raise);
  for (const Plan& plan : plans) out.push_back({plan.job, plan.procs});
  return free;
}

class Lazy : public Policy {
public:
  void decide(const State& state, std::vector<Decision>& out) const override {
    int free = state.free();
    for (const Job* job : state.waiting) {
      if (job->sizes->smallest() > free) continue;
      out.push_back({job, job->sizes->at_most(free)});
      free -= out.back().procs;
    }
  }
};

Raise raise_of(const PolicyOptions& options) {
  return options.share == PolicyOptions::Share::even ? raise_even : raise_first;
}

class Adaptive : public Policy {
public:
  explicit Adaptive(const PolicyOptions& options) : raise_(raise_of(options)) {}
  void decide(const State& state, std::vector<Decision>& out) const override {
    start_adaptive(state, state.free(), raise_, out);
  }

private:
  Raise raise_;
};

/// Frees processors for waiting jobs and gives idle ones to running jobs. The subclasses choose the running jobs.
class Resizing : public Policy {
public:
  void decide(const State& state, std::vector<Decision>& out) const override {
    const int free = start_adaptive(state, state.free(), raise_, out);
    std::vector<const Job*> started;
    for (const Decision& start : out) started.push_back(start.job);
    std::sort(started.begin(), started.end(), std::less<>());
    std::vector<const Job*> left;
    for (const Job* job : state.waiting)
      if (!std::binary_search(started.begin(), started.end(), job, std::less<>())) left.push_back(job);
    if (!left.empty())
      shrink(state, free, left, out);
    else if (free > 0 && !state.running.empty())
      grow(state, free, out);
  }

protected:
  explicit Resizing(Raise raise) : raise_(std::move(raise)) {}
  /// The least size to start a waiting job, and the least size to which a running one may be asked to shrink.
  virtual int least_to_start(const Job& job, double) const { return job.sizes->smallest(); }
  virtual int least_to_keep(const Job& job, double) const { return job.sizes->smallest(); }
  /// Whether the victim of `plan` should be asked to shrink for `job`; and which of two should shrink sooner: the one
  /// of lower priority, then the less reluctant.
  virtual bool should_shrink(const Plan&, const Job&) const { return true; }
  bool sooner(const Plan& a, const Plan& b) const {
    if (a.job->priority != b.job->priority) return a.job->priority < b.job->priority;
    return reluctance(*a.job, a.procs) < reluctance(*b.job, b.procs);
  }
  /// The job with the most power shrinks first. With a share of a half it counts as twice as large, since it got only
  /// half of what it gives up.
  virtual double reluctance(const Job& job, int procs) const { return -power_left(job, procs) / job.share; }
  virtual bool should_grow(const Job& job, int to) const { return growth_pays(job, job.procs, to); }

  /// The jobs that may be asked to release processors, and the free processors, including those being released.
  struct Victims {
    std::vector<Plan> plans;
    int coming;
    int spare() const { // the most that all of them could release: a job that needs more is not considered further
      int sum = 0;
      for (const Plan& plan : plans) sum += plan.procs - plan.least;
      return sum;
    }
  };
  Victims victims_of(const State& state, int free) const {
    Victims victims{{}, free};
    for (const Job* job : state.running) {
      if (job->target != 0 && job->target < job->procs) victims.coming += job->procs - job->target;
      if (!may_be_asked(*job, state.now_s)) continue;
      const int least = least_to_keep(*job, state.now_s);
      if (job->procs > least) victims.plans.push_back({job, job->procs, least});
    }
    return victims;
  }

  /// Asks running jobs to release the processors that the `waiting` ones need, the first in the queue first.
  void shrink(const State& state, int free, const std::vector<const Job*>& waiting, std::vector<Decision>& out) const {
    Victims all = victims_of(state, free);
    std::vector<Plan>& victims = all.plans;
    int coming = all.coming;
    int most = all.spare();
    for (const Job* job : waiting) {
      if (most == 0 && coming == 0) break;
      if (job->sizes->smallest() - coming > most) continue; // it starts on no less
      int need = least_to_start(*job, state.now_s) - coming;
      if (need > most) continue;
      if (need > 0) {
        // all or nothing: no job shrinks for a job that cannot start then
        std::vector<Plan> plan = victims;
        while (need > 0) {
          Plan* best = nullptr;
          for (Plan& victim : plan)
            if (victim.procs > victim.least && victim.job->priority <= job->priority && should_shrink(victim, *job) &&
                (best == nullptr || sooner(victim, *best)))
              best = &victim;
          if (best == nullptr) break;
          // a size that frees enough, or its least size
          const int enough = best->job->sizes->at_most(best->procs - need);
          const int to = std::max(enough, best->least);
          need -= best->procs - to;
          best->procs = to;
        }
        if (need > 0) {
          if (victims.empty() && coming == 0) break;
          continue;
        }
        victims = std::move(plan);
        most = all.spare();
      }
      coming = -need;
    }
    for (const Plan& victim : victims)
      if (victim.procs != victim.job->procs) out.push_back({victim.job, victim.procs});
  }

  void grow(const State& state, int free, std::vector<Decision>& out) const {
    std::vector<Plan> plans;
    for (const Job* job : state.running)
      if (may_be_asked(*job, state.now_s) && job->procs < job->sizes->largest()) plans.push_back({job, job->procs});
    if (plans.empty()) return;
    raise_all(plans, free, state.free_speeds, raise_);
    for (const Plan& plan : plans)
      if (plan.procs != plan.job->procs && should_grow(*plan.job, plan.procs)) out.push_back({plan.job, plan.procs});
  }

  const Raise raise_;
};

class Reconfigurable : public Resizing {
public:
  explicit Reconfigurable(const PolicyOptions& options) : Resizing(raise_of(options)), payoff_(options.payoff) {}

protected:
  bool should_grow(const Job& job, int to) const override { return !payoff_ || Resizing::should_grow(job, to); }

private:
  bool payoff_;
};

/// Jobs ended per second: each processor goes where the sum of 1/(seconds left) rises most.
class Throughput : public Resizing {
public:
  Throughput() : Resizing(raise_best) {}

protected:
  // Without history a job is assumed to take an hour on its smallest size and to use every core fully. Known times are
  // those of all its runs, mostly without the present load.
  static double rate(const Job& job, int n) {
    const double left = seconds_left(job, n);
    if (left >= 0) return job.share / std::max(left, 1e-9);
    const int useful = job.cores > 0 ? std::min(n, job.cores) : n;
    return job.share * useful / (3600.0 * job.sizes->smallest());
  }
  /// For each processor.
  static double gain_of(const Job& job, int procs, int next) {
    return (rate(job, next) - rate(job, procs)) / (next - procs);
  }
  static int raise_best(const std::vector<Plan>& plans, int left) {
    int best = -1;
    double best_gain = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const Plan& plan = plans[i];
      // a size that is no faster may lie before one that is: take the best rate of rise over the sizes within reach
      for (int next = plan.job->sizes->above(plan.procs); next != 0 && next - plan.procs <= left;
           next = plan.job->sizes->above(next)) {
        const double gain = gain_of(*plan.job, plan.procs, next);
        const bool more_urgent = best >= 0 && plan.job->priority > plans[static_cast<std::size_t>(best)].job->priority;
        if (gain > 0 && (best < 0 || more_urgent ||
                         (gain > best_gain * (1 + 1e-12) &&
                          plan.job->priority == plans[static_cast<std::size_t>(best)].job->priority))) {
          best = static_cast<int>(i);
          best_gain = gain;
        }
      }
    }
    return best;
  }
  bool should_shrink(const Plan& victim, const Job& job) const override {
    // a job that ends before a change would be worthwhile is not changed
    const double left = seconds_left(*victim.job, victim.procs);
    if (left >= 0 && left <= 2 * victim.job->resize_s) return false;
    const int to = victim.job->sizes->at_most(victim.procs - 1);
    return rate(*victim.job, victim.procs) - rate(*victim.job, to) < rate(job, job.sizes->smallest());
  }
  /// Rate lost for each processor of the next size down.
  double reluctance(const Job& job, int procs) const override {
    const int to = job.sizes->at_most(procs - 1);
    return (rate(job, procs) - rate(job, to)) / (procs - to);
  }
};

/// Jobs with a finish-by time first, each on the smallest size that keeps it; the rest of the processors as under `rs`.
class FinishBy : public Resizing {
public:
  explicit FinishBy(const PolicyOptions& options) : Resizing(raise_of(options)) {}

  void decide(const State& state, std::vector<Decision>& out) const override {
    int free = raise_late(state, state.free(), out);
    std::vector<const Job*> blocked;
    free = start(state, free, out, blocked);
    if (!blocked.empty())
      shrink(state, free, blocked, out);
    else if (free > 0 && out.empty())
      grow(state, free, out);
  }

protected:
  int least_to_start(const Job& job, double now_s) const override {
    const int n = smallest_in_time(job, now_s);
    return n != 0 ? n : job.sizes->smallest();
  }
  int least_to_keep(const Job& job, double now_s) const override {
    const int n = smallest_in_time(job, now_s + job.resize_s);
    return n != 0 ? n : job.sizes->smallest(); // a job that is late already delays no other
  }

private:
  struct Waiting {
    const Job* job;
    double latest_s; ///< latest_start_s; infinite for a job without a finish-by time, or too late for it
    /// Whether it can let jobs with less time go first.
    bool has_time(double now_s) const {
      return latest_s < never && latest_s - now_s > (job->finish_by_s - latest_s) / 4;
    }
    bool is_blocked(int free, double now_s) const { return job->sizes->smallest() > free && !has_time(now_s); }
    bool goes_before(const Waiting& other) const {
      return job->priority != other.job->priority ? job->priority > other.job->priority : latest_s < other.latest_s;
    }
  };
  /// By priority, then by latest start, then in the order of the queue.
  static std::vector<Waiting> in_order(const State& state) {
    std::vector<Waiting> order;
    for (const Job* job : state.waiting) order.push_back({job, latest_start_s(*job, state.now_s)});
    std::stable_sort(order.begin(), order.end(), [](const Waiting& a, const Waiting& b) { return a.goes_before(b); });
    return order;
  }

  /// Processors that shrinking cannot free.
  int held(const State& state) const {
    int sum = 0;
    for (const Job* job : state.running)
      sum += may_be_asked(*job, state.now_s) ? std::min(job->procs, least_to_keep(*job, state.now_s))
                                             : std::max(job->procs, job->target);
    return sum;
  }

  /// Running jobs that would be late at their present size grow to the smallest sufficient size.
  /// @return processors free then.
  int raise_late(const State& state, int free, std::vector<Decision>& out) const {
    for (const Job* job : state.running) {
      if (job->finish_by_s == never || !may_be_asked(*job, state.now_s)) continue;
      const double left = seconds_left(*job, job->procs);
      if (left < 0 || state.now_s + left <= job->finish_by_s) continue;
      const int n = smallest_in_time(*job, state.now_s + job->resize_s);
      if (n <= job->procs || n - job->procs > free) continue;
      out.push_back({job, n});
      free -= n - job->procs;
    }
    return free;
  }

  /// Starts in the order of the queue. The first that waits for processors keeps its place. Others start only on
  /// processors that it will not need, or for as long as it has time.
  /// @return processors free then.
  int start(const State& state, int free, std::vector<Decision>& out, std::vector<const Job*>& blocked) const {
    std::vector<Plan> plans;
    double until_s = never; // the latest start of the first that waits
    const int spared = state.procs / 8;
    int held_by_all = -1, started = 0; // computed where it matters
    for (const Waiting& next : in_order(state)) {
      const Job* job = next.job;
      const auto is_blocked = [&] {
        blocked.push_back(job);
        until_s = std::min(until_s, next.latest_s);
      };
      if (next.is_blocked(free, state.now_s)) { // on any size
        is_blocked();
        continue;
      }
      const int n = least_to_start(*job, state.now_s);
      if (n > spared && next.has_time(state.now_s)) {
        if (held_by_all < 0) held_by_all = held(state);
        if (held_by_all + started + n > state.procs - spared) continue;
      }
      const auto ends_before = [&] {
        if (until_s == never || (job->resizable && next.latest_s == never)) return true;
        const double left = seconds_left(*job, n);
        return left >= 0 && state.now_s + left <= until_s;
      };
      if (n <= free && ends_before()) {
        plans.push_back({job, n});
        free -= n;
        started += n;
      } else {
        is_blocked();
      }
    }
    if (blocked.empty()) free = raise_all(plans, free, state.free_speeds, raise_);
    for (const Plan& plan : plans) out.push_back({plan.job, plan.procs});
    return free;
  }
};

/// The state with the same share for all running jobs, which `copies` holds.
State with_share(const State& state, double share, std::deque<Job>& copies) {
  State same = state;
  for (const Job*& job : same.running) {
    copies.push_back(*job);
    copies.back().share = share;
    job = &copies.back();
  }
  return same;
}

} // namespace

std::vector<std::int64_t> candidates_to_shrink(const Policy& policy, const State& state) {
  std::vector<std::int64_t> candidates;
  if (state.waiting.empty()) return candidates;
  const int most = state.waiting.front()->priority;
  for (const Job* job : state.running)
    if (may_be_asked(*job, state.now_s) && job->procs > job->sizes->smallest() && job->priority <= most)
      candidates.push_back(job->id);
  if (candidates.size() < 2) return {};
  std::deque<Job> copies;
  std::vector<Decision> decisions;
  // the least share: no job loses anything by a shrink
  policy.decide(with_share(state, advise::LoadRules().least_share, copies), decisions);
  if (std::none_of(decisions.begin(), decisions.end(), [](const Decision& d) { return d.is_shrink(); })) return {};
  return candidates;
}

std::string why_by_load(const Policy& policy, const State& state, const Decision& decision) {
  if (!decision.is_shrink() || decision.job->share >= 1) return "";
  std::deque<Job> copies;
  std::vector<Decision> unloaded;
  policy.decide(with_share(state, 1, copies), unloaded);
  const bool is_same = std::any_of(unloaded.begin(), unloaded.end(), [&](const Decision& other) {
    return other.job->id == decision.job->id && other.procs == decision.procs;
  });
  return is_same ? "" : fmt::format("its processes get {:.2f} of their processors", decision.job->share);
}

bool growth_pays(const Job& job, int from, int to) {
  const double before = seconds_left(job, from), after = seconds_left(job, to);
  if (before < 0 || after < 0) return job.cores == 0 || from < job.cores;
  return before - after > job.resize_s;
}

std::unique_ptr<Policy> make_policy(std::string_view name, const PolicyOptions& options) {
  if (name == "ls") return std::make_unique<Lazy>();
  if (name == "as") return std::make_unique<Adaptive>(options);
  if (name == "rs") return std::make_unique<Reconfigurable>(options);
  if (name == "tp") return std::make_unique<Throughput>();
  if (name == "qos") return std::make_unique<FinishBy>(options);
  throw base::Error(base::Status::bad_argument, "scheduler: the policy is '{}', expected ls, as, rs, tp or qos", name);
}

} // namespace sched
