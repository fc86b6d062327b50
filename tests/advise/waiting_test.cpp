// SPDX-License-Identifier: BSD-3-Clause
// Steps whose parts of work and of waiting are known.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "advise/waiting.hpp"

namespace {
using advise::Waiting;

TEST(Waiting, TwoPartsSeparateItFromWork) {
  Waiting waiting;
  waiting.saw(3, 0.25, 0.2 + 0.25 * 0.6, 10);
  EXPECT_FALSE(waiting.terms(3, 0)) << "from one part";
  waiting.saw(3, 0.1, 0.2 + 0.1 * 0.6, 11);
  const auto terms = waiting.terms(3, 0);
  ASSERT_TRUE(terms);
  EXPECT_NEAR(terms->waits_s, 0.2, 1e-12);
  EXPECT_NEAR(terms->work_s, 0.6, 1e-12);
  EXPECT_EQ(terms->since_s, 10);
  EXPECT_FALSE(waiting.terms(2, 0)) << "of another process";
}

TEST(Waiting, ManyPartsAreALineBetweenThem) { // off by 1 % to both sides equally
  Waiting waiting;
  for (const double part : {0.1, 0.2, 0.3, 0.4}) {
    const double off = part == 0.1 || part == 0.4 ? 1 : -1; // neither steeper nor flatter
    waiting.saw(0, part, 0.3 + part + 0.003 * off, 0);
  }
  const auto terms = waiting.terms(0, 0);
  ASSERT_TRUE(terms);
  EXPECT_NEAR(terms->work_s, 1, 1e-9);
  EXPECT_NEAR(terms->waits_s, 0.3, 1e-9);
}

TEST(Waiting, PartsNearEachOtherDoNotSeparateThem) {
  Waiting waiting;
  waiting.saw(0, 0.25, 0.4, 0);
  waiting.saw(0, 0.2, 0.39, 0);
  EXPECT_FALSE(waiting.terms(0, 0));
}

TEST(Waiting, WorkAloneIsNoWaiting) {
  Waiting waiting;
  waiting.saw(0, 0.4, 0.8, 0);
  waiting.saw(0, 0.1, 0.21, 0);
  EXPECT_FALSE(waiting.terms(0, 0));
}

TEST(Waiting, NoProcessWorksFasterThanItCan) { // the step got no shorter at all
  Waiting waiting;
  waiting.saw(0, 0.4, 0.5, 0);
  waiting.saw(0, 0.2, 0.5, 0);
  const auto terms = waiting.terms(0, 0.5);
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->work_s, 0.5);
  EXPECT_NEAR(terms->waits_s, 0.5 - 0.3 * 0.5, 1e-12); // on the mean part
}

TEST(Waiting, AnotherLoadIsAnotherLine) {
  Waiting waiting;
  waiting.saw(0, 0.4, 0.6, 1);
  waiting.saw(0, 0.1, 0.3, 2);
  ASSERT_TRUE(waiting.terms(0, 0));
  waiting.saw(0, 0.1, 0.1, 3); // a third: the competitor has gone
  EXPECT_FALSE(waiting.terms(0, 0));
  waiting.saw(0, 0.4, 0.19, 4);
  const auto terms = waiting.terms(0, 0);
  ASSERT_TRUE(terms);
  EXPECT_NEAR(terms->work_s, 0.3, 1e-12);
  EXPECT_NEAR(terms->waits_s, 0.07, 1e-12);
  EXPECT_EQ(terms->since_s, 3);
}

TEST(Waiting, ProcessesThatLeftAreForgottenAndBadStepsIgnored) {
  Waiting waiting;
  waiting.saw(0, 0.4, 0.6, 1);
  waiting.saw(0, 0.1, 0.3, 2);
  waiting.saw(0, 0, 0.3, 2);
  waiting.saw(0, 0.2, 0, 2);
  waiting.saw(1, 0.4, 0.6, 1);
  waiting.keep({0});
  EXPECT_TRUE(waiting.terms(0, 0));
  waiting.saw(1, 0.1, 0.3, 2);
  EXPECT_FALSE(waiting.terms(1, 0));
  waiting.keep({});
  EXPECT_FALSE(waiting.terms(0, 0));
}

} // namespace
