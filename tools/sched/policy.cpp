// SPDX-License-Identifier: BSD-3-Clause
#include "policy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "askable.hpp"
#include "base/status.hpp"
#include "by_class.hpp"
#include "gridmap/step_time.hpp"
#include "promise.hpp"
#include "queue.hpp"

namespace sched {

int State::free() const {
  if (taken >= 0) return std::max(procs - taken, 0);
  int left = procs;
  for (const Job* job : running) left -= std::max(job->procs, job->target);
  return std::max(left, 0);
}

namespace {

bool may_be_asked(const Job& job, double now_s) {
  return job.resizable && job.target == 0 && job.unresponsive_until_s <= now_s;
}

/// A job and the size planned for it, and what it may go down to.
struct Plan {
  const Job* job;
  int procs;
  int least = 0;
  double power = 0; ///< speeds of its processors together
};

/// Of what a job has when it goes down to n processors.
double power_left(const Job& job, int n) {
  return job.power > 0 && job.procs > 0 ? job.power * n / job.procs : n;
}

/// What each would have, when they get the processors that are still free in their order, the fastest first.
/// @param left  processors that none of them has got yet
void weigh(std::vector<Plan>& plans, const std::vector<double>& free_speeds, int left) {
  if (free_speeds.empty()) {
    for (Plan& plan : plans) plan.power = plan.procs;
    return;
  }
  std::size_t given = 0;
  for (const Plan& plan : plans) given += static_cast<std::size_t>(plan.procs - plan.job->procs);
  const std::size_t all = given + static_cast<std::size_t>(left);
  auto next = free_speeds.begin() + static_cast<std::ptrdiff_t>(free_speeds.size() - std::min(free_speeds.size(), all));
  for (Plan& plan : plans) {
    plan.power = power_left(*plan.job, plan.job->procs);
    for (int k = plan.job->procs; k < plan.procs; ++k) plan.power += next != free_speeds.end() ? *next++ : 1;
  }
}

/// Which of the plans goes up to its next size, given `left` processors; -1 for none.
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
    plan.procs = next;
    if (free_speeds.empty())
      plan.power = next;
    else
      weigh(plans, free_speeds, left);
  }
  return left;
}

/// The jobs that wait, as the one who keeps them has them, or put in blocks for once.
class Waiters {
public:
  explicit Waiters(const State& state) : made_(state.queue ? Queue() : Queue(state.waiting)), kept_(state.queue) {}
  const Queue& queue() const { return kept_ ? *kept_ : made_; }

private:
  Queue made_;
  const Queue* kept_;
};

void look_at(const State& state, const Job& job) {
  if (state.look) state.look(job);
}

/// For who goes through all that run.
void look_at_all(const State& state) {
  if (!state.look) return;
  for (const Job* job : state.running)
    if (job->resizable) state.look(*job);
}

/// Adaptive starts: every waiting job that fits on its smallest size, in the order of the queue, then what is
/// left over. @return processors still free
int start_adaptive(const State& state, const Queue& queue, int free, const Raise& raise, std::vector<Decision>& out) {
  std::vector<Plan> plans;
  Queue::Place place;
  while (const Job* job = queue.next(place, free)) {
    plans.push_back({job, job->sizes->smallest()});
    free -= plans.back().procs;
  }
  if (plans.empty()) return free;
  free = raise_all(plans, free, state.free_speeds, raise);
  for (const Plan& plan : plans) out.push_back({plan.job, plan.procs});
  return free;
}

class Lazy : public Policy {
public:
  const char* name() const override { return "ls"; }
  bool asks() const override { return false; }
  void decide(const State& state, std::vector<Decision>& out) const override {
    const Waiters waiters(state);
    int free = state.free();
    Queue::Place place;
    while (const Job* job = waiters.queue().next(place, free)) {
      out.push_back({job, job->sizes->at_most(free)});
      free -= out.back().procs;
    }
  }
};

class Adaptive : public Policy {
public:
  explicit Adaptive(const PolicyOptions& options) : raise_(raise_of(options)) {}
  const char* name() const override { return "as"; }
  bool asks() const override { return false; }
  void decide(const State& state, std::vector<Decision>& out) const override {
    start_adaptive(state, Waiters(state).queue(), state.free(), raise_, out);
  }
  static Raise raise_of(const PolicyOptions& options) {
    return options.share == PolicyOptions::Share::even ? raise_even : raise_first;
  }

private:
  Raise raise_;
};

