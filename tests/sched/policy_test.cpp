// SPDX-License-Identifier: BSD-3-Clause
// Policies against timelines worked out by hand.
#include "sched/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "sched/askable.hpp"
#include "sched/promise.hpp"
#include "sched/queue.hpp"
#include "sched/simulate.hpp"

namespace {

using namespace sched;

/// A machine written down: jobs in the order of their ids.
struct Machine {
  std::deque<Sizes> sizes;
  std::deque<std::vector<double>> times;
  std::deque<Job> jobs;
  State state;

  explicit Machine(int procs) { state.procs = procs; }
  Job& add(const char* allowed, int procs, int priority = 0) {
    sizes.push_back(Sizes::parse(allowed, state.procs, "a test"));
    jobs.emplace_back();
    Job& job = jobs.back();
    job.id = static_cast<std::int64_t>(jobs.size());
    job.sizes = &sizes.back();
    job.procs = procs;
    job.priority = priority;
    (procs == 0 ? state.waiting : state.running).push_back(&job);
    return job;
  }
  /// Step times on each size and the steps left.
  void known(Job& job, std::vector<double> step_s, double steps_left, double resize_s) {
    times.push_back(std::move(step_s));
    job.step_s = times.back().data();
    job.steps_left = steps_left;
    job.resize_s = resize_s;
  }
  /// job -> processors
  std::map<std::int64_t, int> decide(const char* policy, PolicyOptions options = {}) const {
    std::vector<Decision> out;
    make_policy(policy, options)->decide(state, out);
    std::map<std::int64_t, int> result;
    int started = 0;
    for (const Decision& d : out) {
      EXPECT_TRUE(result.emplace(d.job->id, d.procs).second) << "decided twice on " << d.job->id;
      EXPECT_TRUE(d.job->sizes->allows(d.procs));
      if (d.is_start()) started += d.procs;
      EXPECT_EQ(d.job->target, 0);
    }
    EXPECT_LE(started, state.free());
    return result;
  }
};
using Decisions = std::map<std::int64_t, int>;

TEST(Sizes, Grammar) {
  EXPECT_EQ(Sizes::parse("4:32:*2", 64, "x").list(), (std::vector<int>{4, 8, 16, 32}));
  EXPECT_EQ(Sizes::parse("8:32:4", 64, "x").list(), (std::vector<int>{8, 12, 16, 20, 24, 28, 32}));
  EXPECT_EQ(Sizes::parse("9,1,4,4", 64, "x").list(), (std::vector<int>{1, 4, 9}));
  EXPECT_EQ(Sizes::parse("any", 3, "x").list(), (std::vector<int>{1, 2, 3}));
  for (const char* wrong : {"", "0", "-1", "4:", "x", "4:8:*1", "8:4", "1,,2", "99999999999"})
    EXPECT_THROW(Sizes::parse(wrong, 4, "x"), base::Error) << wrong;
  const Sizes sizes = Sizes::parse("4,9,16", 64, "x");
  EXPECT_EQ(sizes.at_most(3), 0);
  EXPECT_EQ(sizes.at_most(15), 9);
  EXPECT_EQ(sizes.above(9), 16);
  EXPECT_EQ(sizes.above(16), 0);
  EXPECT_EQ(sizes.index_of(16), 2);
  EXPECT_EQ(sizes.index_of(5), -1);
}

/// Jobs come and start in any order, with sizes and times by which they have to start; beside a plain list.
TEST(Queue, AnswersAsALookAtEveryJob) {
  std::mt19937 gen(7);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(gen); };
  for (int round = 0; round < 20; ++round) {
    std::deque<Sizes> sizes;
    std::deque<Job> jobs;
    std::vector<const Job*> list; // in order
    Queue queue;
    const int most = 1 + below(1500);
    for (int turn = 0; turn < 3000; ++turn) {
      if (list.empty() || (static_cast<int>(list.size()) < most && below(5) < 3)) {
        sizes.emplace_back(std::vector<int>{1 + below(100)});
        Job& job = jobs.emplace_back();
        job.id = static_cast<std::int64_t>(jobs.size());
        job.priority = below(2);
        job.sizes = &sizes.back();
        job.best_s = 10;
        if (below(3) > 0) job.finish_by_s = 10 + below(3000);
        list.insert(std::upper_bound(list.begin(), list.end(), &job,
                                     [](const Job* a, const Job* b) { return Queue::goes_before(*a, *b); }),
                    &job);
        queue.insert(job);
      } else {
        const auto out = list.begin() + below(static_cast<int>(list.size()));
        queue.erase(**out);
        list.erase(out);
      }
      if (turn % 50 != 0) continue;
      const double now_s = below(3000);
      const int procs = below(100);
      int least = std::numeric_limits<int>::max();
      std::vector<const Job*> timed, fitting, small;
      for (const Job* job : list) {
        least = std::min(least, job->sizes->smallest());
        if (job->sizes->smallest() <= procs) small.push_back(job);
        if (latest_start_s(*job, now_s) < std::numeric_limits<double>::infinity())
          timed.push_back(job);
        else if (job->sizes->smallest() <= procs)
          fitting.push_back(job);
      }
      for (const Queue& one : {queue, Queue(list)}) {
        ASSERT_EQ(one.size(), list.size());
        EXPECT_EQ(one.least_procs(), least);
        EXPECT_EQ(one.has_late(now_s), timed.size() < list.size());
        std::vector<const Job*> found_timed, found;
        for (const Queue::Entry& e : one.timed(now_s)) found_timed.push_back(e.job);
        EXPECT_EQ(found_timed, timed);
        Queue::Place place;
        while (const Queue::Entry* e = one.next_late(place, procs, now_s)) found.push_back(e->job);
        EXPECT_EQ(found, fitting);
        found.clear();
        place = {};
        while (const Job* job = one.next(place, procs)) found.push_back(job);
        EXPECT_EQ(found, small);
      }
    }
  }
}

