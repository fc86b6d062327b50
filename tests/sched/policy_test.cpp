// SPDX-License-Identifier: BSD-3-Clause
// Policies against timelines worked out by hand.
#include "sched/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "advise/topology.hpp"
#include "base/status.hpp"
#include "sched/free_processors.hpp"
#include "sched/promise.hpp"
#include "sched/time.hpp"

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
    sizes.emplace_back(advise::parse_set(allowed));
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
      EXPECT_GE(d.job->sizes->index_of(d.procs), 0);
      if (d.is_start()) started += d.procs;
      EXPECT_EQ(d.job->target, 0);
    }
    EXPECT_LE(started, state.free());
    return result;
  }
};
using Decisions = std::map<std::int64_t, int>;

TEST(Time, ComesOnceHoweverLateTheLook) {
  EXPECT_FALSE(has_come(10, 8, 9));
  EXPECT_TRUE(has_come(10, 9, 10));
  EXPECT_TRUE(has_come(10, 9, 500)) << "the scheduler was stopped, or its disk was full";
  EXPECT_FALSE(has_come(10, 10, 11));
  EXPECT_TRUE(has_come(10, 9.5, 10.5)) << "the clock was set back to 9.5 after a look at 11";
  EXPECT_FALSE(has_come(0, 0, 10)) << "no time";
}

TEST(Sizes, Next) {
  const Sizes sizes({4, 9, 16});
  EXPECT_EQ(sizes.at_most(3), 0);
  EXPECT_EQ(sizes.at_most(15), 9);
  EXPECT_EQ(sizes.above(9), 16);
  EXPECT_EQ(sizes.above(16), 0);
  EXPECT_EQ(sizes.index_of(16), 2);
  EXPECT_EQ(sizes.index_of(5), -1);
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

// Power counts, not heads: what is even, and which job gives.
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

// Two equal jobs, and a third that waits: the one whose processes get less of their processors shrinks.
TEST(Loads, TheJobOnLoadedHostsShrinks) {
  for (const char* policy : {"rs", "tp", "qos"}) {
    Machine m(16);
    Job& a = m.add("4,8", 8);
    Job& b = m.add("4,8", 8);
    Job& c = m.add("4", 0);
    m.known(a, {2, 1}, 100, 1);
    m.known(b, {2, 1}, 100, 1);
    m.known(c, {1}, 10, 1);
    EXPECT_EQ(m.decide(policy), (Decisions{{1, 4}})) << policy;
    b.share = 0.5;
    EXPECT_EQ(m.decide(policy), (Decisions{{2, 4}})) << policy;
    a.share = 0.5;
    EXPECT_EQ(m.decide(policy), (Decisions{{1, 4}})) << policy << ": as without load";
    a.share = 0.4;
    EXPECT_EQ(m.decide(policy), (Decisions{{1, 4}})) << policy;
    b.share = 0.1;
    EXPECT_EQ(m.decide(policy), (Decisions{{2, 4}})) << policy;
    b.priority = c.priority = 1;
    EXPECT_EQ(m.decide(policy), (Decisions{{1, 4}})) << policy << ": priority counts more";
  }
}

TEST(Loads, WithoutShrinksTheyChangeNothing) {
  Machine m(24);
  m.add("4,8", 8);
  m.add("4,8", 8).share = 0.1;
  m.add("4:8:4", 0);
  m.add("4", 0);
  for (const char* policy : {"ls", "as"}) {
    Machine unloaded = m;
    unloaded.state.running = {&unloaded.jobs[0], &unloaded.jobs[1]};
    unloaded.jobs[1].share = 1;
    EXPECT_EQ(m.decide(policy), unloaded.decide(policy));
    EXPECT_TRUE(candidates_to_shrink(*make_policy(policy), m.state).empty());
  }
  EXPECT_EQ(m.decide("as"), (Decisions{{3, 4}, {4, 4}}));
  EXPECT_EQ(m.decide("ls"), (Decisions{{3, 8}}));
}

// A share of a half counts as twice the processors.
TEST(Loads, ReconfigurableWeighsThemAgainstSizes) {
  Machine m(20);
  m.add("4:12:4", 12);
  Job& loaded = m.add("4:12:4", 8);
  m.add("4", 0);
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
  loaded.share = 0.75; // counts as 10.7
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
  loaded.share = 0.5; // as 16
  EXPECT_EQ(m.decide("rs"), (Decisions{{2, 4}}));
  m.add("4", 0); // that one has no more: the next 4 are of the first
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}, {2, 4}}));
  m.state.waiting.pop_back();
  m.jobs[0].power = 20; // its processors are faster
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 8}}));
  loaded.share = 0.25; // as 32
  EXPECT_EQ(m.decide("rs"), (Decisions{{2, 4}}));
}