/// Frees processors for waiting jobs and gives idle ones to running jobs. The subclasses say whom to ask.
class Resizing : public Policy {
public:
  void decide(const State& state, std::vector<Decision>& out) const override {
    if (!state.askable) look_at_all(state);
    const Waiters waiters(state);
    const Queue& queue = waiters.queue();
    const int free = start_adaptive(state, queue, state.free(), start_raise(), out);
    std::vector<const Job*> started;
    for (const Decision& start : out) started.push_back(start.job);
    std::sort(started.begin(), started.end(), std::less<>());
    Queue::Place place;
    const auto next_left = [&](int procs) {
      const Job* job = queue.next(place, procs);
      while (job && std::binary_search(started.begin(), started.end(), job, std::less<>()))
        job = queue.next(place, procs);
      return job;
    };
    if (queue.size() > started.size() && state.askable)
      shrink_by_class(state, Givers(*state.askable, true, rules(state)), free, next_left, out);
    else if (queue.size() > started.size())
      shrink(state, victims_of(state, free), next_left, out);
    else if (free > 0 && !state.running.empty())
      grow(state, free, out);
  }

protected:
  virtual Raise start_raise() const = 0;
  virtual Raise grow_raise() const = 0;
  /// What a waiting job is to start on at least, and what a running one may be asked to go down to.
  virtual int least_to_start(const Job& job, double) const { return job.sizes->smallest(); }
  virtual int least_to_keep(const Job& job, double) const { return job.sizes->smallest(); }
  /// Whether the victim of `plan`, asked to go down for `job`, should; and which of two should sooner: of a lower
  /// priority, and then less reluctant.
  virtual bool should_shrink(const Plan&, const Job&) const { return true; }
  bool sooner(const Plan& a, const Plan& b) const {
    if (a.job->priority != b.job->priority) return a.job->priority < b.job->priority;
    return reluctance(*a.job, a.procs) < reluctance(*b.job, b.procs);
  }
  virtual double reluctance(const Job& job, int procs) const { return -power_left(job, procs); }
  /// Whether those of equal size and kind are the less reluctant the later they end; else they are alike.
  virtual bool gives_by_end() const { return false; }
  virtual bool should_grow(const Job&, int) const { return true; }
  virtual bool judges_growths() const { return true; } ///< by growth_pays