/// Members come and go at any place; beside a plain list.
TEST(Askable, MembersByStartAsAPlainListHasThem) {
  std::mt19937 gen(23);
  const auto below = [&](int n) { return static_cast<int>(gen() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 30; ++round) {
    std::vector<Askable::Member> list; // by their orders
    Askable::ByStart members;
    const int most = 1 + below(900);
    std::int64_t newest = 0;
    for (int turn = 0; turn < 2500; ++turn) {
      const auto starts_before = [](const Askable::Member& a, std::int64_t order) { return a.order < order; };
      if (list.empty() || (static_cast<int>(list.size()) < most && below(turn < 1500 ? 4 : 8) < 3)) {
        std::int64_t order = ++newest;
        if (below(3) == 0) order = 1 + below(static_cast<int>(newest));
        const auto at = std::lower_bound(list.begin(), list.end(), order, starts_before);
        if (at != list.end() && at->order == order) continue;
        const Askable::Member one{static_cast<double>(below(50)), order, nullptr};
        list.insert(at, one);
        members.insert(one);
      } else {
        const auto out = list.begin() + below(std::min(static_cast<int>(list.size()), 1 + below(1000)));
        members.erase(out->order);
        list.erase(out);
      }
      if (turn % 20 != 0) continue;
      ASSERT_EQ(members.size(), static_cast<int>(list.size()));
      EXPECT_EQ(members.empty(), list.empty());
      std::vector<std::int64_t> found, expected;
      for (const Askable::Member& one : members) found.push_back(one.order);
      for (const Askable::Member& one : list) expected.push_back(one.order);
      ASSERT_EQ(found, expected);
      if (list.empty()) continue;
      EXPECT_EQ(members.first(), list.front().order);
      EXPECT_EQ(members.last(), list.back().order);
      const std::int64_t order = below(static_cast<int>(newest) + 2);
      EXPECT_EQ(members.up_to(order),
                std::lower_bound(list.begin(), list.end(), order + 1, starts_before) - list.begin());
      const int from = below(members.size()), to = from + below(members.size() - from + 1);
      const double end_s = 50 - below(20);
      found.clear();
      expected.clear();
      members.ending_behind(end_s, from, to, [&](const Askable::Member& one) { found.push_back(one.order); });
      for (int k = from; k < to; ++k)
        if (const Askable::Member& one = list[static_cast<std::size_t>(k)]; one.end_s > end_s)
          expected.push_back(one.order);
      EXPECT_EQ(found, expected);
    }
  }
}

/// Who grows when nobody waits, a size at a time and with a look at every job.
std::vector<std::pair<std::int64_t, int>> growths(const State& state, bool is_judged) {
  std::vector<std::pair<const Job*, int>> plans;
  for (const Job* job : state.running)
    if (job->resizable && job->target == 0 && job->unresponsive_until_s <= state.now_s)
      plans.emplace_back(job, job->procs);
  int left = state.free();
  for (;;) {
    std::pair<const Job*, int>* best = nullptr;
    for (auto& plan : plans) {
      const int next = plan.first->sizes->above(plan.second);
      if (next == 0 || next - plan.second > left) continue;
      if (!best || plan.first->priority > best->first->priority ||
          (plan.first->priority == best->first->priority && plan.second < best->second))
        best = &plan;
    }
    if (!best) break;
    const int next = best->first->sizes->above(best->second);
    left -= next - best->second;
    best->second = next;
  }
  std::vector<std::pair<std::int64_t, int>> found;
  for (const auto& [job, procs] : plans)
    if (procs != job->procs && (!is_judged || growth_pays(*job, job->procs, procs))) found.emplace_back(job->id, procs);
  return found;
}

/// Kinds of jobs of any sizes, times, costs and priorities, few or hundreds of each: decided for by their classes, with
/// a look at each, and by the lines above.
TEST(Askable, GrowthsByClassAreThoseOfALookAtEachJob) {
  std::mt19937 gen(29);
  const auto below = [&](int n) { return static_cast<int>(gen() % static_cast<unsigned>(n)); };
  const std::vector<std::vector<int>> lists{{1, 2, 4}, {1, 2, 3, 4, 5, 6}, {2, 5}, {3},
                                            {1, 6, 7}, {2, 4, 8, 16},      {1, 9}, {1, 2, 3, 11},
                                            {4, 5},    {1, 3, 4, 8, 10}};
  PolicyOptions payoff;
  payoff.payoff = true;
  std::size_t grown = 0, of_some = 0;
  for (int round = 0; round < 6000; ++round) {
    std::deque<Sizes> sizes;
    std::deque<std::vector<double>> times;
    std::vector<double> resize_s;
    const bool is_crowd = below(60) == 0;
    const int kinds = 1 + below(is_crowd ? 2 : 6);
    for (int k = 0; k < kinds; ++k) {
      const std::vector<int>& list = lists[gen() % lists.size()];
      sizes.emplace_back(list);
      times.emplace_back();
      const int manner = below(8); // linear, with a serial part, any, in part unknown, or nothing known
      for (const int n : list)
        times.back().push_back(manner < 3 ? 8.0 / n : manner < 5 ? 1 + 8.0 / n : manner < 6 ? 1 + below(5) : below(4));
      if (manner == 7) times.back().clear();
      resize_s.push_back(below(4) == 0 ? 0 : below(3) == 0 ? 0.0005 * below(4) : below(60));
    }
    State state;
    state.look = [](const Job&) {};
    state.now_s = std::vector<double>{0, 1000, 12345678.9}[static_cast<std::size_t>(below(3))];
    Askable askable;
    std::deque<Job> jobs;
    const int most = is_crowd ? 500 : 1 + below(40), priorities = is_crowd ? 1 : 1 + below(3), cores = below(3) * 3;
    int taken = 0;
    struct Put {
      const Job* job;
      std::int64_t order;
      double end_s;
    };
    std::vector<Put> put;
    std::int64_t order = 0;
    for (int k = 0; k < most; ++k) {
      const auto kind = static_cast<std::size_t>(below(kinds));
      const std::vector<int>& list = sizes[kind].list();
      Job job;
      job.id = k + 1;
      job.sizes = &sizes[kind];
      job.procs = list[below(3) > 0 ? 0 : gen() % list.size()];
      job.priority = below(priorities);
      job.resizable = below(15) > 0;
      if (below(15) == 0) job.target = list.back();
      if (below(15) == 0) job.unresponsive_until_s = state.now_s + 1;
      if (!is_crowd && below(3) == 0) job.finish_by_s = 1e12; // a class of its own
      job.cores = cores;
      job.resize_s = resize_s[kind];
      job.steps_left = below(5) == 0 ? below(2) - 1e-13 * below(2) : below(30);
      double step_s = 0;
      if (!times[kind].empty()) {
        job.step_s = times[kind].data();
        step_s = job.step_s[job.sizes->index_of(job.procs)];
      }
      jobs.push_back(job);
      order += 1 + (below(4) == 0 ? below(5000) : 0);
      taken += std::max(job.procs, job.target);
      if (job.resizable && job.target == 0 && job.unresponsive_until_s <= state.now_s)
        put.push_back({nullptr, order, state.now_s + (step_s > 0 ? job.steps_left * step_s : below(40))});
      else
        put.push_back({nullptr, 0, 0});
    }
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      state.running.push_back(&jobs[k]);
      put[k].job = &jobs[k];
    }
    std::shuffle(put.begin(), put.end(), gen);
    for (const Put& one : put)
      if (one.order > 0) askable.insert(*one.job, one.order, one.end_s);
    for (const Put& one : put) // some went away for a while
      if (one.order > 0 && below(4) == 0) {
        askable.erase(*one.job, one.order, one.end_s);
        askable.insert(*one.job, one.order, one.end_s);
      }
    state.taken = taken;
    state.procs = taken + (below(3) == 0 ? below(8) : below(1 + most * 6));
    for (const char* name : {"rs", "qos", "rs --payoff"}) {
      const bool is_rs = name[0] == 'r', is_judged = std::string(name) != "rs";
      const auto policy = make_policy(is_rs ? "rs" : "qos", is_judged ? payoff : PolicyOptions{});
      const auto decided = [&] {
        std::vector<Decision> out;
        policy->decide(state, out);
        std::vector<std::pair<std::int64_t, int>> found;
        for (const Decision& one : out) found.emplace_back(one.job->id, one.procs);
        return found;
      };
      const auto expected = growths(state, is_judged);
      state.askable = nullptr;
      ASSERT_EQ(decided(), expected) << name << ", round " << round;
      state.askable = &askable;
      ASSERT_EQ(decided(), expected) << name << ", round " << round;
      grown += expected.size();
      of_some += is_judged && !expected.empty() && expected.size() < growths(state, false).size();
    }
  }
  EXPECT_GT(grown, 50000u);
  EXPECT_GT(of_some, 2000u); // some of the growths pay, some do not
}

