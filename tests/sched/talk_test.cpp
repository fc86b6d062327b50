// SPDX-License-Identifier: BSD-3-Clause
// The scheduler's side of a talk about processors: what it offers, what is booked, whatever a job answers. Pure.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../errors.hpp"
#include "base/environment.hpp"
#include "base/parse_json.hpp"
#include "sched/asks.hpp"
#include "sched/job_table.hpp"
#include "sched/loads.hpp"
#include "sched/talk.hpp"

namespace {

using namespace sched;

std::string text_of(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) text += (text.empty() ? "" : ",") + host.name + ":" + std::to_string(host.slots);
  return text;
}

/// How many have each processor, or were promised it, or could get it.
std::vector<int> owners(const JobTable& table, const std::vector<std::int64_t>& running) {
  std::vector<int> count(static_cast<std::size_t>(table.procs()), 0);
  for (const std::int64_t id : running) {
    for (const int p : table.find(id)->processors) ++count[static_cast<std::size_t>(p)];
    for (const int p : table.find(id)->reserved) ++count[static_cast<std::size_t>(p)];
  }
  for (const int p : table.free_ids()) ++count[static_cast<std::size_t>(p)];
  return count;
}

} // namespace

TEST(Talk, HostsOfProcessors) {
  const Hosts hosts = Hosts::parse("a:2:1.5,b:3,c");
  EXPECT_EQ(hosts.procs(), 6);
  EXPECT_EQ(text_of(offer_of(hosts, {5, 1, 2, 4})), "a:1,b:2,c:1");
  EXPECT_DOUBLE_EQ(power_of(offer_of(hosts, {0, 1, 2})), 4);
  EXPECT_EQ(speeds_of(hosts), (std::vector<double>{1.5, 1.5, 1, 1, 1, 1}));
  EXPECT_TRUE(speeds_of(Hosts::parse("a:2,b:2")).empty());
  EXPECT_EQ(taken_of(hosts, {1, 2, 4, 5}, {{"b", 1, 1}, {"c", 1, 1}}), (std::vector<int>{2, 5}));
  EXPECT_TRUE(taken_of(hosts, {1, 2}, {}).empty());
  for (const std::vector<Host>& wrong : std::vector<std::vector<Host>>{
           {{"a", 2, 1.5}}, {{"b", 1, 1}, {"b", 1, 1}}, {{"d", 1, 1}}, {{"c", 1, 1}}, {{"b", 0, 1}}, {{"b", -1, 1}}})
    EXPECT_THROW(taken_of(hosts, {1, 2}, wrong), base::Error) << text_of(wrong);
  for (const char* wrong : {"a:1:0", "a:1:-2", "a:1:x", "a:1:", "a:1:inf", "a:1:2:3", "a::2"})
    EXPECT_THROW(Hosts::parse(wrong), base::Error) << wrong;
  EXPECT_THROW(Hosts::parse("localhost:2," + base::host_name() + ":2"), base::Error) << "one host by two names";
  EXPECT_EQ(Hosts::parse("localhost:2,a:2").procs(), 4);
}

TEST(Talk, WhatAJobKeeps) {
  const Hosts hosts = Hosts::parse("a:2,b:3,c:1,10.0.0.1:1,10.0.0.2:1"); // 0 1, 2 3 4, 5, 6, 7
  const std::vector<int> has{0, 1, 2, 3, 5, 6, 7};
  const auto booked = [&](const std::vector<Host>& said, int n) { return booked_of(hosts, has, said, n); };
  EXPECT_EQ(booked({{"b", 2, 1}, {"c", 1, 1}}, 3), (std::vector<int>{2, 3, 5}));
  EXPECT_EQ(booked({{"b.cluster", 1, 1}}, 1), (std::vector<int>{2})) << "with its domain";
  EXPECT_EQ(booked({{"10.0.0.2", 1, 1}}, 1), (std::vector<int>{7})) << "an address has none";
  EXPECT_EQ(booked({{"c", 4, 1}}, 2), (std::vector<int>{0, 5})) << "more than it has there: the first of the others";
  EXPECT_EQ(booked({{"elsewhere", 2, 1}, {"c", 1, 1}}, 3), (std::vector<int>{0, 1, 5}));
  EXPECT_EQ(booked({{"b", 2, 1}}, 1), (std::vector<int>{2})) << "never more than n";
  EXPECT_EQ(booked({}, 9), has);
  const Hosts alike = Hosts::parse("a:2,n.one:2,n.two:2"); // 0 1, 2 3, 4 5
  EXPECT_EQ(booked_of(alike, {0, 1, 2, 3, 4, 5}, {{"n", 2, 1}, {"a", 1, 1}}, 3), (std::vector<int>{0, 2, 3}));
}

