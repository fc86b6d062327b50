// SPDX-License-Identifier: BSD-3-Clause
#include "advise/topology.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "../errors.hpp"

namespace {
using advise::choose_topology;
using advise::Dominance;
using advise::parse_set;
using advise::Topology;
using advise::TopologyRequest;

std::string shape(const Topology& t) {
  return std::to_string(t.nprow) + "x" + std::to_string(t.npcol);
}

TopologyRequest of(int procs, double p = 0, double q = 0) {
  TopologyRequest r;
  r.procs = procs;
  r.aspect_p = p;
  r.aspect_q = q;
  return r;
}
TopologyRequest from(int rows, int cols, int procs, double p = 0, double q = 0) {
  TopologyRequest r = of(procs, p, q);
  r.from_nprow = rows;
  r.from_npcol = cols;
  return r;
}

/// Most processes of any shape within the limits: all shapes looked at.
int most(int procs, double p, double q, int rows = 1, int cols = 1) {
  int best = 0;
  for (int r = rows; r <= procs; ++r)
    for (int c = cols; r * c <= procs; ++c)
      if ((p == 0 || c <= p * r + 1e-9) && (q == 0 || r <= q * c + 1e-9)) best = std::max(best, r * c);
  return best;
}

TEST(Topology, MostProcessesWithinTheLimits) {
  for (int procs = 1; procs <= 120; ++procs)
    for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0})
      for (const double q : {0.0, 1.0, 2.0}) {
        const Topology t = choose_topology(of(procs, p, q));
        EXPECT_EQ(t.used, most(procs, p, q)) << procs << ' ' << p << ' ' << q;
        EXPECT_EQ(t.nprow * t.npcol, t.used);
        EXPECT_EQ(t.idle, procs - t.used);
        EXPECT_TRUE(p == 0 || t.npcol <= p * t.nprow + 1e-9);
        EXPECT_TRUE(q == 0 || t.nprow <= q * t.npcol + 1e-9);
      }
}

// Table 5.1: of 14 processes 12 nearly square, or all 14
TEST(Topology, FourteenProcesses) {
  EXPECT_EQ(shape(choose_topology(of(14, 2, 2))), "3x4");
  EXPECT_EQ(shape(choose_topology(of(14))), "2x7");
  EXPECT_EQ(shape(choose_topology(of(14, 1, 1))), "3x3");
  TopologyRequest r = of(14, 2, 2);
  r.prefer = Dominance::rows;
  EXPECT_EQ(shape(choose_topology(r)), "4x3");
}

// Sections 5.2.1, 5.4 and REFERENCES.md: 5x5 + 11, 6x6 + 13, 7x7 + 15 give one row and one column each; 10x10 + 8
// -> 12x9 and 5x5 + 3 -> 4x7 anew, nothing by adding rows and columns
TEST(Topology, GrowthInTheThesis) {
  EXPECT_EQ(shape(choose_topology(from(5, 5, 36, 1, 1))), "6x6");
  EXPECT_EQ(shape(choose_topology(from(6, 6, 49, 1, 1))), "7x7");
  EXPECT_EQ(shape(choose_topology(from(7, 7, 64, 1, 1))), "8x8");
  EXPECT_EQ(shape(choose_topology(from(5, 5, 36))), "6x6");
  EXPECT_EQ(shape(choose_topology(of(28))), "4x7");
  TopologyRequest tall = of(108);
  tall.prefer = Dominance::rows;
  EXPECT_EQ(shape(choose_topology(tall)), "12x9");
  for (const auto& [rows, procs] : {std::pair{5, 28}, std::pair{10, 108}}) {
    const Topology t = choose_topology(from(rows, rows, procs));
    EXPECT_EQ(t.nprow, rows);
    EXPECT_EQ(t.npcol, rows);
    EXPECT_EQ(t.idle, procs - rows * rows);
    EXPECT_TRUE(says(t.why, "nothing can be added"));
  }
}

TEST(Topology, LocalFormAddsOnly) {
  for (int rows = 1; rows <= 6; ++rows)
    for (int cols = 1; cols <= 6; ++cols)
      for (int procs = rows * cols; procs <= 50; ++procs)
        for (const double limit : {0.0, 1.0, 2.0}) {
          const Topology t = choose_topology(from(rows, cols, procs, limit, limit));
          EXPECT_GE(t.nprow, rows);
          EXPECT_GE(t.npcol, cols);
          EXPECT_EQ(t.used, std::max(rows * cols, most(procs, limit, limit, rows, cols)))
              << rows << 'x' << cols << " of " << procs;
        }
}

TEST(Topology, PrimesSayWhoIsIdleAndWhy) {
  const Topology t = choose_topology(of(13, 2, 2));
  EXPECT_EQ(shape(t), "3x4");
  EXPECT_EQ(t.idle, 1);
  EXPECT_TRUE(says(t.why, "13 is prime"));
  EXPECT_EQ(shape(choose_topology(of(13))), "1x13"); // without limits all work
  EXPECT_TRUE(says(choose_topology(of(14, 2, 2)).why, "2 idle"));
}