TEST(Lazy, FirstToFitAsManyAsItCanTake) {
  Machine m(10);
  m.add("4,8", 0);
  m.add("4", 0);
  m.add("1,2", 0);
  // 8 of 10; 2 left: the second does not fit, the third passes it
  EXPECT_EQ(m.decide("ls"), (Decisions{{1, 8}, {3, 2}}));
}

TEST(Lazy, LeavesRunningJobsAlone) {
  Machine m(8);
  m.add("1:8", 8);
  m.add("1:8", 0);
  EXPECT_EQ(m.decide("ls"), (Decisions{}));
  m.state.waiting.clear();
  m.state.procs = 16;
  EXPECT_EQ(m.decide("ls"), (Decisions{}));
}

TEST(Adaptive, AsManyJobsAsFitThenTheRest) {
  Machine m(16);
  m.add("4:16:4", 0);
  m.add("4:16:4", 0);
  m.add("1,2,4", 0);
  // smallest sizes 4 + 4 + 1, 7 left: the third to 2 and 4 (4 left), then the first of the equals
  EXPECT_EQ(m.decide("as"), (Decisions{{1, 8}, {2, 4}, {3, 4}}));
  PolicyOptions first;
  first.share = PolicyOptions::Share::first;
  // 7 left: the first takes 4; of the 3 left the second can use none, the third takes 1 and 2 more
  EXPECT_EQ(m.decide("as", first), (Decisions{{1, 8}, {2, 4}, {3, 4}}));
  m.state.procs = 12;
  // 3 left: the third goes to 2 and then, with 2 left, to 4
  EXPECT_EQ(m.decide("as"), (Decisions{{1, 4}, {2, 4}, {3, 4}}));
  EXPECT_EQ(m.decide("ls"), (Decisions{{1, 12}}));
}

