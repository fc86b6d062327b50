// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "dyngrid/load_by_host.hpp"

namespace {

using base::Json;

Json process(const char* host, Json place, double share, Json competing, int samples = 5) {
  return {{"host", host}, {"place", place}, {"share", share}, {"competing", competing}, {"samples", samples}};
}

TEST(LoadByHost, TwoJobsThatShareAHost) {
  const Json rows = command::load_by_host(
      {{"a",
        {process("n1", 0, 1, 0), process("n1", 1, 0.5, 2), process("n2", 2, 0.25, 3), process("n3", nullptr, 1, 0)}},
       {"b", {process("n2", 0, 0.75, nullptr), process("n3", 1, 0.9, 0, 0)}},
       {"c", Json::array()}});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0], Json({{"job", "a"},
                           {"host", "n1"},
                           {"processes", 2},
                           {"asleep", 0},
                           {"share", 0.75},
                           {"least_share", 0.5},
                           {"competing", 2},
                           {"beside", Json::array()}}));
  EXPECT_EQ(rows[1].at("beside"), Json::array({"b"}));
  EXPECT_EQ(rows[2].at("processes"), 0);
  EXPECT_EQ(rows[2].at("asleep"), 1);
  EXPECT_TRUE(rows[2].at("share").is_null());
  EXPECT_EQ(rows[2].at("beside"), Json::array({"b"}));
  EXPECT_EQ(rows[3].at("beside"), Json::array({"a"}));
  EXPECT_TRUE(rows[3].at("competing").is_null());
  EXPECT_TRUE(rows[4].at("share").is_null()) << "not measured yet";
  EXPECT_EQ(rows[4].at("beside"), Json::array()) << "one that sleeps needs no processor";
  EXPECT_TRUE(command::load_by_host({}).empty());
}

} // namespace
