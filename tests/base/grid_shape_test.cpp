// SPDX-License-Identifier: BSD-3-Clause
#include "base/grid_shape.hpp"

#include <gtest/gtest.h>

#include "../errors.hpp"

namespace {

using base::GridShape;

TEST(GridShapes, AreReadAndWritten) {
  EXPECT_EQ(base::parse_grid_shape("2x3", "X"), (GridShape{2, 3}));
  EXPECT_EQ(base::parse_grid_shape(" 10X1 ", "X"), (GridShape{10, 1}));
  EXPECT_EQ(base::to_string(GridShape{4, 5}), "4x5");
  EXPECT_NE((GridShape{2, 3}), (GridShape{3, 2}));
  EXPECT_LT((GridShape{2, 3}), (GridShape{3, 2}));
}

TEST(GridShapes, WhatIsNoneIsQuoted) {
  EXPECT_EQ(message_of([] { base::parse_grid_shape("3y4", "--grid"); }),
            "--grid is \"3y4\", expected rows x columns as in 3x4");
  for (const char* bad : {"", "x", "3", "3x", "x4", "0x4", "3x-1", "3x4x5", "3 x4", "2000000x1", "1048575x2", "3x4 5",
                          "2 x 3", "2147483648x1", "65536x65536", "ax3"})
    EXPECT_EQ(status_of([&] { base::parse_grid_shape(bad, "--grid"); }), base::Status::bad_argument) << bad;
}

TEST(GridShapes, AChangeHasTwo) {
  const auto [from, to] = base::parse_grid_change("2x2-3x4", "X");
  EXPECT_EQ(from, (GridShape{2, 2}));
  EXPECT_EQ(to, (GridShape{3, 4}));
  for (const char* bad : {"2x2", "2x2-", "2x2-3x", "-2x2"})
    EXPECT_THROW(base::parse_grid_change(bad, "X"), base::Error) << bad;
}

TEST(GridShapes, HaveLimits) {
  EXPECT_NO_THROW(base::check_grid_shape({1024, 1024}, "X"));
  EXPECT_THROW(base::check_grid_shape({1024, 1025}, "X"), base::Error);
  EXPECT_THROW(base::check_grid_shape({0, 1}, "X"), base::Error);
}

TEST(GridShapes, TheSquarestHasNoMoreRowsThanColumns) {
  EXPECT_EQ(base::squarest(12), (GridShape{3, 4}));
  EXPECT_EQ(base::squarest(7), (GridShape{1, 7}));
  EXPECT_EQ(base::squarest(36), (GridShape{6, 6}));
}

} // namespace