TEST(Adaptive, PassesWhatDoesNotFit) {
  Machine m(6);
  m.add("8,16", 0);
  m.add("2,4,6", 0);
  EXPECT_EQ(m.decide("as"), (Decisions{{2, 6}}));
}

TEST(Reconfigurable, ShrinksForAWaitingJob) {
  Machine m(32);
  m.add("8:32:4", 32);
  m.add("4:16:4", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 28}}));
  EXPECT_EQ(m.decide("as"), (Decisions{}));
  // asked already: its four processors are on their way, nobody else is asked
  m.jobs[0].target = 28;
  EXPECT_EQ(m.decide("rs"), (Decisions{}));
  // a second waiting job needs four more, but the only victim has a request pending
  m.add("4", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{}));
}

TEST(Reconfigurable, TakesFromTheLargestAndOnlyWhatIsNeeded) {
  Machine m(32);
  m.add("8:32:4", 20);
  m.add("4:16:4", 12);
  m.add("1,2,4", 0);
  m.add("8", 0);
  // 1 + 8: 20 -> 16 frees 4 (1 used, 3 over), 5 more: 16 -> 8 frees 8
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
}

// Power counts, not heads: what is even, and who gives.
TEST(Speeds, AdaptiveSharesThemOut) {
  Machine m(8);
  m.add("1:8", 0);
  m.add("1:8", 0);
  EXPECT_EQ(m.decide("as"), (Decisions{{1, 4}, {2, 4}}));
  m.state.free_speeds = {4, 4, 1, 1, 1, 1, 1, 1};
  // 4 and 4: the first of equals goes on, to 8; the second has the 1s then, and all that are left: 6
  EXPECT_EQ(m.decide("as"), (Decisions{{1, 2}, {2, 6}}));
  m.state.free_speeds.assign(8, 2.5);
  EXPECT_EQ(m.decide("as"), (Decisions{{1, 4}, {2, 4}}));
}

