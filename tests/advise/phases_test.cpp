// SPDX-License-Identifier: BSD-3-Clause
// Plans of phases against brute force over all choices, and SUIF-Adapt's figures [MorrisLowenthal2001].
#include "advise/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/index.hpp"
#include "random_phases.hpp"

namespace {
using advise::Phase;
using advise::PhaseCandidate;
using advise::PhasePlan;
using advise::PhaseProblem;
using advise::PhaseUse;
using base::at;

constexpr double beyond = std::numeric_limits<double>::infinity();

/// The layouts in which each matrix has a valid copy.
using Valid = std::vector<std::set<int>>;

bool is_read(PhaseUse use) {
  return use == PhaseUse::read || use == PhaseUse::read_write;
}

/// Seconds of a phase whose matrices are copied from `sources` first (-1: not), as the definition has it.
double seconds_of(const PhaseProblem& p, const Phase& phase, const PhaseCandidate& c, const std::vector<int>& sources) {
  double longest = 0;
  for (std::size_t k = 0; k < c.seconds.size(); ++k) {
    double own = c.seconds[k];
    for (std::size_t m = 0; m < phase.uses.size(); ++m)
      if (sources[m] >= 0) own += p.move(static_cast<int>(m), sources[m], c.layouts[m])[k];
    longest = std::max(longest, own);
  }
  return longest;
}

Valid after(const Phase& phase, const PhaseCandidate& c, Valid valid) {
  for (std::size_t m = 0; m < phase.uses.size(); ++m) {
    if (phase.uses[m] == PhaseUse::none) continue;
    if (phase.uses[m] != PhaseUse::read) valid[m].clear();
    valid[m].insert(c.layouts[m]);
  }
  return valid;
}

std::int64_t bytes_of(const PhaseProblem& p, const Valid& valid) {
  std::int64_t sum = 0;
  for (std::size_t m = 0; m < valid.size(); ++m)
    sum += p.matrices[m].copy_bytes * static_cast<std::int64_t>(valid[m].size());
  return sum;
}

/// A candidate's seconds: every source of every copy is tried.
double least_step(const PhaseProblem& p, const Phase& phase, const PhaseCandidate& c, const Valid& valid) {
  std::vector<int> sources(valid.size(), -1);
  double least = beyond;
  const auto choose = [&](auto self, std::size_t m) -> void {
    if (m == valid.size()) {
      least = std::min(least, seconds_of(p, phase, c, sources));
      return;
    }
    if (!is_read(phase.uses[m]) || valid[m].count(c.layouts[m]) > 0) return self(self, m + 1);
    for (const int from : valid[m]) {
      sources[m] = from;
      self(self, m + 1);
    }
    sources[m] = -1;
  };
  choose(choose, 0);
  return least;
}

/// Every candidate, every source of every copy, every set of copies that is kept.
double least_by_force(const PhaseProblem& p, const Valid& valid, std::size_t step, std::size_t steps) {
  if (step == steps) return 0;
  const Phase& phase = p.phases[step % p.phases.size()];
  double least = beyond;
  for (const PhaseCandidate& c : phase.candidates) {
    const double here = least_step(p, phase, c, valid);
    const Valid all = after(phase, c, valid);
    const auto keep = [&](auto self, std::size_t m, const Valid& kept) -> void {
      if (m == all.size()) {
        if (p.memory_bytes < 0 || bytes_of(p, kept) <= p.memory_bytes)
          least = std::min(least, here + least_by_force(p, kept, step + 1, steps));
        return;
      }
      const std::vector<int> list(all[m].begin(), all[m].end());
      for (unsigned part = 1; part < 1U << list.size(); ++part) {
        if (p.memory_bytes < 0 && part + 1 < 1U << list.size()) continue; // no reason to drop any
        Valid next = kept;
        next[m].clear();
        for (std::size_t k = 0; k < list.size(); ++k)
          if ((part >> k & 1U) != 0) next[m].insert(list[k]);
        if (phase.uses[m] != PhaseUse::none && next[m].count(c.layouts[m]) == 0) continue;
        self(self, m + 1, next);
      }
    };
    keep(keep, 0, all);
  }
  return least;
}

Valid start_of(const PhaseProblem& p) {
  Valid valid;
  for (const int layout : p.start) valid.push_back({layout});
  return valid;
}

/// Follows a plan in which nothing is dropped, step by step. Returns the seconds.
double replayed(const PhaseProblem& p, const std::vector<advise::PhaseStep>& steps, Valid& valid) {
  double sum = 0;
  for (const advise::PhaseStep& step : steps) {
    const Phase& phase = p.phases[at(step.phase)];
    const PhaseCandidate& c = phase.candidates[at(step.candidate)];
    for (std::size_t m = 0; m < valid.size(); ++m) {
      const bool needs = is_read(phase.uses[m]) && valid[m].count(c.layouts[m]) == 0;
      EXPECT_EQ(step.copied_from[m] >= 0, needs);
      EXPECT_TRUE(!needs || valid[m].count(step.copied_from[m]) > 0) << "a copy of what is not valid";
    }
    const double seconds = seconds_of(p, phase, c, step.copied_from);
    EXPECT_NEAR(step.seconds, seconds, 1e-9);
    EXPECT_NEAR(step.move_s, seconds - *std::max_element(c.seconds.begin(), c.seconds.end()), 1e-9);
    sum += seconds;
    valid = after(phase, c, valid);
  }
  return sum;
}

TEST(Phases, Table1) {
  PhaseProblem p;
  p.matrices = {{"x", 2, 1}};
  p.phases = {{"i", {PhaseUse::read_write}, {{"", {0}, {1, 1}}}},
              {"i+1", {PhaseUse::read_write}, {{"", {1}, {10, 15}}}}};
  p.move = [](int, int from, int) { return from == 0 ? std::vector<double>{8, 2} : std::vector<double>{0, 0}; };
  p.start = {0};
  const PhasePlan plan = advise::plan_phases(p, 1);
  EXPECT_EQ(plan.steps[1].seconds, 18);
  EXPECT_EQ(plan.steps[1].move_s, 3);
  EXPECT_EQ(plan.seconds, 19);
}

TEST(Phases, ExactAgainstAllChoices) {
  RandomPhases random(20);
  for (int run = 0; run < 300; ++run) {
    const int phases = random.whole(1, 4), cycles = phases <= 2 ? random.whole(1, 2) : 1;
    const PhaseProblem p = random.problem(phases, random.whole(1, 3), random.whole(1, 2), random.whole(2, 3));
    const double least = least_by_force(p, start_of(p), 0, at(phases * cycles));
    const PhasePlan plan = advise::plan_phases(p, cycles);
    ASSERT_NEAR(plan.seconds, least, 1e-9) << "run " << run;
    Valid valid = start_of(p);
    ASSERT_NEAR(replayed(p, plan.steps, valid), least, 1e-9);
    ASSERT_EQ(plan.steps.size(), at(phases * cycles));
  }
}

// A layer of all states after each phase, none of which is left out. Cycles that repeat are planned once only.
TEST(Phases, ManyCyclesAgainstAPlainProgramme) {
  RandomPhases random(25);
  for (int run = 0; run < 40; ++run) {
    const PhaseProblem p = random.problem(random.whole(1, 4), 3, random.whole(1, 2), 3);
    const int cycles = run % 2 == 0 ? 12 : 101 + run;
    std::map<Valid, double> layer{{start_of(p), 0}};
    for (std::size_t step = 0; step < at(cycles) * p.phases.size(); ++step) {
      const Phase& phase = p.phases[step % p.phases.size()];
      std::map<Valid, double> next;
      for (const auto& [valid, seconds] : layer)
        for (const PhaseCandidate& c : phase.candidates) {
          double& least = next.try_emplace(after(phase, c, valid), beyond).first->second;
          least = std::min(least, seconds + least_step(p, phase, c, valid));
        }
      layer = std::move(next);
    }
    double least = beyond;
    for (const auto& [valid, seconds] : layer) least = std::min(least, seconds);
    const PhasePlan plan = advise::plan_phases(p, cycles);
    ASSERT_NEAR(plan.seconds, least, 1e-9) << "run " << run;
    Valid valid = start_of(p);
    ASSERT_NEAR(replayed(p, plan.steps, valid), least, 1e-9);
  }
}

TEST(Phases, ExactUnderAMemoryCap) {
  RandomPhases random(21);
  int capped = 0;
  for (int run = 0; run < 200; ++run) {
    const int phases = random.whole(2, 4);
    PhaseProblem p = random.problem(phases, random.whole(2, 3), random.whole(1, 2), 3);
    const double free = advise::plan_phases(p, 1).seconds;
    p.memory_bytes = 0;
    for (const advise::PhaseMatrix& m : p.matrices) p.memory_bytes += m.copy_bytes;
    p.memory_bytes += random.whole(0, 4);
    const double least = least_by_force(p, start_of(p), 0, at(phases));
    const PhasePlan plan = advise::plan_phases(p, 1);
    ASSERT_NEAR(plan.seconds, least, 1e-9) << "run " << run;
    ASSERT_GE(plan.seconds, free - 1e-12);
    capped += plan.seconds > free + 1e-9 ? 1 : 0;
  }
  EXPECT_GT(capped, 5);
}

// What long runs take more for 2,520 more cycles is the mean of the best cycle, whatever its period up to 10 is.
TEST(Phases, EndlessIsTheSlopeOfLongRuns) {
  RandomPhases random(22);
  int several = 0;
  for (int run = 0; run < 60; ++run) {
    PhaseProblem p = random.problem(random.whole(1, 3), random.whole(2, 3), random.whole(1, 2), random.whole(2, 3));
    const bool has_cap = run % 3 == 0;
    if (has_cap) {
      p.memory_bytes = random.whole(0, 3);
      for (const advise::PhaseMatrix& m : p.matrices) p.memory_bytes += m.copy_bytes;
    }
    const PhasePlan endless = advise::plan_endless_phases(p);
    const double slope = (advise::plan_phases(p, 5040).seconds - advise::plan_phases(p, 2520).seconds) / 2520;
    ASSERT_NEAR(endless.cycle_s, slope, 1e-9) << "run " << run;
    ASSERT_EQ(endless.steps.size(), endless.lead_in + at(endless.period) * p.phases.size());
    several += endless.period > 1 ? 1 : 0;
    for (std::size_t k = 0; k < endless.steps.size(); ++k) // phases in their order, from the first on
      ASSERT_EQ(endless.steps[k].phase, static_cast<int>(k % p.phases.size()));
    if (has_cap) continue;
    Valid valid = start_of(p);
    const auto cycle = endless.steps.begin() + static_cast<std::ptrdiff_t>(endless.lead_in);
    replayed(p, {endless.steps.begin(), cycle}, valid);
    for (int round = 0; round < 3; ++round)
      ASSERT_NEAR(replayed(p, {cycle, endless.steps.end()}, valid), endless.period * endless.cycle_s, 1e-9);
  }
  RecordProperty("periods of several cycles", several);
}

TEST(Phases, ACycleOfTwoCycles) {
  const PhaseProblem p = best_in_two_cycles();
  const PhasePlan plan = advise::plan_endless_phases(p);
  EXPECT_EQ(plan.cycle_s, 2); // 12 where every cycle is the same
  EXPECT_EQ(plan.period, 2);
  EXPECT_EQ(advise::plan_phases(p, 10).seconds, 20);
  EXPECT_EQ(advise::plan_phases(p, 1001).seconds, 2002);
  EXPECT_EQ(advise::plan_phases(p, 100000).seconds, 200000); // as fast: cycles that repeat are planned once
}

TEST(Phases, NeverBehindTheBestSingleLayout) {
  RandomPhases random(23);
  for (int run = 0; run < 100; ++run) {
    const PhaseProblem p = random.problem(random.whole(2, 4), 3, 2, 3);
    const double ours = advise::plan_phases(p, 500).seconds;
    for (int c = 0; c < 3; ++c) {
      PhaseProblem single = p;
      for (std::size_t k = 0; k < p.phases.size(); ++k) single.phases[k].candidates = {p.phases[k].candidates[at(c)]};
      ASSERT_LE(ours, advise::plan_phases(single, 500).seconds + 1e-6);
    }
  }
}

template <class Change> std::string phase_refusal(Change change) {
  PhaseProblem p = RandomPhases(1).problem(2, 2, 1, 2);
  p.matrices[0].copy_bytes = 8;
  p.phases[1].uses = {PhaseUse::read};
  change(p);
  return message_of([&] { advise::plan_phases(p, 1); });
}

TEST(Phases, BadInputIsRefusedInWords) {
  EXPECT_EQ(phase_refusal([](PhaseProblem&) {}), "no error");
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.phases.clear(); }), "advise: phases: there is no phase"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.phases[0].candidates.clear(); }), "p0 has no candidate"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.phases[1].candidates[0].seconds[0] = std::nan(""); }), "nan"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.phases[1].candidates[0].layouts = {2}; }), "expected 0 .. 1"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.start = {}; }), "start has 0 layouts"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.matrices[0].layouts = 65; }), "at most 64"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) { p.memory_bytes = 7; }), "more than the 7"));
  EXPECT_TRUE(says(phase_refusal([](PhaseProblem& p) {
                     p.move = [](int, int, int) { return std::vector<double>{-1, -1, -1}; };
                     for (Phase& phase : p.phases)
                       for (PhaseCandidate& c : phase.candidates) c.seconds = {1, 1, 1};
                     p.phases[1].candidates = {{"", {1 - p.start[0]}, {1, 1, 1}}};
                     p.phases[0].uses = {PhaseUse::none};
                   }),
                   "takes -1 seconds"));
  EXPECT_THROW(advise::plan_phases(RandomPhases(1).problem(2, 2, 1, 2), -1), base::Error);
}

} // namespace
