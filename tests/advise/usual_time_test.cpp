// SPDX-License-Identifier: BSD-3-Clause
// Known answers: medians by hand, and the standard error of a normal sample.
#include "advise/usual_time.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace {
using advise::UsualTime;

UsualTime of(const std::vector<double>& times, std::size_t most = 9) {
  UsualTime usual(most);
  for (const double s : times) usual.add(s);
  return usual;
}

TEST(UsualTime, IsTheMedianOfTheLastOnes) {
  EXPECT_TRUE(std::isnan(UsualTime().seconds()));
  EXPECT_EQ(of({3}).seconds(), 3);
  EXPECT_EQ(of({3, 2}).seconds(), 2); // the first one may have filled caches
  EXPECT_EQ(of({3, 2, 1}).seconds(), 2);
  EXPECT_EQ(of({1, 2, 3, 4}).seconds(), 2.5);
  EXPECT_EQ(of({9, 9, 9, 1, 2, 3}, 3).seconds(), 2); // the older ones do not count
  EXPECT_EQ(of({9, 9, 9, 1, 2, 3}, 3).count(), 3U);
  EXPECT_EQ(of({5, 2, 7}).least_s(), 2);
}

TEST(UsualTime, OneDisturbedTimeChangesLittle) {
  const UsualTime calm = of({1, 1, 1, 1, 1, 1, 1}), disturbed = of({1, 1, 1, 100, 1, 1, 1});
  EXPECT_EQ(disturbed.seconds(), calm.seconds());
  EXPECT_EQ(disturbed.error_s(), 0);
}

TEST(UsualTime, ItsErrorIsThatOfAMedian) {
  EXPECT_EQ(of({4}).error_s(), 0);
  // distances from 3: 2, 1, 0, 1, 2
  EXPECT_NEAR(of({1, 2, 3, 4, 5}).error_s(), 1.4826 * 1.2533 * 1 / std::sqrt(5.0), 1e-12);
  // the medians of many normal samples scatter as their errors tell, on average
  std::mt19937 random(1);
  std::normal_distribution<double> normal(10, 1);
  constexpr int samples = 4000, size = 101;
  double squares = 0, errors = 0;
  for (int k = 0; k < samples; ++k) {
    UsualTime usual(size);
    for (int i = 0; i < size; ++i) usual.add(normal(random));
    squares += (usual.seconds() - 10) * (usual.seconds() - 10) / samples;
    errors += usual.error_s() / samples;
  }
  EXPECT_NEAR(errors / std::sqrt(squares), 1, 0.05);
}

TEST(UsualTime, ForgetsUnderOtherConditions) {
  UsualTime usual = of({1, 2, 3});
  usual.forget();
  usual.add(7);
  EXPECT_EQ(usual.seconds(), 7);
  EXPECT_EQ(usual.count(), 1U);
}

} // namespace