TEST(Speeds, ReconfigurableGrowsTheWeakest) {
  Machine m(12);
  m.add("1:8", 2).power = 6;
  m.add("1:8", 4).power = 4;
  m.state.free_speeds = {3, 1, 1, 1, 1, 1}; // six of twelve
  // 6 and 4: the second goes to 5 with the 3; the first, weaker then, to 3, and gets that before it: 9 and 5; the
  // second goes on to 6, 7, 8, its largest size; the first gets the last
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 4}, {2, 8}}));
  m.jobs[0].power = m.jobs[1].power = 0;
  m.state.free_speeds.clear();
  // by heads 2 and 4: 3, 4, 5, then 5 and 5, 6 and 6
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 6}, {2, 6}}));
}

TEST(Speeds, TheMostPowerfulShrinks) {
  Machine m(12);
  m.add("2:8:2", 8).power = 8;
  m.add("2:8:2", 4).power = 12;
  m.add("2", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{{2, 2}}));
  m.jobs[1].power = 4;
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 6}}));
  m.jobs[1].power = 8; // equals: the first that runs
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 6}}));
}

TEST(Reconfigurable, NobodyShrinksForAJobThatCannotStartThen) {
  Machine m(16);
  m.add("8,12", 12);
  m.add("4", 4);
  m.add("12", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{}));
  // but for one behind it that can
  m.add("4", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
}

TEST(Reconfigurable, GrowsWhenNobodyWaits) {
  Machine m(32);
  m.add("8:32:4", 8);
  m.add("4:16:4", 4);
  // 20 free; even: 4->8, then 8->12 (the first of equals), 12, 16, 16, ... : 16 and 16
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 16}, {2, 16}}));
  m.jobs[1].resizable = false;
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 28}}));
  m.add("40", 0); // cannot run on this machine at all, but it waits
  EXPECT_EQ(m.decide("rs"), (Decisions{}));
}

TEST(Reconfigurable, LeavesDeafAndAskedJobsAlone) {
  Machine m(16);
  m.add("4:16:4", 8);
  m.add("4:16:4", 4);
  m.jobs[0].unresponsive_until_s = 100;
  m.state.now_s = 50;
  EXPECT_EQ(m.decide("rs"), (Decisions{{2, 8}}));
  m.jobs[1].target = 8;
  EXPECT_EQ(m.decide("rs"), (Decisions{}));
  m.state.now_s = 100;
  EXPECT_EQ(m.decide("rs"), (Decisions{})) << "a growth asked for has its processors reserved";
  m.state.procs = 20;
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 12}}));
}

TEST(Reconfigurable, PriorityDecidesWhoShrinksForWhom) {
  Machine m(16);
  m.add("4:16:4", 8, 1);
  m.add("4:16:4", 8, 0);
  m.add("4", 0, 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{{2, 4}})) << "equal sizes: not the one of higher priority";
  m.jobs[1].procs = 4;
  m.jobs[0].procs = 12;
  EXPECT_EQ(m.decide("rs"), (Decisions{})) << "never a job of higher priority";
}

TEST(Reconfigurable, PayoffIsAnOption) {
  Machine m(8);
  Job& job = m.add("4,8", 4);
  m.known(job, {2, 1.5}, 10, 6); // saves 5 s, costs 6
  PolicyOptions payoff;
  payoff.payoff = true;
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
  EXPECT_EQ(m.decide("rs", payoff), (Decisions{}));
  job.steps_left = 13; // 6.5 s
  EXPECT_EQ(m.decide("rs", payoff), (Decisions{{1, 8}}));
}

