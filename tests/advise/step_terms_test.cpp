// SPDX-License-Identifier: BSD-3-Clause
// Observations are made from terms that are known, by the formula of the header written once more.
#include <vector>

#include <gtest/gtest.h>

#include "advise/step_terms.hpp"

namespace {
using advise::fit_step_terms;
using advise::StepObservation;
using advise::StepTerms;

StepObservation observed(base::GridShape grid, double share, double work_s, double fixed_s, double slowed_s) {
  StepObservation o;
  o.grid = grid;
  o.share = share;
  o.work = 1.0 / grid.size() / share; // equal parts
  const double sides = grid.size() > 1 ? 1.0 / grid.nprow + 1.0 / grid.npcol : 0;
  o.step_s = work_s * o.work + sides * (fixed_s + slowed_s / share);
  return o;
}

TEST(StepTerms, NothingMeasuredNothingKnown) {
  EXPECT_EQ(fit_step_terms({}).work_s, 0);
  StepObservation none;
  EXPECT_EQ(fit_step_terms({none}).work_s, 0); // a step of no time
}

TEST(StepTerms, OneObservationIsAllWork) {
  const StepTerms t = fit_step_terms({observed({2, 2}, 0.5, 8, 0, 0)});
  EXPECT_NEAR(t.work_s, 8, 1e-9);
  EXPECT_EQ(t.volume_s, 0);
  EXPECT_EQ(t.processor_part, 0);
}

TEST(StepTerms, MessagesAreFoundWhereALoadDoesNotSlowThem) {
  std::vector<StepObservation> list;
  for (const double share : {1.0, 0.8, 0.5, 0.3, 0.25, 0.125}) list.push_back(observed({4, 4}, share, 8, 0.5, 0));
  const StepTerms t = fit_step_terms(list);
  EXPECT_NEAR(t.work_s, 8, 1e-6);
  EXPECT_NEAR(t.volume_s, 0.5, 1e-6);
  EXPECT_NEAR(t.processor_part, 0, 1e-9);
}

TEST(StepTerms, GridsTellWorkFromMessagesThatWaitForTheirProcessor) {
  const std::vector<StepObservation> list{observed({2, 2}, 1, 8, 0.25, 0.75),     observed({2, 2}, 0.5, 8, 0.25, 0.75),
                                          observed({8, 8}, 1, 8, 0.25, 0.75),     observed({8, 8}, 0.25, 8, 0.25, 0.75),
                                          observed({1, 8}, 0.125, 8, 0.25, 0.75), observed({8, 8}, 0.5, 8, 0.25, 0.75),
                                          observed({1, 16}, 0.5, 8, 0.25, 0.75),  observed({16, 16}, 1, 8, 0.25, 0.75),
                                          observed({1, 2}, 1, 8, 0.25, 0.75)};
  const StepTerms t = fit_step_terms(list);
  EXPECT_NEAR(t.work_s, 8, 1e-6);
  EXPECT_NEAR(t.volume_s, 1, 1e-6);
  EXPECT_NEAR(t.processor_part, 0.75, 1e-6);
}

TEST(StepTerms, TwoNoisyObservationsAreNoMessages) {
  // seen in a run: a fit of two terms went through both and promised that 1x1 would take 0.03 s
  StepObservation two = observed({2, 2}, 0.9, 0.35, 0, 0), three = observed({1, 3}, 1, 0.35, 0, 0);
  two.step_s = 0.088;
  three.step_s = 0.111;
  const StepTerms t = fit_step_terms({two, three});
  EXPECT_EQ(t.volume_s, 0);
  EXPECT_NEAR(t.work_s, 0.325, 0.02);
}

TEST(StepTerms, NoTermIsNegative) {
  // a load slowed the step by more than its share says: no messages of negative length
  std::vector<StepObservation> list{observed({2, 2}, 1, 8, 0, 0), observed({2, 2}, 0.5, 8, 0, 0)};
  list[1].step_s *= 1.3;
  const StepTerms t = fit_step_terms(list);
  EXPECT_GT(t.work_s, 8);
  EXPECT_LT(t.work_s, 8 * 1.3);
  EXPECT_EQ(t.volume_s, 0);
}

} // namespace