// n1/p1 ~ n2/p2
TEST(Topology, FollowsTheData) {
  TopologyRequest r = of(16);
  r.data_m = 1000;
  r.data_n = 4000;
  EXPECT_EQ(shape(choose_topology(r)), "2x8");
  r.data_m = 4000;
  r.data_n = 1000;
  EXPECT_EQ(shape(choose_topology(r)), "8x2");
  r.data_m = r.data_n = 3000;
  EXPECT_EQ(shape(choose_topology(r)), "4x4");
  r.procs = 7; // 1x7 would have pieces seven times as long as wide
  EXPECT_EQ(shape(choose_topology(r)), "2x3");
}

TEST(Topology, ValidSets) {
  EXPECT_EQ(parse_set("4:32:*2"), (std::vector<int>{4, 8, 16, 32}));
  EXPECT_EQ(parse_set("1,2,4,9"), (std::vector<int>{1, 2, 4, 9}));
  EXPECT_EQ(parse_set("2:5"), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(parse_set("4:13:4, 5"), (std::vector<int>{4, 5, 8, 12}));
  EXPECT_EQ(parse_set("9,1,9"), (std::vector<int>{1, 9}));
  for (const char* bad :
       {"", "a", "0", "-3", "4:2", "1:2:3:4", "4:32:*1", "4:32:0", "3,,4", "4:", "1.5", "99999999999"})
    EXPECT_THROW(parse_set(bad), base::Error) << bad;
  TopologyRequest r = of(20);
  r.valid_procs = parse_set("4:32:*2");
  EXPECT_EQ(shape(choose_topology(r)), "4x4");
  r.valid_rows = parse_set("1,2");
  EXPECT_EQ(shape(choose_topology(r)), "2x8");
  r.valid_cols = parse_set("4");
  EXPECT_EQ(shape(choose_topology(r)), "2x4");
  r.valid_cols = parse_set("3");
  EXPECT_EQ(status_of([&] { choose_topology(r); }), base::Status::not_found);
}

// Table 5.1, n = 24000 and 30000 (PDGETRF), 5.2, n = 24000 (PDGEMM)
TEST(Topology, MeasuredTimesWin) {
  TopologyRequest r = of(14);
  r.times = {{3, 3, 916},   {4, 3, 890},   {3, 4, 905},  {6, 2, 1275}, {2, 6, 907},
             {12, 1, 2711}, {1, 12, 1123}, {7, 2, 2069}, {2, 7, 886}};
  EXPECT_EQ(shape(choose_topology(r)), "2x7");
  EXPECT_FALSE(choose_topology(r).interpolated);
  EXPECT_DOUBLE_EQ(choose_topology(r).seconds, 886);
  r.times = {{3, 3, 1674},  {4, 3, 1559},  {3, 4, 1620}, {6, 2, 2142}, {2, 6, 1632},
             {12, 1, 4441}, {1, 12, 1974}, {7, 2, 2950}, {2, 7, 1806}};
  EXPECT_EQ(shape(choose_topology(r)), "4x3");
  r.times = {{3, 3, 2835},  {4, 3, 1994},  {3, 4, 2129}, {6, 2, 3253}, {2, 6, 2201},
             {12, 1, 3452}, {1, 12, 3137}, {7, 2, 2030}, {2, 7, 2011}};
  EXPECT_EQ(shape(choose_topology(r)), "4x3");
  r.procs = 11; // the twelves are out of reach
  EXPECT_EQ(choose_topology(r).used <= 11, true);
}

TEST(Topology, InterpolatesBetweenMeasuredShapes) {
  // t = 64 / (p q): the fit is exact for powers of p and q
  TopologyRequest r = of(10);
  r.times = {{2, 2, 16}, {4, 4, 4}, {2, 4, 8}, {4, 2, 8}};
  const Topology t = choose_topology(r);
  EXPECT_EQ(shape(t), "3x3");
  EXPECT_TRUE(t.interpolated);
  EXPECT_NEAR(t.seconds, 64.0 / 9, 1e-6);
  r.times = {{2, 2, 16}, {4, 4, 4}}; // on one line, so the slope across it is unknown
  EXPECT_NEAR(choose_topology(r).seconds, 64.0 / 9, 0.1);
  r.procs = 3;
  EXPECT_THROW(choose_topology(r), base::Error); // nothing measured that small
}

TEST(Topology, BadArguments) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const TopologyRequest& r :
       {of(0), of(-3), of(4, -1, 0), of(4, nan, 0), of(4, 0.5, 0.5), from(3, 3, 8), from(0, 3, 8), from(3, -1, 8)})
    EXPECT_THROW(choose_topology(r), base::Error);
  TopologyRequest r = of(4);
  r.times = {{2, 2, -1}};
  EXPECT_THROW(choose_topology(r), base::Error);
  r.times = {{2, 2, nan}};
  EXPECT_THROW(choose_topology(r), base::Error);
  r.times = {{1 << 16, 1 << 16, 1}}; // more processes than an int holds
  EXPECT_THROW(choose_topology(r), base::Error);
  r = of(4);
  r.valid_rows = {0};
  EXPECT_THROW(choose_topology(r), base::Error);
  r = of(4);
  r.data_m = 5;
  EXPECT_THROW(choose_topology(r), base::Error);
}
} // namespace