  /// Who may be asked to give processors up, and what is free or is being given up.
  struct Victims {
    std::vector<Plan> plans;
    int coming;
    int spare() const { // what all of them could give up: no job that needs more is worth a closer look
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

  /// @param next  the next job of the queue that starts on at most so many processors, others if it likes; null: none
  template <class Next> void shrink(const State& state, Victims all, Next&& next, std::vector<Decision>& out) const {
    std::vector<Plan>& victims = all.plans;
    int coming = all.coming;
    int most = all.spare();
    while (const Job* job = next(most + coming)) {
      if (most == 0 && coming == 0) break;
      if (job->sizes->smallest() - coming > most) continue; // it starts on no less
      int need = least_to_start(*job, state.now_s) - coming;
      if (need > most) continue;
      if (need > 0) {
        // all or nothing: nobody shrinks for a job that cannot start then
        std::vector<Plan> plan = victims;
        while (need > 0) {
          Plan* best = nullptr;
          for (Plan& victim : plan)
            if (victim.procs > victim.least && victim.job->priority <= job->priority && should_shrink(victim, *job) &&
                (best == nullptr || sooner(victim, *best)))
              best = &victim;
          if (best == nullptr) break;
          // a size that frees enough, or as low as it goes
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
        coming = -need;
      } else {
        coming = -need;
      }
    }
    for (const Plan& victim : victims)
      if (victim.procs != victim.job->procs) out.push_back({victim.job, victim.procs});
  }

  Givers::Rules rules(const State& state) const {
    return {[this](const Job& job, int procs) { return reluctance(job, procs); }, gives_by_end(), state.now_s,
            state.look};
  }

  /// The same as shrink().
  template <class Next>
  void shrink_by_class(const State& state, Givers givers, int free, Next&& next, std::vector<Decision>& out) const {
    int coming = free + state.askable->coming();
    while (const Job* job = next(givers.spare() + coming)) {
      if (givers.spare() == 0 && coming == 0) break;
      if (job->sizes->smallest() - coming > givers.spare()) continue;
      int need = least_to_start(*job, state.now_s) - coming;
      if (need > givers.spare()) continue;
      if (need > 0) {
        Givers trial = givers;
        need = trial.give(need, *job, [&](const Job& victim, int procs) {
          return should_shrink({&victim, procs}, *job);
        });
        if (need > 0) {
          if (givers.empty() && coming == 0) break;
          continue;
        }
        givers = std::move(trial);
      }
      coming = -need;
    }
    for (const Resized& one : givers.changed()) out.push_back({one.job, one.procs});
  }

  /// The growths of all that may be asked, each by as many of `free` as it gets; those that should_grow are among them.
  virtual std::vector<Resized> raise_by_class(const State& state, int free) const = 0;

  void grow(const State& state, int free, std::vector<Decision>& out) const {
    if (state.askable) {
      if (judges_growths() && !may_pay_by_class(*state.askable, state.now_s, free, state.look)) return;
      for (const Resized& one : raise_by_class(state, free)) {
        look_at(state, *one.job);
        if (should_grow(*one.job, one.procs)) out.push_back({one.job, one.procs});
      }
      return;
    }
    std::vector<Plan> plans;
    for (const Job* job : state.running)
      if (may_be_asked(*job, state.now_s) && job->procs < job->sizes->largest()) plans.push_back({job, job->procs});
    if (plans.empty()) return;
    raise_all(plans, free, state.free_speeds, grow_raise());
    for (const Plan& plan : plans)
      if (plan.procs != plan.job->procs && should_grow(*plan.job, plan.procs)) out.push_back({plan.job, plan.procs});
  }
};

using RaiseByClass = std::vector<Resized>(const Askable&, int left, std::optional<double> judged_at_s);
RaiseByClass* raise_by_class_of(const PolicyOptions& options) {
  return options.share == PolicyOptions::Share::even ? raise_even_by_class : raise_first_by_class;
}

class Reconfigurable : public Resizing {
public:
  explicit Reconfigurable(const PolicyOptions& options)
      : raise_(Adaptive::raise_of(options)), by_class_(raise_by_class_of(options)), payoff_(options.payoff) {}
  const char* name() const override { return "rs"; }

protected:
  Raise start_raise() const override { return raise_; }
  Raise grow_raise() const override { return raise_; }
  std::vector<Resized> raise_by_class(const State& state, int free) const override {
    return by_class_(*state.askable, free, payoff_ ? std::optional<double>(state.now_s) : std::nullopt);
  }
  bool should_grow(const Job& job, int to) const override { return !payoff_ || growth_pays(job, job.procs, to); }
  bool judges_growths() const override { return payoff_; }

private:
  Raise raise_;
  RaiseByClass* by_class_;
  bool payoff_;
};

/// Jobs ended per second: processors go where the sum of 1/(seconds left) rises most for each of them.
class Throughput : public Resizing {
public:
  const char* name() const override { return "tp"; }

protected:
  // Without history a job is taken to be an hour on its smallest size and to use every core fully.
  static double rate(const Job& job, int n) {
    const double left = seconds_left(job, n);
    if (left >= 0) return 1 / std::max(left, 1e-9);
    return gridmap::useful_processes(n, job.cores) / (3600.0 * job.sizes->smallest());
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
      // a size that is no faster may lie before one that is: the best rate of rise over the sizes within
      // reach
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
  Raise start_raise() const override { return raise_best; }
  Raise grow_raise() const override { return raise_best; }
  std::vector<Resized> raise_by_class(const State& state, int free) const override {
    const auto gain = [](const Job& job, int procs, int next) { return gain_of(job, procs, next); };
    return raise_best_by_class(*state.askable, state.now_s, free, gain, state.look);
  }
  bool should_shrink(const Plan& victim, const Job& job) const override {
    // what ends before a change would pay is left alone
    const double left = seconds_left(*victim.job, victim.procs);
    if (left >= 0 && left <= 2 * victim.job->resize_s) return false;
    const int to = victim.job->sizes->at_most(victim.procs - 1);
    return rate(*victim.job, victim.procs) - rate(*victim.job, to) < rate(job, job.sizes->smallest());
  }
  bool gives_by_end() const override { return true; }
  /// Rate lost for each processor of the next size down.
  double reluctance(const Job& job, int procs) const override {
    const int to = job.sizes->at_most(procs - 1);
    return (rate(job, procs) - rate(job, to)) / (procs - to);
  }
  bool should_grow(const Job& job, int to) const override { return growth_pays(job, job.procs, to); }
};

/// Jobs with a finish-by time first, and each on the smallest size that keeps it; what is left over as `rs`.
class FinishBy : public Resizing {
public:
  explicit FinishBy(const PolicyOptions& options)
      : raise_(Adaptive::raise_of(options)), by_class_(raise_by_class_of(options)) {}
  const char* name() const override { return "qos"; }

  void decide(const State& state, std::vector<Decision>& out) const override {
    if (!state.askable) look_at_all(state);
    int free = raise_late(state, state.free(), out);
    const Waiters waiters(state);
    const Queue& queue = waiters.queue();
    if (queue.least_procs() > free && (free == 0 || !out.empty() || does_anybody_wait(queue, state.now_s)) &&
        !may_shrink(state))
      return; // a long queue is not put in order for nothing
    Blocked blocked;
    free = start(state, queue, free, out, blocked);
    if (blocked.is_anybody()) {
      std::vector<const Job*> worth_it;
      auto at = worth_it.cbegin();
      const auto look_within = [&](int procs) {
        worth_it = blocked.within(procs, queue, state.now_s, out);
        at = worth_it.cbegin();
      };
      const auto next = [&](int) { return at != worth_it.cend() ? *at++ : nullptr; };
      if (state.askable) {
        Givers givers(*state.askable, false, rules(state));
        for_timed(state, [&](const Askable::Member& one) {
          const int least = least_to_keep(*one.job, state.now_s);
          if (one.job->procs > least) givers.add(*one.job, one.order, least);
          return false;
        });
        look_within(free + state.askable->coming() + givers.spare());
        shrink_by_class(state, std::move(givers), free, next, out);
      } else {
        Victims victims = victims_of(state, free);
        look_within(victims.coming + victims.spare());
        shrink(state, std::move(victims), next, out);
      }
    } else if (free > 0 && out.empty()) {
      grow(state, free, out);
    }
  }

protected:
  Raise start_raise() const override { return raise_; }
  Raise grow_raise() const override { return raise_; }
  std::vector<Resized> raise_by_class(const State& state, int free) const override {
    return by_class_(*state.askable, free, state.now_s);
  }
  bool should_grow(const Job& job, int to) const override { return growth_pays(job, job.procs, to); }
  int least_to_start(const Job& job, double now_s) const override {
    const int n = smallest_in_time(job, now_s);
    return n != 0 ? n : job.sizes->smallest();
  }
  int least_to_keep(const Job& job, double now_s) const override {
    const int n = smallest_in_time(job, now_s + job.resize_s);
    return n != 0 ? n : job.sizes->smallest(); // what is late already holds nobody up
  }

private:
  struct Waiting {
    const Job* job;
    int priority;
    double latest_s; ///< latest_start_s
    /// Whether it can let others go first that have less time.
    bool has_time(double now_s) const {
      return latest_s < never && latest_s - now_s > (job->finish_by_s - latest_s) / 4;
    }
    bool is_blocked(int free, double now_s) const { return job->sizes->smallest() > free && !has_time(now_s); }
    bool goes_before(const Waiting& other) const {
      return priority != other.priority ? priority > other.priority : latest_s < other.latest_s;
    }
  };
  /// By priority, then by when they have to start. Who has no time, or is late, comes behind them in the order of the
  /// queue: in a long one that is nearly everybody, and is not looked at one by one.
  static std::vector<Waiting> in_order(const Queue& queue, double now_s) {
    std::vector<Waiting> timed;
    for (const Queue::Entry& e : queue.timed(now_s)) timed.push_back({e.job, e.job->priority, e.latest_s});
    std::stable_sort(timed.begin(), timed.end(), [](const Waiting& a, const Waiting& b) { return a.goes_before(b); });
    return timed;
  }
  /// For processors; who has time does not.
  static bool does_anybody_wait(const Queue& queue, double now_s) {
    if (queue.has_late(now_s)) return true;
    const std::vector<Queue::Entry> timed = queue.timed(now_s);
    return std::any_of(timed.begin(), timed.end(), [&](const Queue::Entry& e) {
      return !Waiting{e.job, e.job->priority, e.latest_s}.has_time(now_s);
    });
  }
  /// Who could not start for want of processors.
  struct Blocked {
    std::vector<Waiting> timed; ///< in their order
    std::size_t late = 0;       ///< so many more
    bool is_anybody() const { return late > 0 || !timed.empty(); }
    /// Those that could start if so many processors were free.
    std::vector<const Job*> within(int procs, const Queue& queue, double now_s,
                                   const std::vector<Decision>& started) const {
      std::vector<const Job*> jobs;
      auto next = timed.begin();
      Queue::Place place;
      while (const Queue::Entry* e = queue.next_late(place, procs, now_s)) {
        if (std::any_of(started.begin(), started.end(), [&](const Decision& d) { return d.job == e->job; })) continue;
        for (; next != timed.end() && next->priority >= e->job->priority; ++next) jobs.push_back(next->job);
        jobs.push_back(e->job);
      }
      for (; next != timed.end(); ++next) jobs.push_back(next->job);
      return jobs;
    }
  };
  /// Of the running jobs that may be asked and have a finish-by time one after the other, until `see` says so.
  template <class See> static bool for_timed(const State& state, See&& see) {
    for (const auto& [key, of] : state.askable->classes()) {
      if (!of.is_timed) continue;
      for (const Askable::Member& one : of.members) {
        look_at(state, *one.job);
        if (see(one)) return true;
      }
    }
    return false;
  }

  /// Whether a running job could give anything up, or is about to.
  bool may_shrink(const State& state) const {
    if (state.askable)
      return state.askable->coming() > 0 || state.askable->spare_untimed() > 0 ||
             for_timed(state, [&](const Askable::Member& one) {
               return one.job->procs > one.job->sizes->smallest() &&
                      one.job->procs > least_to_keep(*one.job, state.now_s);
             });
    return std::any_of(state.running.begin(), state.running.end(), [&](const Job* job) {
      return (job->target != 0 && job->target < job->procs) ||
             (job->procs > job->sizes->smallest() && may_be_asked(*job, state.now_s) &&
              job->procs > least_to_keep(*job, state.now_s));
    });
  }

  /// Processors that cannot be had by shrinking.
  int held(const State& state) const {
    if (state.askable) {
      int spare = state.askable->spare_untimed();
      for_timed(state, [&](const Askable::Member& one) {
        spare += std::max(one.job->procs - least_to_keep(*one.job, state.now_s), 0);
        return false;
      });
      return state.taken - spare;
    }
    int sum = 0;
    for (const Job* job : state.running)
      sum += may_be_asked(*job, state.now_s) ? std::min(job->procs, least_to_keep(*job, state.now_s))
                                             : std::max(job->procs, job->target);
    return sum;
  }

  /// Running jobs that would be late where they are grow to the smallest size that is not. @return what is free then.
  int raise_late(const State& state, int free, std::vector<Decision>& out) const {
    const auto wants = [&](const Job& job) {
      const double left = seconds_left(job, job.procs);
      return left >= 0 && state.now_s + left > job.finish_by_s;
    };
    const auto raise = [&](const Job& job) {
      const int n = smallest_in_time(job, state.now_s + job.resize_s);
      if (n <= job.procs || n - job.procs > free) return;
      out.push_back({&job, n});
      free -= n - job.procs;
    };
    if (!state.askable) {
      for (const Job* job : state.running)
        if (job->finish_by_s != never && may_be_asked(*job, state.now_s) && wants(*job)) raise(*job);
      return free;
    }
    std::vector<Askable::Member> late;
    for_timed(state, [&](const Askable::Member& one) {
      if (wants(*one.job)) late.push_back(one);
      return false;
    });
    std::sort(late.begin(), late.end(), Askable::StartsBefore());
    for (const Askable::Member& one : late) raise(*one.job);
    return free;
  }

  /// Starts in the order of the queue. The first that waits for processors keeps its place: others start only on what
  /// it will not need, or for as long as it has time. @return what is free then.
  int start(const State& state, const Queue& queue, int free, std::vector<Decision>& out, Blocked& blocked) const {
    std::vector<Plan> plans;
    double until_s = never; // when the first that waits has to start
    const int spared = state.procs / 8;
    int held_by_all = -1, started = 0; // looked at where it matters
    const std::vector<Waiting> timed = in_order(queue, state.now_s);
    blocked.late = queue.size() - timed.size();
    auto next_timed = timed.begin();
    Queue::Place place;
    const Queue::Entry* late = queue.next_late(place, free, state.now_s); // those before it do not fit, and never will
    for (;;) {
      if (late && late->smallest > free) late = queue.next_late(place, free, state.now_s);
      if (!late && next_timed == timed.end()) break;
      const bool is_late = late && (next_timed == timed.end() || late->job->priority > next_timed->priority);
      const Waiting next = is_late ? Waiting{late->job, late->job->priority, never} : *next_timed++;
      if (is_late) late = queue.next_late(place, free, state.now_s);
      const Job* job = next.job;
      const auto is_blocked = [&] {
        if (!is_late) blocked.timed.push_back(next);
        until_s = std::min(until_s, next.latest_s);
      };
      if (next.is_blocked(free, state.now_s)) { // whatever it would start on
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
        if (is_late) --blocked.late;
      } else {
        is_blocked();
      }
    }
    if (!blocked.is_anybody()) free = raise_all(plans, free, state.free_speeds, raise_);
    for (const Plan& plan : plans) out.push_back({plan.job, plan.procs});
    return free;
  }

  Raise raise_;
  RaiseByClass* by_class_;
};

} // namespace

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
  throw base::Error(base::Status::bad_argument,
                    fmt::format("scheduler: the policy is '{}', expected ls, as, rs, tp or qos", name));
}

} // namespace sched