TEST(Throughput, ProcessorsGoWhereTheyShortenMost) {
  Machine m(8);
  Job& a = m.add("2,4,6", 2);
  Job& b = m.add("2,4,6", 2);
  m.known(a, {10, 9.9, 9.8}, 10, 0.1); // hardly any faster
  m.known(b, {10, 5, 3.4}, 10, 0.1);   // nearly perfect
  EXPECT_EQ(m.decide("tp"), (Decisions{{2, 6}}));
  m.known(b, {10, 5, 3.4}, 10, 70); // 66 s saved at most
  EXPECT_EQ(m.decide("tp"), (Decisions{}));
}

TEST(Throughput, NeverBeyondTheSweetSpot) {
  Machine m(16);
  Job& a = m.add("4,8,16", 4);
  m.known(a, {10, 6, 7}, 100, 1);
  EXPECT_EQ(m.decide("tp"), (Decisions{{1, 8}}));
}

TEST(Throughput, TheOneThatLosesLeastShrinks) {
  Machine m(16);
  Job& a = m.add("4,8", 8);
  Job& b = m.add("4,8", 8);
  Job& c = m.add("4", 0);
  m.known(a, {2, 1}, 100, 1);
  m.known(b, {1.1, 1}, 100, 1);
  m.known(c, {1}, 10, 1);
  EXPECT_EQ(m.decide("tp"), (Decisions{{2, 4}}));
  b.steps_left = 2; // ends as soon as it could have shrunk
  EXPECT_EQ(m.decide("tp"), (Decisions{{1, 4}}));
}

TEST(FinishBy, TheSmallestSizeThatKeepsIt) {
  Machine m(8);
  Job& a = m.add("1,2,4,8", 0);
  m.known(a, {8, 4, 2, 1}, 10, 1); // 80, 40, 20, 10 s
  a.finish_by_s = 25;
  Job& b = m.add("1:4", 0); // whenever
  m.known(b, {8, 4, 3, 2}, 10, 1);
  b.resizable = false;
  // a on 4 by 20; all start, so what is left over is shared out: b to 2 and 3 and 4
  EXPECT_EQ(m.decide("qos"), (Decisions{{1, 4}, {2, 4}}));
  m.state.procs = 4; // b would not end by the time that a has to begin, but then a does not wait
  EXPECT_EQ(m.decide("qos"), (Decisions{{1, 4}}));
}

TEST(FinishBy, TheOneThatHasToStartFirstGoesFirst) {
  Machine m(4);
  for (const double finish_by_s : {100.0, 15.0, 50.0}) {
    Job& job = m.add("4", 0);
    m.known(job, {1}, 10, 1);
    job.finish_by_s = finish_by_s;
  }
  EXPECT_EQ(m.decide("qos"), (Decisions{{2, 4}}));
}

TEST(FinishBy, OthersShrinkAsFarAsTheyCanAfford) {
  Machine m(8);
  Job& a = m.add("2,4,8", 8);
  m.known(a, {4, 2, 1}, 10, 1); // 40, 20, 10 s left
  a.finish_by_s = 30;           // on 2 it would be late, on 4 it ends at 1 + 20
  Job& b = m.add("2,4", 0);
  m.known(b, {2, 1}, 10, 1);
  b.finish_by_s = 25;
  EXPECT_EQ(m.decide("qos"), (Decisions{{1, 4}}));
  a.finish_by_s = 11; // can spare nothing
  EXPECT_EQ(m.decide("qos"), (Decisions{}));
  a.finish_by_s = 5; // is late already
  EXPECT_EQ(m.decide("qos"), (Decisions{{1, 4}}));
}

TEST(FinishBy, WhoWouldBeLateGrows) {
  Machine m(8);
  Job& a = m.add("2,4,6", 2);
  m.known(a, {4, 2, 1.5}, 10, 1); // 40, 20, 15 s left
  a.finish_by_s = 30;
  EXPECT_EQ(m.decide("qos"), (Decisions{{1, 4}})); // no larger than it has to be, at first
}