TEST(Loads, ThroughputCountsWhatIsLost) {
  Machine m(16);
  Job& a = m.add("4,8", 8);
  Job& b = m.add("4,8", 8);
  Job& c = m.add("4", 0);
  m.known(a, {2, 1}, 100, 1);   // 1/100 - 1/200 = 0.005 jobs a second lost
  m.known(b, {1.1, 1}, 100, 1); // 1/100 - 1/110 = 0.0009
  m.known(c, {1}, 10, 1);
  a.share = 0.5; // 0.0025
  EXPECT_EQ(m.decide("tp"), (Decisions{{2, 4}}));
  a.share = 0.1; // 0.0005
  EXPECT_EQ(m.decide("tp"), (Decisions{{1, 4}}));
  for (Job* job : {&a, &b, &c}) job->step_s = nullptr;
  a.share = 1;
  // without history all lose 4 of the 8 processors that do an hour's work of 4, and c would have as many
  EXPECT_EQ(m.decide("tp"), (Decisions{}));
  EXPECT_EQ(candidates_to_shrink(*make_policy("tp"), m.state), (std::vector<std::int64_t>{1, 2}));
  b.share = 0.5;
  EXPECT_EQ(m.decide("tp"), (Decisions{{2, 4}}));
}

TEST(Loads, EvenSharesAreOfWhatJobsGet) {
  Machine m(12);
  Job& a = m.add("1:8", 4);
  Job& b = m.add("1:8", 4);
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 6}, {2, 6}}));
  b.share = 0.5; // 4 and 2: the second to 5 and 6, the first of the equals to 5, and the second to 7
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 5}, {2, 7}}));
  m.state.procs = 11;
  m.state.free_speeds = {2, 2, 2};
  a.power = b.power = 4;
  // 4 and 2: the second to 5, which makes 4; the first of the equals to 5, which makes 6; the second to 6
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 5}, {2, 6}}));
  b.share = 1; // 4 and 4: 6 and 6, and the first of the equals
  EXPECT_EQ(m.decide("rs"), (Decisions{{1, 6}, {2, 5}}));
}

TEST(Loads, TheyAreAskedForWhereThereIsAChoice) {
  Machine m(20);
  m.add("4,8", 8);
  m.add("4,8", 8);
  const auto asked = [&](const char* policy = "rs") { return candidates_to_shrink(*make_policy(policy), m.state); };
  EXPECT_TRUE(asked().empty()) << "no job waits";
  m.add("4", 0);
  EXPECT_TRUE(asked().empty()) << "it starts on free processors";
  m.add("8", 0);
  EXPECT_EQ(asked(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(asked("qos"), (std::vector<std::int64_t>{1, 2}));
  m.state.waiting.pop_back();
  m.add("16", 0);
  EXPECT_TRUE(asked().empty()) << "they cannot free that number";
  m.state.waiting.pop_back();
  m.state.procs = 16;
  EXPECT_EQ(asked(), (std::vector<std::int64_t>{1, 2}));
  m.jobs[0].unresponsive_until_s = 1;
  EXPECT_TRUE(asked().empty()) << "only one may be asked";
  m.jobs[0].unresponsive_until_s = 0;
  m.jobs[1].priority = 1;
  EXPECT_TRUE(asked().empty()) << "the other has a higher priority";
}

TEST(Loads, TheReasonIsGivenWhereTheyMatter) {
  Machine m(16);
  Job& a = m.add("4,8", 8);
  Job& b = m.add("4,8", 8);
  m.add("4", 0);
  const auto reason = [&] {
    const auto policy = make_policy("rs");
    std::vector<Decision> out;
    policy->decide(m.state, out);
    return out.size() == 1 ? why_by_load(*policy, m.state, out[0]) : "not one decision";
  };
  EXPECT_EQ(reason(), "");
  b.share = 0.52;
  EXPECT_EQ(reason(), "its processes get 0.52 of their processors");
  a.share = 0.52; // the first of the equals, as without load
  EXPECT_EQ(reason(), "");
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

TEST(FreeProcessors, TheSameAsAnArray) {
  std::mt19937 random(9);
  constexpr int span = 1000;
  std::vector<int> free(span, 50);
  FreeProcessors processors(50);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int k = 0; k < 4000; ++k) {
    const int from = pick(0, span - 2), to = pick(from + 1, span - 1), n = pick(-3, 3);
    processors.add(from, to, n);
    for (int t = from; t < to; ++t) free[static_cast<std::size_t>(t)] += n;
    const int at = pick(0, span - 1), procs = pick(40, 60), length = pick(1, 30), limit = pick(at, span - 1);
    ASSERT_EQ(processors.free_at(at), free[static_cast<std::size_t>(at)]);
    int first = at;
    while (first < span && free[static_cast<std::size_t>(first)] < procs) ++first;
    ASSERT_EQ(processors.earliest(procs, 0, at), first == span ? never : first);
    int begin = at;
    for (int t = at; t < begin + length && t < limit; ++t)
      if (free[static_cast<std::size_t>(t)] < procs) begin = t + 1;
    ASSERT_EQ(processors.earliest(procs, length, at, limit), std::min(begin, limit));
  }
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
  }
}

} // namespace