TEST(Talk, StepsCountSpeed) {
  // two processors of speed 1 are its own; of the free ones 3 and 4 are of speed 3, 2 is of speed 1
  const std::vector<double> speeds{1, 1, 1, 3, 3};
  const auto s = steps_by_speed({8, 4, 2.5, 2}, {1, 2, 3, 4}, speeds, {0, 1}, {2, 3, 4}, 1);
  EXPECT_DOUBLE_EQ(s[0], 8);
  EXPECT_DOUBLE_EQ(s[1], 4);
  EXPECT_DOUBLE_EQ(s[2], 2.5 * 3 / 5);
  EXPECT_DOUBLE_EQ(s[3], 2 * 4 / 8.0);
  EXPECT_DOUBLE_EQ(steps_by_speed({6}, {2}, speeds, {}, {2, 3, 4}, 1)[0], 2); // one that waits gets the fastest
}

// Jobs of all kinds: they take some, all or nothing of an offer, claim what they were not offered; asked to shrink they
// keep as many as they are left, or fewer, or decline, or end; they change by themselves. The scheduler dies now and
// then, and the next one reads its journal. Nothing is ever booked twice, lost, or above what was offered.
TEST(Talk, AHundredThousandRandomTalks) {
  const Hosts hosts = Hosts::parse("a:4:2,b:8,c:3:0.5,d:9:1.25");
  const int procs = hosts.procs();
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::optional<JobTable> table(std::in_place);
  std::string journal;
  int entries = 0;
  const auto commit = [&](const Entry& entry) {
    table->apply(entry);
    journal += encode(entry);
    ++entries;
  };
  const auto restart = [&] {
    table.emplace();
    table->set_speeds(speeds_of(hosts));
    for (const Entry& entry : read_journal(journal_head(journal_version) + journal).entries) table->apply(entry);
  };
  table->set_speeds(speeds_of(hosts));
  commit(table->open(0, procs, "rs", "boot"));
  std::vector<std::int64_t> running;
  int talks = 0, taken_some = 0, refused = 0, lied = 0, shrunk = 0, late = 0, restarts = 0;
  double t = 0;
  const auto end = [&](std::size_t at) {
    commit(table->end(t, running[at], "-", "killed"));
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto shrink = [&](std::size_t at) {
    const std::int64_t id = running[at];
    const auto has = static_cast<int>(table->find(id)->processors.size());
    const int most = 1 + below(has - 1);
    commit(table->ask(t, id, most));
    if (below(100) == 0) restart(), ++restarts;
    ASSERT_EQ(table->find(id)->target, most);
    ASSERT_TRUE(table->find(id)->reserved.empty());
    const int answer = below(12);
    if (answer == 0) return commit(table->answer(t, id, "declined", t + 1));
    if (answer == 1) return end(at);
    const int keeps = answer < 6 ? most : 1 + below(most);
    if (keeps < most) commit(table->ask(t, id, keeps));
    commit(table->size(t, id, keeps));
    ASSERT_EQ(static_cast<int>(table->find(id)->processors.size()), keeps);
    ++shrunk;
  };
  const auto grow = [&](std::int64_t id) {
    const std::vector<int> before = table->find(id)->processors;
    commit(table->ask(t, id, static_cast<int>(before.size()) + 1 + below(static_cast<int>(table->free_ids().size()))));
    if (below(100) == 0) restart(), ++restarts;
    const std::vector<int> reserved = table->find(id)->reserved;
    const std::vector<Host> offer = offer_of(hosts, reserved);
    const int answer = below(10);
    if (answer == 0) { // declined, or no answer
      ++refused;
      return commit(table->answer(t, id, "declined", t + 1));
    }
    std::vector<Host> said;
    for (const Host& host : offer)
      if (const int n = below(host.slots + 1); n > 0) said.push_back({host.name, n, host.speed});
    if (answer == 1) said.push_back({hosts.list[static_cast<std::size_t>(below(4))].name, 1 + below(9), 1});
    std::vector<int> taken;
    try {
      taken = taken_of(hosts, reserved, said);
    } catch (const base::Error&) {
      ++lied;
      return commit(table->answer(t, id, "nonsense", t + 1));
    }
    ASSERT_LE(power_of(offer_of(hosts, taken)), power_of(offer) + 1e-9);
    ASSERT_TRUE(std::includes(reserved.begin(), reserved.end(), taken.begin(), taken.end()));
    const auto add = [](int sum, const Host& host) { return sum + host.slots; };
    ASSERT_EQ(static_cast<int>(taken.size()), std::accumulate(said.begin(), said.end(), 0, add));
    if (taken.empty()) return commit(table->answer(t, id, "nothing is of use", t + 1));
    commit(table->narrow(t, id, taken));
    ASSERT_EQ(table->find(id)->reserved, taken);
    if (below(8) == 0) return; // it has begun at the deadline, and cannot be cancelled
    commit(table->size(t, id, table->find(id)->target));
    std::vector<int> all = before;
    all.insert(all.end(), taken.begin(), taken.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(table->find(id)->processors, all) << "what was answered is booked";
    ++taken_some;
  };
  while (talks < 100000) {
    t += 1;
    if (const auto free = static_cast<int>(table->free_ids().size()); running.size() < 4 && free > 0) {
      JobSpec spec;
      spec.command = {"x"};
      const Entry e = table->submit(t, spec);
      commit(e);
      commit(table->start(t, e.job, 1 + below(std::min(free, 4)), 1, 1));
      running.push_back(e.job);
    }
    const auto at = static_cast<std::size_t>(below(static_cast<int>(running.size())));
    const std::int64_t id = running[at];
    const auto has = static_cast<int>(table->find(id)->processors.size());
    if (const int target = table->find(id)->target; target > has) { // this growth ends long after its deadline
      commit(below(3) == 0 ? table->answer(t, id, "failed", t + 1) : table->size(t, id, target));
      ASSERT_EQ(owners(*table, running), std::vector<int>(static_cast<std::size_t>(procs), 1)) << "talk " << talks;
      ++late;
      continue;
    }
    const int kind = table->free_ids().empty() ? below(2) : below(8);
    if (has > 1 && kind == 0) { // by itself
      commit(table->size(t, id, 1 + below(has - 1)));
      continue;
    }
    if (has == 1 && kind < 2) {
      if (below(200) == 0) end(at); // the table looks at ended ones, too
      continue;
    }
    ++talks;
    if (kind == 1)
      shrink(at);
    else
      grow(id);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    ASSERT_EQ(owners(*table, running), std::vector<int>(static_cast<std::size_t>(procs), 1)) << "talk " << talks;
    if (entries > 1000) { // it is rewritten from time to time, as the scheduler does: here the old jobs end
      while (!running.empty()) end(0);
      const std::int64_t next = table->next_id();
      table.emplace();
      table->set_speeds(speeds_of(hosts));
      journal.clear();
      entries = 0;
      Entry open = table->open(t, procs, "rs", "boot");
      open.fields[2] = std::to_string(next);
      commit(open);
    }
  }
  EXPECT_GT(taken_some, 40000);
  EXPECT_GT(refused, 5000);
  EXPECT_GT(lied, 1000);
  EXPECT_GT(shrunk, 10000);
  EXPECT_GT(late, 4000);
  EXPECT_GT(restarts, 500);
}

TEST(LoadRounds, AReply) {
  using base::Json;
  const auto process = [](Json place, int samples, double share) {
    return Json{{"place", std::move(place)}, {"samples", samples}, {"share", share}};
  };
  const auto reply = [](Json loads, Json age_s) {
    return load_reply({{"ok", true}, {"loads", std::move(loads)}, {"age_s", std::move(age_s)}});
  };
  const LoadReply whole = reply({process(0, 3, 0.4), process(1, 2, 0.8), process(nullptr, 9, 0.1)}, 0.5);
  EXPECT_TRUE(whole.is_last);
  EXPECT_DOUBLE_EQ(whole.share.value_or(0), 0.6) << "one that sleeps does not count";
  const LoadReply part = reply({process(0, 3, 0.4), process(1, 0, 1)}, 0.5);
  EXPECT_FALSE(part.is_last) << "one of two is measured";
  EXPECT_DOUBLE_EQ(part.share.value_or(0), 0.4);
  const LoadReply old = reply({process(0, 3, 0.4)}, 60);
  EXPECT_FALSE(old.is_last);
  EXPECT_DOUBLE_EQ(old.share.value_or(0), 0.4);
  EXPECT_DOUBLE_EQ(reply({process(0, 3, 0.93), process(1, 3, 0.89)}, 1).share.value_or(0), 1) << "quiet";
  const LoadReply first = reply(Json::array(), nullptr);
  EXPECT_FALSE(first.is_last) << "it begins to measure";
  EXPECT_FALSE(first.share);
  for (const Json& unusable :
       {Json{{"ok", false}, {"error", "no such op"}}, Json{{"ok", true}}, Json{{"ok", true}, {"loads", 3}},
        Json{{"ok", true}, {"loads", {1}}}, Json{{"ok", true}, {"loads", {{{"place", 0}}}}}}) {
    EXPECT_TRUE(load_reply(unusable).is_last) << unusable;
    EXPECT_FALSE(load_reply(unusable).share) << unusable;
  }
}

// Jobs report at once, after some questions, never whole, never at all, or end. Each is asked at the begin of a round,
// then only after it has replied; the round ends when all that can have reported, else when its time is over.
TEST(LoadRounds, TenThousandRandomRounds) {
  std::mt19937 random(17);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto part = [&] { return below(1000) / 1000.0; };
  constexpr double patience_s = 3;
  LoadRound round(patience_s);
  struct Talker {
    int empty = 0;         ///< replies before the last one; -1: each reply is incomplete
    bool speaks = true;    ///< else it never replies
    double replies_s = -1; ///< to a question that was sent; below 0: none
    bool has_ended = false, has_reported = false;
  };
  double now_s = 0, ended_s = -1;
  int early = 0, late = 0, again = 0;
  for (int rounds = 0; rounds < 10000; ++rounds) {
    std::map<std::int64_t, Talker> talkers;
    std::vector<std::int64_t> jobs;
    for (int n = 2 + below(4); n > 0; --n) {
      jobs.push_back(n);
      Talker& talker = talkers[n];
      const int kind = below(20);
      talker.empty = kind == 0 ? -1 : kind < 8 ? 0 : kind < 18 ? 1 + below(5) : 0;
      talker.speaks = kind != 19;
    }
    if (ended_s >= 0) {
      now_s = ended_s + 4.9;
      ASSERT_FALSE(round.open_if_needed(jobs, now_s)) << "one round serves the choices of the next seconds";
      ASSERT_TRUE(round.due(now_s).empty());
      now_s = ended_s + 5;
    }
    ASSERT_TRUE(round.open_if_needed(jobs, now_s));
    std::sort(jobs.begin(), jobs.end());
    ASSERT_EQ(round.due(now_s), jobs) << "all at the same time";
    const double began_s = now_s;
    for (const std::int64_t job : jobs) talkers[job].replies_s = now_s + part();
    for (;;) {
      std::vector<std::int64_t> open;
      for (const auto& [job, talker] : talkers)
        if (!talker.has_reported && !talker.has_ended) open.push_back(job);
      ASSERT_EQ(round.silent(), open);
      const bool must_end = open.empty() || now_s >= began_s + patience_s;
      ASSERT_EQ(round.close_if_ended(now_s), must_end);
      if (must_end) {
        ASSERT_FALSE(round.close_if_ended(now_s)) << "reported once";
        ++(open.empty() ? early : late);
        break;
      }
      ASSERT_TRUE(round.open_if_needed(jobs, now_s)) << "it goes on";
      now_s += 0.05 + part() / 4;
      for (auto& [job, talker] : talkers) {
        if (below(100) == 0) {
          talker.has_ended = true;
          round.lost(job);
        }
        if (!talker.speaks || talker.replies_s < 0 || now_s < talker.replies_s) continue;
        talker.replies_s = -1;
        LoadReply reply;
        if (part() < 0.5) reply.share = 0.5;
        reply.is_last = talker.empty == 0;
        if (talker.empty > 0) --talker.empty;
        talker.has_reported = talker.has_reported || reply.is_last;
        round.received(job, reply, now_s);
      }
      for (const std::int64_t job : round.due(now_s)) {
        Talker& talker = talkers.at(job);
        ASSERT_LT(talker.replies_s, 0) << "a question is under way";
        ASSERT_FALSE(talker.has_reported || talker.has_ended);
        talker.replies_s = now_s + part() / 2;
        ++again;
      }
    }
    ended_s = now_s;
  }
  EXPECT_GT(early, 3000);
  EXPECT_GT(late, 1000);
  EXPECT_GT(again, 10000);
}

// Whether the last of some jobs that wait can go on some day: by all orders in which those that get what they need end.
TEST(Asks, WhoWaitsForEver) {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int in_vain = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<Need> needs;
    int held = 0;
    for (int job = 1 + below(5); job > 0; --job) {
      const int has = 1 + below(5);
      needs.push_back({job, has, has + 1 + below(8)});
      held += has;
    }
    const int procs = held + below(5);
    std::vector<std::size_t> order(needs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    bool can = false;
    do {
      int free = procs - held;
      for (const std::size_t i : order) {
        if (needs[i].least - needs[i].has > free) break;
        can = can || i + 1 == needs.size();
        free += needs[i].has;
      }
    } while (!can && std::next_permutation(order.begin(), order.end()));
    in_vain += !can;
    ASSERT_EQ(why_never(needs, procs).empty(), can) << round << ": " << why_never(needs, procs);
  }
  EXPECT_GT(in_vain, 2000);
  EXPECT_TRUE(says(why_never({{7, 2, 4}, {9, 1, 3}}, 4), "the jobs 7 wait for more"));
}

TEST(Asks, SizesAndWhatIsFree) {
  const auto allowed = advise::Allowed::parse("1:16:*2");
  EXPECT_EQ(sizes_asked_for({1, "3:9", true, 0}, allowed, 2, 12), (std::vector<int>{4, 8}));
  EXPECT_EQ(sizes_asked_for({1, "2x3", false, 0}, allowed, 2, 12), (std::vector<int>{6})) << "its own growth";
  EXPECT_TRUE(sizes_asked_for({1, "2x3", false, 0}, allowed, 6, 12).empty());
  EXPECT_TRUE(sizes_asked_for({1, "16", true, 0}, allowed, 2, 12).empty());
  EXPECT_THROW(sizes_asked_for({1, "x", true, 0}, allowed, 2, 12), base::Error);
}

// Jobs grow by themselves as they are allowed to, take it or give it up, shrink and end, while others wait: processors
// are never promised twice, none is lost, and those that wait keep what they need.
TEST(Asks, AHundredThousandGrowthsOfTheirOwn) {
  const int procs = 24;
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  JobTable table;
  table.apply(table.open(0, procs, "rs", "boot"));
  std::vector<std::int64_t> running;
  int granted = 0, refused = 0, given_up = 0;
  for (int talks = 0; talks < 100000;) {
    const auto free = static_cast<int>(table.free_ids().size());
    if (running.size() < 4 && free > 0) {
      JobSpec spec;
      spec.command = {"x"};
      const Entry e = table.submit(talks, spec);
      table.apply(e);
      table.apply(table.start(talks, e.job, 1 + below(std::min(free, 4)), 1, 1));
      running.push_back(e.job);
    }
    const auto at = static_cast<std::size_t>(below(static_cast<int>(running.size())));
    const std::int64_t id = running[at];
    const JobRecord& job = *table.find(id);
    if (job.target == 0 && below(4) == 0) { // it shrinks, or ends
      if (job.procs > 1)
        table.apply(table.size(talks, id, 1 + below(job.procs - 1)));
      else if (below(200) == 0) {
        table.apply(table.end(talks, id, "0", ""));
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      }
      continue;
    }
    ++talks;
    if (job.target != 0) { // it has grown, or gives up
      const std::vector<int> promised = job.reserved, before = job.processors;
      if (below(3) == 0) {
        table.apply(table.answer(talks, id, "did not grow", talks));
        ASSERT_EQ(job.processors, before);
        ++given_up;
      } else {
        table.apply(table.size(talks, id, job.target));
        ASSERT_TRUE(std::includes(job.processors.begin(), job.processors.end(), promised.begin(), promised.end()));
      }
    } else {
      std::vector<Job> views(running.size() + 1);
      State state;
      state.procs = procs;
      for (std::size_t i = 0; i < running.size(); ++i) {
        views[i].procs = table.find(running[i])->procs;
        views[i].target = table.find(running[i])->target;
        state.running.push_back(&views[i]);
      }
      const Sizes waits({1 + below(4)});
      views.back().sizes = &waits;
      if (below(2) == 0) state.waiting.push_back(&views.back());
      const int more = 1 + below(8), kept = state.waiting.empty() ? 0 : waits.smallest();
      const bool may = why_not_now(more, state, 0).empty();
      ASSERT_EQ(may, more + kept <= static_cast<int>(table.free_ids().size()));
      if (may) table.apply(table.ask(talks, id, job.procs + more));
      ++(may ? granted : refused);
    }
    ASSERT_EQ(owners(table, running), std::vector<int>(static_cast<std::size_t>(procs), 1)) << "talk " << talks;
  }
  EXPECT_GT(granted, 10000);
  EXPECT_GT(refused, 10000);
  EXPECT_GT(given_up, 2000);
}