// 8 processors; a job of 80, 40, 20, 10 s on 1, 2, 4, 8.
TEST(Promise, TheSmallestSizeWhosePredictedEndHolds) {
  Machine m(8);
  Job& held = m.add("8", 8); // all of it, for 30 s more
  m.known(held, {3}, 10, 1);
  held.resizable = false;
  Machine other(8);
  Job& job = other.add("1,2,4,8", 0);
  other.known(job, {8, 4, 2, 1}, 10, 1);
  const auto promised = [&](double finish_by_s) {
    job.finish_by_s = finish_by_s;
    const Promise p = promise_for(m.state, job);
    return std::make_pair(p.procs, p.end_s);
  };
  using P = std::pair<int, double>;
  EXPECT_EQ(promised(120), P(1, 110));
  EXPECT_EQ(promised(109), P(2, 70));
  EXPECT_EQ(promised(50), P(4, 50));
  EXPECT_EQ(promised(40), P(8, 40));
  EXPECT_EQ(promised(39), P(0, 40)); // refused, with the earliest possible time
  held.step_s = nullptr;             // nobody knows when it ends
  EXPECT_EQ(promised(1e9), P(0, std::numeric_limits<double>::infinity()));
}

TEST(Promise, RunningJobsGiveWhatTheyCanSpareAndOthersGoFirst) {
  Machine m(8);
  Job& running = m.add("2,4,8", 8);
  m.known(running, {4, 2, 1}, 10, 5); // 40, 20, 10 s left; a change takes 5 s
  Machine other(8);
  Job& job = other.add("4", 0);
  other.known(job, {1}, 10, 1); // 10 s
  job.finish_by_s = 15;
  EXPECT_EQ(promise_for(m.state, job).procs, 4); // from 5 on there are 6
  running.finish_by_s = 24;                      // then it cannot go below 8: 5 + 20 > 24
  EXPECT_EQ(promise_for(m.state, job).procs, 0);
  EXPECT_EQ(promise_for(m.state, job).end_s, 20); // after it
  running.finish_by_s = std::numeric_limits<double>::infinity();
  Job& waiting = m.add("4", 0); // it has to start before, at 2
  m.known(waiting, {1}, 10, 1);
  waiting.finish_by_s = 12;
  // it holds 4 of the 6 from 5 to 15, so this one begins at 15
  EXPECT_EQ(promise_for(m.state, job).end_s, 25);
}

TEST(Promise, SecondsBySize) {
  EXPECT_EQ(seconds_by_size("4=100,16=30.5", Sizes({2, 4, 8, 16})), (std::vector<double>{0, 100, 0, 30.5}));
  for (const char* wrong : {"4", "4=", "=5", "4=x", "4=0", "4=1,", "4=-1", "0=5", "4=1e999"})
    EXPECT_THROW(seconds_by_size(wrong, Sizes({4})), base::Error) << wrong;
}

TEST(Policies, UnknownNames) {
  EXPECT_THROW(make_policy("fifo"), base::Error);
  for (const char* name : {"ls", "as", "rs", "tp", "qos"}) {
    Machine m(4);
    EXPECT_EQ(m.decide(name), (Decisions{}));
    EXPECT_STREQ(make_policy(name)->name(), name);
  }
}

// ---- whole timelines ----

struct Line {
  double at_s;
  SimulationEvent::Kind kind;
  std::int64_t job;
  int procs;
  bool operator==(const Line& o) const {
    return std::abs(at_s - o.at_s) < 1e-9 && kind == o.kind && job == o.job && procs == o.procs;
  }
};
std::ostream& operator<<(std::ostream& out, const Line& line) {
  return out << line.at_s << " s: job " << line.job << " event " << static_cast<int>(line.kind) << " on " << line.procs;
}
using Kind = SimulationEvent::Kind;

std::vector<Line> timeline(const char* jobs, const char* policy, int procs, double deadline_s = 300) {
  const auto recorded = parse_jobs(jobs, "a test");
  RecordedArrivals arrivals(recorded.arrivals);
  SimulationOptions options;
  options.procs = procs;
  options.warm_up = 0;
  options.to_the_end = true;
  options.deadline_s = deadline_s;
  std::vector<Line> lines;
  simulate(*make_policy(policy), arrivals, options, [&](const SimulationEvent& e) {
    if (e.kind != Kind::arrival) lines.push_back({e.at_s, e.kind, e.job, e.procs});
  });
  return lines;
}

