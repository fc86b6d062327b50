// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/timetable.hpp"

#include <gtest/gtest.h>

#include "../errors.hpp"

namespace {

std::string error_of(const char* text) {
  return message_of([&] { gridmap::parse_timetable(text, "--resize-at"); });
}

TEST(Timetable, EachErrorSaysWhichEntry) {
  EXPECT_EQ(error_of("5:3x3,6:4y4"),
            "entry \"6:4y4\" of --resize-at is not STEP:ROWSxCOLUMNS, as in 5:3x3,10:4x4@local2");
  EXPECT_EQ(error_of("5:3x3,4:4x4"), "--resize-at names step 4 after step 5, expected ascending steps");
  EXPECT_EQ(error_of("5:3x3@there"), "--resize-at is \"there\", expected optimal, global, local1 or local2");
}

TEST(Timetable, ACommaMayEndIt) {
  EXPECT_EQ(gridmap::parse_timetable("5:3x3, 6:4x4,", "X").size(), 2u);
  EXPECT_EQ(error_of("5:3x3,,6:4x4").substr(0, 8), "entry \"\"");
}

TEST(Placements, HaveOneNameEach) {
  for (const std::string& name : gridmap::placement_names())
    EXPECT_EQ(to_string(gridmap::parse_placement(name, "X")), name);
  EXPECT_EQ(gridmap::placement_names().size(), 4u);
}

} // namespace
