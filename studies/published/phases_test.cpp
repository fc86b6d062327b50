// SPDX-License-Identifier: BSD-3-Clause
// The published way to plan phases beside the library's, and SUIF-Adapt's figures [MorrisLowenthal2001].
#include "published/phases.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "../../tests/advise/random_phases.hpp"
#include "base/index.hpp"
#include "base/status.hpp"

namespace {
using advise::Phase;
using advise::PhaseCandidate;
using advise::PhasePlan;
using advise::PhaseProblem;
using advise::PhaseUse;
using base::at;

TEST(PublishedPhases, Table1) {
  EXPECT_EQ(published::redistribution_s({10, 15}, {8, 2}), 3);
  EXPECT_EQ(published::redistribution_s({3}, {0}), 0);
  EXPECT_THROW(published::redistribution_s({1, 2}, {1}), base::Error);
}

TEST(PublishedPhases, EveryCycleIsTheSame) {
  const PhaseProblem p = best_in_two_cycles();
  EXPECT_EQ(advise::plan_endless_phases(p).cycle_s, 2);
  EXPECT_GE(published::phases(p, true).cycle_s, 12);
}

// SUIF-Adapt, sections 3.2.3 and 4.3: without unrolling its graph it took pages that are read in both distributions for
// pages that have to be moved in every cycle, and chose one distribution for both phases.
TEST(PublishedPhases, UnrollingSeesCopiesThatStayValid) {
  PhaseProblem p;
  p.matrices = {{"table", 2, 1}, {"x", 2, 1}};
  p.start = {0, 0};
  const PhaseUse r = PhaseUse::read, w = PhaseUse::write, none = PhaseUse::none;
  p.phases = {{"uniform", {r, none}, {{"B", {0, 0}, {5, 5}}, {"V", {1, 0}, {7, 3}}}},
              {"adaptive", {r, w}, {{"B", {0, 0}, {12, 2}}, {"V", {1, 1}, {5, 5}}}}};
  p.move = [](int, int, int) { return std::vector<double>{4, 4}; };
  const PhasePlan once = published::phases(p, false), unrolled = published::phases(p, true),
                  exact = advise::plan_endless_phases(p);
  EXPECT_EQ(once.steps[0].candidate, 1);
  EXPECT_EQ(once.steps[1].candidate, 1);
  EXPECT_EQ(once.cycle_s, 12); // BB is 17 and BV 5 + 9, until the table is known to be in both
  EXPECT_EQ(unrolled.cycle_s, 10);
  EXPECT_EQ(unrolled.steps[0].candidate, 0);
  EXPECT_EQ(unrolled.steps[1].candidate, 1);
  EXPECT_EQ(exact.cycle_s, 10);
  EXPECT_EQ(exact.period, 1);
  EXPECT_EQ(exact.steps[exact.lead_in].candidate, 0);
  EXPECT_EQ(exact.steps[exact.lead_in + 1].candidate, 1);
  EXPECT_EQ(advise::plan_phases(p, 10).seconds, 104); // one copy, once
}

TEST(PublishedPhases, OursIsNeverBehindThePublishedMethod) {
  RandomPhases random(23);
  int better = 0;
  for (int run = 0; run < 100; ++run) {
    const PhaseProblem p = random.problem(random.whole(2, 4), 3, 2, 3);
    // what the published choice takes when it is repeated: the same problem with nothing else to choose
    PhaseProblem fixed = p;
    for (const advise::PhaseStep& step : published::phases(p, true).steps)
      fixed.phases[at(step.phase)].candidates = {p.phases[at(step.phase)].candidates[at(step.candidate)]};
    const double ours = advise::plan_endless_phases(p).cycle_s, theirs = advise::plan_endless_phases(fixed).cycle_s;
    ASSERT_LE(ours, theirs + 1e-9);
    better += ours < theirs - 1e-9 ? 1 : 0;
  }
  EXPECT_GT(better, 0);
}

} // namespace