// Two jobs of ten steps on 4 processors, steps of 4, 2, 1 s on 1, 2, 4; the second comes at 2.5 s.
constexpr const char* two_jobs = "a,0,1 2 4,10,4 2 1,resize=0.5\n"
                                 "b,2.5,1 2 4,10,4 2 1,resize=0.5\n";

TEST(Timeline, Lazy) {
  EXPECT_EQ(timeline(two_jobs, "ls", 4),
            (std::vector<Line>{
                {0, Kind::start, 1, 4}, {10, Kind::end, 1, 0}, {10, Kind::start, 2, 4}, {20, Kind::end, 2, 0}}));
}

TEST(Timeline, Reconfigurable) {
  // a looks at the request when its third step ends, at 3; from 3.5 both have 2. a: 7 steps of 2 s, to 17.5;
  // b: 7 of its steps are done then, it grows from 17.5 to 18 and does the other three in 3 s.
  EXPECT_EQ(timeline(two_jobs, "rs", 4), (std::vector<Line>{{0, Kind::start, 1, 4},
                                                            {2.5, Kind::ask, 1, 2},
                                                            {3.5, Kind::resized, 1, 2},
                                                            {3.5, Kind::start, 2, 2},
                                                            {17.5, Kind::end, 1, 0},
                                                            {17.5, Kind::ask, 2, 4},
                                                            {18, Kind::resized, 2, 4},
                                                            {21, Kind::end, 2, 0}}));
}

TEST(Timeline, AJobThatIgnoresRequests) {
  // asked at 2.5, given up at 2.5 + 3; b waits for the end. Nobody is asked again.
  EXPECT_EQ(timeline("a,0,1 2 4,10,4 2 1,ignores\nb,2.5,1 2 4,10,4 2 1\n", "rs", 4, 3),
            (std::vector<Line>{{0, Kind::start, 1, 4},
                               {2.5, Kind::ask, 1, 2},
                               {5.5, Kind::ignored, 1, 4},
                               {10, Kind::end, 1, 0},
                               {10, Kind::start, 2, 4},
                               {20, Kind::end, 2, 0}}));
}

TEST(Timeline, AJobThatCrashes) {
  // half of ten steps of 1 s
  EXPECT_EQ(timeline("a,0,4,10,1,crashes=0.5\nb,1,4,1,1\n", "ls", 4),
            (std::vector<Line>{
                {0, Kind::start, 1, 4}, {5, Kind::crash, 1, 0}, {5, Kind::start, 2, 4}, {6, Kind::end, 2, 0}}));
}

TEST(Timeline, PrioritiesAndRigidJobs) {
  // b and c wait for a; then c before b, by priority
  EXPECT_EQ(timeline("a,0,2,1,3\nb,1,2,1,1\nc,2,2,1,1,priority=5\n", "ls", 2),
            (std::vector<Line>{{0, Kind::start, 1, 2},
                               {3, Kind::end, 1, 0},
                               {3, Kind::start, 3, 2},
                               {4, Kind::end, 3, 0},
                               {4, Kind::start, 2, 2},
                               {5, Kind::end, 2, 0}}));
  EXPECT_TRUE(timeline("a,0,8,1,1\n", "rs", 4).empty()) << "never fits";
  EXPECT_EQ(
      timeline("a,0,1:2 4,1,1 1 1,rigid\nb,0.5,1,1,1\n", "rs", 4),
      (std::vector<Line>{{0, Kind::start, 1, 4}, {1, Kind::end, 1, 0}, {1, Kind::start, 2, 1}, {2, Kind::end, 2, 0}}));
}

TEST(RecordedJobs, Errors) {
  for (const char* wrong : {"a", "a,0,1,1", "a,x,1,1,1", "a,0,1 2,1,1", "a,0,2 1,1,1 1", "a,0,1,0,1", "a,0,1,1,0",
                            "a,0,1,1,1,what=1", "a,0,1,1,1,priority=x", "a,0,1.5,1,1", "a,0,1:3,1,1", "a,-1,1,1,1"})
    EXPECT_THROW(parse_jobs(wrong, "a test"), base::Error) << wrong;
  EXPECT_EQ(parse_jobs("# nothing\n\n", "x").arrivals.size(), 0u);
  try {
    parse_jobs("a,0,1,1,1\nb,0,1,1,1,what=1", "jobs.csv");
    FAIL();
  } catch (const base::Error& e) {
    EXPECT_NE(std::string(e.what()).find("line 2 of jobs.csv"), std::string::npos) << e.what();
  }
}

} // namespace
