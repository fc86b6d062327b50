// SPDX-License-Identifier: BSD-3-Clause
// Allowed grids, history, prediction, payoff and the single queued request: decisions that need neither sockets nor
// processes. All expected values are computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../fake_system.hpp"
#include "advise/allowed.hpp"
#include "advise/decide.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "control/ask.hpp"
#include "control/history.hpp"
#include "control/history_json.hpp"
#include "control/job_state.hpp"
#include "control/limits.hpp"
#include "control/mpi_settings.hpp"

namespace {

using advise::Allowed;
using base::GridShape;
using control::Json;
using control::StepTimes;

std::string name(GridShape s) {
  return std::to_string(s.nprow) + "x" + std::to_string(s.npcol);
}
std::string name(const std::optional<GridShape>& s) {
  return s ? name(*s) : "none";
}

/// `count` steps of exactly `mean` seconds each.
StepTimes steps(std::int64_t count, double mean) {
  return {count, mean, 0, mean};
}

} // namespace

// ---- allowed grids

TEST(Allowed, NumbersOfProcesses) {
  const Allowed a = Allowed::parse("4:32:*2"); // 4, 8, 16, 32
  EXPECT_TRUE(a.permits({2, 2}));
  EXPECT_TRUE(a.permits({1, 8}));
  EXPECT_TRUE(a.permits({4, 8}));
  EXPECT_FALSE(a.permits({3, 3}));
  EXPECT_FALSE(a.permits({8, 8}));
  EXPECT_EQ(name(a.largest(31)), "4x4");
  EXPECT_EQ(name(a.largest(32)), "4x8");
  EXPECT_EQ(name(a.largest(1000)), "4x8");
  EXPECT_EQ(name(a.largest(3)), "none");
  EXPECT_EQ(name(a.largest(15, 9)), "none"); // 8 is below 9
}

TEST(Allowed, GridsAspectsRowsAndColumns) {
  const Allowed grids = Allowed::parse("2x2, 2x3,3x2,3x3");
  EXPECT_TRUE(grids.permits({3, 2}));
  EXPECT_FALSE(grids.permits({1, 4}));
  EXPECT_EQ(name(grids.largest(8)), "2x3"); // of equally many the one with fewer rows
  EXPECT_EQ(name(grids.largest(9)), "3x3");
  EXPECT_EQ(name(grids.largest(3)), "none");

  const Allowed both = Allowed::parse("4:32:*2; aspect 1");
  EXPECT_EQ(name(both.largest(32)), "4x4");
  EXPECT_FALSE(both.permits({4, 8}));

  const Allowed wide = Allowed::parse("aspect_p 2; aspect_q 1"); // npcol <= 2 nprow, nprow <= npcol
  EXPECT_TRUE(wide.permits({2, 4}));
  EXPECT_FALSE(wide.permits({4, 2}));
  EXPECT_EQ(name(wide.largest(13)), "3x4");

  const Allowed sides = Allowed::parse("rows 2,4; cols 3:6");
  EXPECT_TRUE(sides.permits({4, 5}));
  EXPECT_FALSE(sides.permits({3, 3}));
  EXPECT_EQ(name(sides.largest(23)), "4x5");
}

TEST(Allowed, NothingSaidAndAny) {
  const Allowed nothing;
  EXPECT_TRUE(nothing.permits({1, 17}));
  EXPECT_EQ(name(nothing.largest(7)), "2x3"); // 1x7 only when it is requested
  EXPECT_EQ(name(nothing.largest(3)), "1x3");
  const Allowed any = Allowed::parse("any");
  EXPECT_EQ(name(any.largest(7)), "1x7");
  EXPECT_EQ(name(Allowed::parse("  ").largest(7)), "2x3");
}

TEST(Allowed, AGridThatTwoPermitNeedNotBeTheBestOfEither) {
  const auto both = [](int procs, const char* allowed, const char* needed) {
    return name(control::grid_of(procs, Allowed::parse(allowed), Allowed::parse(needed)));
  };
  EXPECT_EQ(both(12, "3x4,1x12", "2x6,1x12"), "1x12");
  EXPECT_EQ(both(12, "", "2x6,6x2,1x12"), "2x6"); // the nearest to square
  EXPECT_EQ(both(12, "rows 4:12", "12"), "4x3");
  EXPECT_EQ(both(7, "any", "7"), "1x7");
  EXPECT_EQ(both(12, "3x4", "2x6"), "none");
  EXPECT_EQ(both(0, "any", "any"), "none");
}

TEST(Allowed, WhatIsWrongIsQuoted) {
  for (const char* text :
       {"4:2",     "0",         "2x",    "x3",   "2x0",  "aspect", "aspect 0.5", "aspect two",
        "rows",    "rows x",    "four",  "4;;8", "4; 8", "any; 4", "2x2,9",      "aspect_p 0.5; aspect_q 1",
        "4:32:*1", "1048577x1", "2x2x2", "-4"})
    EXPECT_TRUE(says(message_of([&] { Allowed::parse(text); }), "advise: allowed grids"))
        << text << ": " << message_of([&] { Allowed::parse(text); });
  EXPECT_TRUE(says(message_of([] { Allowed::parse(std::string(5000, '4')); }), "at most 4096"));
}

// ---- step times

TEST(StepTimes, MeanAndError) {
  StepTimes t;
  for (const double s : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) t.add(s); // mean 5, squares 32
  EXPECT_EQ(t.count, 8);
  EXPECT_DOUBLE_EQ(t.mean, 5);
  EXPECT_DOUBLE_EQ(t.squares, 32);
  EXPECT_DOUBLE_EQ(t.least, 2);
  EXPECT_DOUBLE_EQ(t.error(), std::sqrt(32.0 / 7 / 8));
  StepTimes half, rest;
  for (const double s : {2.0, 4.0, 4.0}) half.add(s);
  for (const double s : {4.0, 5.0, 5.0, 7.0, 9.0}) rest.add(s);
  half.add(rest);
  EXPECT_NEAR(half.mean, 5, 1e-12);
  EXPECT_NEAR(half.squares, 32, 1e-12);
  t.forget_beyond(4);
  EXPECT_EQ(t.count, 4);
  EXPECT_DOUBLE_EQ(t.squares, 16);
  EXPECT_DOUBLE_EQ(t.mean, 5);
  StepTimes one;
  one.add(3);
  EXPECT_DOUBLE_EQ(one.error(), 0.3);
}

TEST(Prediction, MeasuredGridsAreTheirMean) {
  const auto p = control::predict_step({{{2, 2}, steps(5, 0.5)}, {{3, 3}, steps(5, 0.3)}}, {3, 3});
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->is_measured);
  EXPECT_DOUBLE_EQ(p->seconds, 0.3);
  EXPECT_FALSE(control::predict_step({}, {2, 2}));
}

TEST(Prediction, OneGridLeavesEverythingOpen) {
  // 1 s on 2x2, requested 4x4: no speed-up 1 s, all work 1/4, all messages of blocks 1/2; equally good. Mean 7/12; the
  // spread between them is sqrt(((5/12)^2 + (4/12)^2 + (1/12)^2) / 3), and 5 % of each for the model.
  const auto p = control::predict_step({{{2, 2}, steps(5, 1.0)}}, {4, 4});
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->is_measured);
  EXPECT_EQ(p->grids, 1);
  EXPECT_NEAR(p->seconds, 7.0 / 12, 1e-12);
  const double spread = (25.0 + 16 + 1) / 144 / 3, own = 0.05 * 0.05 * (1 + 1.0 / 16 + 1.0 / 4) / 3;
  EXPECT_NEAR(p->error, std::sqrt(spread + own), 1e-12);
}

TEST(Prediction, FindsTheLawBehindTheFigures) {
  // t = 0.1 + 4/(pq): with five grids the right terms win by far
  const auto law = [](int p, int q) { return 0.1 + 4.0 / (p * q); };
  advise::StepTable measured;
  for (const auto& [p, q] : {std::pair{1, 1}, {1, 2}, {2, 2}, {2, 4}, {4, 4}}) measured[{p, q}] = steps(10, law(p, q));
  const auto p = control::predict_step(measured, {3, 3});
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->seconds, law(3, 3), 0.02 * law(3, 3));
  EXPECT_LT(p->error, 0.1 * law(3, 3));
  EXPECT_GT(p->error, 0);
  const auto beyond = control::predict_step(measured, {8, 8});
  EXPECT_NEAR(beyond->seconds, law(8, 8), 3 * beyond->error);
}

TEST(Prediction, StepsThatGetLongerOnLargerGrids) {
  // twice as long on 4x4 as on 2x2: no term but d (p + q) does that, 0.25 per row and column; 3x3 is 1.5
  const auto p = control::predict_step({{{2, 2}, steps(10, 1.0)}, {{4, 4}, steps(10, 2.0)}}, {3, 3});
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->seconds, 1.5, 0.05);
}

TEST(Prediction, SweetSpot) {
  const advise::StepTable measured{
      {{2, 2}, steps(5, 1.00)}, {{3, 3}, steps(5, 0.52)}, {{4, 4}, steps(5, 0.50)}, {{5, 5}, steps(5, 0.55)}};
  EXPECT_EQ(name(control::sweet_spot(measured, 0.05)), "3x3"); // 0.52 is within 5 % of 0.50
  EXPECT_EQ(name(control::sweet_spot(measured, 0.03)), "4x4");
  EXPECT_EQ(name(control::sweet_spot({}, 0.05)), "none");
}

TEST(Prediction, SpawnAndExchange) {
  std::vector<control::ChangeCost> changes(3);
  changes[0] = {{2, 2}, {3, 3}, 5, 0.5, 0, 0, 0.2, 0, 0.1};
  changes[1] = {{3, 3}, {4, 4}, 7, 0.7, 0, 0, 0.3, 0, 0.1};
  changes[2] = {{4, 4}, {2, 2}, 0, 0, 0, 0, 0.4, 0, 0.1};
  EXPECT_DOUBLE_EQ(advise::predict_spawn(changes, 10, 9), 1.0); // the line through (5, 0.5) and (7, 0.7)
  EXPECT_DOUBLE_EQ(advise::predict_spawn(changes, 0, 9), 0);
  EXPECT_DOUBLE_EQ(advise::predict_spawn({changes[2]}, 3, 9), 9);
  EXPECT_DOUBLE_EQ(advise::predict_spawn({changes[0]}, 3, 9), 0.5); // of one size only
  advise::CostModel model;
  const advise::Cost planned{{{"exchange", 7}}};
  EXPECT_DOUBLE_EQ(model.change({2, 2}, {5, 5}, 0, planned).of("exchange"), 7);
  model.changes = changes;
  EXPECT_DOUBLE_EQ(model.change({3, 3}, {4, 4}, 0, planned).of("exchange"), 0.3); // measured
  EXPECT_DOUBLE_EQ(model.change({2, 2}, {5, 5}, 0, planned).of("exchange"), 21);  // times the median of 2, 3, 4
}

// ---- decisions

namespace {
/// On 2x2, 1 s a step; 3x3 measured too: 0.6 s. A growth costs 0.5 s of spawning and 0.5 s of exchange.
advise::Situation at_2x2() {
  advise::Situation s;
  s.grid = {2, 2};
  s.steps = {{{2, 2}, steps(5, 1.0)}, {{3, 3}, steps(5, 0.6)}};
  s.planned_exchange = [](GridShape, GridShape) { return advise::Cost{{{"exchange", 0.5}}}; };
  s.usual_spawn_s = [](int n) { return 0.1 * n; };
  return s;
}
} // namespace

TEST(Decide, NewProcessesWithoutData) { // 100 rows in blocks of 50 on 2x1: there are two rows of blocks
  advise::Situation s;
  s.grid = {2, 1};
  s.steps = {{{2, 1}, steps(5, 1.0)}, {{1, 1}, steps(5, 2.0)}};
  s.used_grid = [](GridShape grid) { return GridShape{std::min(grid.nprow, 2), grid.npcol}; };
  const advise::Decision no = advise::decide_resize(s, {4, 1}, false);
  EXPECT_FALSE(no.is_accepted);
  EXPECT_TRUE(says(no.why, "4x1") && says(no.why, "2 processes (2x1)") && says(no.why, "dyngrid_matrix_reblock"))
      << no.why;
  const auto f = advise::forecast(s, {4, 1});
  ASSERT_TRUE(f);
  EXPECT_EQ(f->payoff_steps, -1);
  EXPECT_TRUE(advise::decide_resize(s, {4, 1}, true).is_accepted);
  EXPECT_TRUE(advise::decide_resize(s, {2, 2}, false).is_accepted);
  EXPECT_TRUE(advise::decide_resize(s, {1, 1}, false).is_accepted); // a shrink
  s.allowed = Allowed::parse("2x1,4x1");
  EXPECT_FALSE(advise::decide_grow(s, 2, false).is_accepted);
  s.allowed = Allowed::parse("2x1,4x1,2x2,3x1");
  EXPECT_EQ(name(advise::decide_grow(s, 2, false).to), "2x2");
  advise::Offer offer;
  offer.hosts = {{"n1", 2, 1}};
  EXPECT_EQ(name(advise::decide_offer(s, offer, false).to), "2x2");
  s.steps[{4, 1}] = steps(5, 0.5); // it was tried: the program has more work than its matrices
  EXPECT_TRUE(advise::decide_resize(s, {4, 1}, false).is_accepted);
}

TEST(Decide, PayoffPoint) {
  advise::Situation s = at_2x2();
  const auto f = advise::forecast(s, {3, 3});
  ASSERT_TRUE(f);
  EXPECT_DOUBLE_EQ(f->spawn_s(), 0.5);
  EXPECT_DOUBLE_EQ(f->resize_s(), 1.0);
  EXPECT_EQ(f->payoff_steps, 3); // ceil(1.0 / 0.4)
  s.parked = 3;                  // two to start instead of five
  EXPECT_DOUBLE_EQ(advise::forecast(s, {3, 3})->resize_s(), 0.7);
  s.parked = 0;
  s.steps_left = 3;
  EXPECT_TRUE(advise::decide_resize(s, {3, 3}, false).is_accepted);
  s.steps_left = 2;
  const advise::Decision no = advise::decide_resize(s, {3, 3}, false);
  EXPECT_FALSE(no.is_accepted);
  EXPECT_TRUE(says(no.why, "costs more time than it saves") && says(no.why, "3 steps") && says(no.why, "2 are left"))
      << no.why;
  EXPECT_TRUE(advise::decide_resize(s, {3, 3}, true).is_accepted); // forced
  EXPECT_FALSE(advise::decide_grow(s, 5, false).is_accepted);
  EXPECT_TRUE(advise::decide_grow(s, 5, true).is_accepted);
}

TEST(Decide, ShrinkingIsNotDeclinedForItsPrice) {
  advise::Situation s = at_2x2();
  s.grid = {3, 3};
  s.steps_left = 1;
  const advise::Decision d = advise::decide_shrink(s, 3);
  EXPECT_TRUE(d.is_accepted);
  EXPECT_EQ(name(d.to), "2x3"); // between the measured ones: quicker than 2x2
  EXPECT_TRUE(advise::decide_resize(s, {1, 1}, false).is_accepted);
  EXPECT_FALSE(advise::decide_shrink(s, 9).is_accepted);
  s.steps.clear();
  EXPECT_EQ(name(advise::decide_shrink(s, 3).to), "2x3"); // nothing measured: the largest
  s.allowed = Allowed::parse("4,9");
  EXPECT_EQ(name(advise::decide_shrink(s, 3).to), "2x2");
  EXPECT_FALSE(advise::decide_shrink(s, 6).is_accepted);
}

TEST(Decide, UnitsLeaveWhateverIsAllowed) {
  advise::Situation s;
  s.grid = {3, 4};
  s.groups = {{7, 4, 4}, {8, 4, 3}};
  EXPECT_EQ(name(advise::decide_leave(s, {7}).to), "2x4");
  EXPECT_EQ(name(advise::decide_leave(s, {8}).to), "3x3");     // three of its four are in the grid
  EXPECT_EQ(name(advise::decide_leave(s, {8, 7}).to), "2x2");  // 5 stay, and 1x5 is too long to be chosen
  EXPECT_EQ(name(advise::decide_leave(s, {7, 99}).to), "2x4"); // 99 has left
  EXPECT_FALSE(advise::decide_leave(s, {99}).is_accepted);
  s.groups = {{7, 4, 4}, {8, 4, 0}}; // kept: it leaves, and the grid stays
  EXPECT_TRUE(advise::decide_leave(s, {8}).is_accepted);
  EXPECT_EQ(name(advise::decide_leave(s, {8}).to), "3x4");
  s.groups = {{7, 4, 4}, {8, 4, 3}};
  s.steps = at_2x2().steps; // larger grids were tried and are slower, but no gain was requested
  for (auto& [shape, times] : s.steps) times.mean = shape.nprow;
  s.grid = {4, 4};
  s.groups = {{7, 4, 4}};
  EXPECT_EQ(name(advise::decide_leave(s, {7}).to), "3x4");
  s.grid = {3, 4};
  s.allowed = Allowed::parse("12:16:*2");
  EXPECT_EQ(name(advise::decide_leave(s, {7}).to), "2x4") << "the nodes go, whatever the application would like";
}

TEST(Decide, GrowthGoesWhereItIsQuickest) {
  advise::Situation s = at_2x2();
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3");
  EXPECT_EQ(name(advise::decide_grow(s, 6, false).to), "2x5"); // beyond the measured columns: the largest is tried
  s.steps[{4, 4}] = steps(5, 0.9);
  EXPECT_EQ(name(advise::decide_grow(s, 12, false).to), "3x3"); // 4x4 is known to be slower
  s.grid = {3, 3};
  const advise::Decision no = advise::decide_grow(s, 7, false);
  EXPECT_FALSE(no.is_accepted);
  EXPECT_TRUE(says(no.why, "no larger grid is quicker")) << no.why;
  EXPECT_EQ(name(advise::decide_grow(s, 7, true).to), "4x4");
}

TEST(Decide, WhatIsNotAllowedOrThereAlready) {
  advise::Situation s = at_2x2();
  s.allowed = Allowed::parse("2x2,3x3");
  EXPECT_TRUE(says(advise::decide_resize(s, {2, 2}, true).why, "2x2 already"));
  EXPECT_TRUE(says(advise::decide_resize(s, {2, 3}, false).why, "not among"));
  EXPECT_TRUE(advise::decide_resize(s, {2, 3}, true).is_accepted);
  EXPECT_TRUE(says(advise::decide_grow(s, 4, false).why, "5 to 8 processes"));
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3");
}

TEST(Decide, TheLocalFormOnlyAddsRowsAndColumns) {
  constexpr auto local = gridmap::Strategy::local, global = gridmap::Strategy::global;
  advise::Situation s;
  s.grid = {1, 4};
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3");
  EXPECT_EQ(name(advise::decide_grow(s, 5, false, global).to), "3x3"); // another form is of the places alone
  const advise::Decision yes = advise::decide_grow(s, 5, false, local);
  EXPECT_EQ(name(yes.to), "2x4");
  EXPECT_TRUE(says(yes.why, "the largest allowed grid that only adds rows and columns")) << yes.why;
  EXPECT_EQ(name(advise::decide_grow(s, 2, false).to), "2x3");
  for (const bool force : {false, true}) { // a row needs four; 1x5 and 1x6 are too long to be chosen
    const advise::Decision no = advise::decide_grow(s, 2, force, local);
    EXPECT_FALSE(no.is_accepted);
    EXPECT_TRUE(says(no.why, "no allowed grid has 5 to 6 processes and keeps the rows and columns of 1x4")) << no.why;
  }
  s.allowed = Allowed::parse("3x3,1x8");
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3");
  EXPECT_EQ(name(advise::decide_grow(s, 5, false, local).to), "1x8");
  s.allowed = Allowed();
  s.steps = {{{1, 4}, steps(5, 1.0)}, {{2, 4}, steps(5, 0.5)}, {{3, 3}, steps(5, 0.2)}};
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3"); // the quickest
  EXPECT_EQ(name(advise::decide_grow(s, 5, false, local).to), "2x4");
}

TEST(Decide, AGridWithFewerRowsOrColumnsIsNotOfTheLocalForm) {
  constexpr auto local = gridmap::Strategy::local, global = gridmap::Strategy::global;
  advise::Situation s;
  s.grid = {2, 4};
  for (const bool force : {false, true}) {
    const advise::Decision columns = advise::decide_resize(s, {3, 2}, force, local);
    EXPECT_FALSE(columns.is_accepted);
    EXPECT_TRUE(says(columns.why, "3x2 has 2 column(s), expected at least the 4 of 2x4")) << columns.why;
    const advise::Decision rows = advise::decide_resize(s, {1, 9}, force, local);
    EXPECT_FALSE(rows.is_accepted);
    EXPECT_TRUE(says(rows.why, "1x9 has 1 row(s), expected at least the 2 of 2x4")) << rows.why;
  }
  for (const GridShape to : {GridShape{2, 5}, GridShape{3, 4}, GridShape{4, 6}})
    EXPECT_TRUE(advise::decide_resize(s, to, false, local).is_accepted) << name(to);
  EXPECT_TRUE(advise::decide_resize(s, {3, 3}, false, global).is_accepted);
  EXPECT_TRUE(advise::decide_resize(s, {3, 3}, false).is_accepted);
  const advise::Decision without =
      advise::decide_resize_without(s, {1, 4}, advise::Without::parse("3", ""), true, local);
  EXPECT_TRUE(says(without.why, "1x4 has 1 row(s)")) << without.why;
}

TEST(Decide, NothingMeasuredMeansTry) {
  advise::Situation s;
  s.grid = {2, 2};
  s.steps_left = 1;
  EXPECT_EQ(name(advise::decide_grow(s, 5, false).to), "3x3");
  EXPECT_FALSE(advise::forecast(s, {3, 3}));
  s.steps_left = 0;
  EXPECT_TRUE(says(advise::decide_grow(s, 5, false).why, "no steps are left"));
  EXPECT_TRUE(advise::decide_grow(s, 5, true).is_accepted);
}

TEST(Decide, APredictionThatMayErrIsGivenTheBenefit) {
  // only 1 s on 2x2 is known: 3x3 takes (1 + 4/9 + 2/3) / 3 = 0.704 s, error 0.23 and more; at best some 0.47 s against
  // 1 s. The change takes 1 s.
  advise::Situation s = at_2x2();
  s.steps.erase({3, 3});
  s.steps_left = 3;
  EXPECT_TRUE(advise::decide_resize(s, {3, 3}, false).is_accepted); // 4 steps by the mean, 2 at best
  s.steps_left = 1;
  EXPECT_FALSE(advise::decide_resize(s, {3, 3}, false).is_accepted);
}

namespace {
/// On 1x2, 0.114 s a step, of two cores that may get 16 processes each.
advise::Situation on_two_cores() {
  advise::Situation s;
  s.grid = {1, 2};
  s.cores = 2;
  s.per_core = 16;
  s.steps = {{{1, 2}, steps(5, 0.114)}};
  s.planned_exchange = [](GridShape, GridShape) { return advise::Cost{{{"exchange", 0.01}}}; };
  s.usual_spawn_s = [](int n) { return 0.05 * n; };
  return s;
}
} // namespace

TEST(Prediction, NoGainBeyondTheCores) {
  const advise::StepTable one{{{1, 2}, steps(5, 0.114)}};
  EXPECT_LT(control::predict_step(one, {4, 4})->seconds, 0.08); // a formula that knows no cores
  EXPECT_GE(control::predict_step(one, {4, 4}, 2)->seconds, 0.114);
  EXPECT_LT(control::predict_step(one, {2, 2}, 4)->seconds, 0.1); // four cores are four
  EXPECT_DOUBLE_EQ(control::predict_step(one, {2, 2}, 64)->seconds, control::predict_step(one, {2, 2})->seconds);
  // from one process on two cores: as quick as two, not as sixteen
  const advise::StepTable single{{{1, 1}, steps(5, 1.0)}};
  EXPECT_GT(control::predict_step(single, {4, 4}, 2)->seconds, 0.6);
  EXPECT_LT(control::predict_step(single, {4, 4}, 2)->seconds, 1.0);
  // measurements have priority
  EXPECT_DOUBLE_EQ(control::predict_step({{{1, 2}, steps(5, 0.114)}, {{4, 4}, steps(5, 0.05)}}, {4, 4}, 2)->seconds,
                   0.05);
}

TEST(Decide, NoGrowthBeyondTheCores) {
  advise::Situation s = on_two_cores();
  const advise::Decision no = advise::decide_resize(s, {4, 4}, false);
  EXPECT_FALSE(no.is_accepted);
  EXPECT_TRUE(says(no.why, "16 processes on 2 core(s): no gain is predicted beyond the cores; a request with force"))
      << no.why;
  EXPECT_FALSE(advise::decide_grow(s, 14, false).is_accepted);
  EXPECT_TRUE(advise::decide_resize(s, {4, 4}, true).is_accepted);
  EXPECT_EQ(name(advise::decide_grow(s, 14, true).to), "4x4");
  s.steps.clear(); // nothing measured: the cores are full nevertheless
  EXPECT_FALSE(advise::decide_resize(s, {4, 4}, false).is_accepted);
  s.grid = {1, 1}; // one core is idle
  EXPECT_EQ(name(advise::decide_grow(s, 15, false).to), "1x2");
  s.cores = 0; // not known
  EXPECT_EQ(name(advise::decide_grow(s, 15, false).to), "4x4");
  s = on_two_cores();
  s.cores = 16;
  EXPECT_EQ(name(advise::decide_grow(s, 14, false).to), "4x4");
}

TEST(Decide, WhatMeasuredQuickerBeyondTheCoresIsTaken) {
  advise::Situation s = on_two_cores();
  s.steps[{2, 2}] = steps(5, 0.08); // it waits more than it computes
  EXPECT_TRUE(advise::decide_resize(s, {2, 2}, false).is_accepted);
  EXPECT_EQ(name(advise::decide_grow(s, 14, false).to), "2x2");
  s.steps[{2, 2}] = steps(5, 0.2);
  EXPECT_TRUE(says(advise::decide_resize(s, {2, 2}, false).why,
                   "would not be quicker")); // though the number of steps left is unknown
  EXPECT_FALSE(advise::decide_grow(s, 14, false).is_accepted);
  EXPECT_TRUE(advise::decide_resize(s, {2, 2}, true).is_accepted);
}

TEST(Decide, TooManyProcessesForTheCores) {
  advise::Situation s = on_two_cores();
  s.grid = {1, 1};
  const advise::Decision no = advise::decide_resize(s, {300, 300}, false);
  EXPECT_FALSE(no.is_accepted);
  EXPECT_TRUE(says(no.why, "90000 processes on 2 core(s), expected at most 32 (16 a core)")) << no.why;
  s.per_core = 0;
  EXPECT_TRUE(advise::decide_resize(s, {300, 300}, false).is_accepted);
}

// ---- what the system allows

TEST(Limits, OfControlGroupsOfTheSecondVersion) {
  const FakeSystem f;
  f.put("/proc/self/cgroup", "0::/slice/job\n");
  f.put("/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  f.put("/sys/fs/cgroup/slice/cpu.max", "50000 100000\n"); // half a core, above: one
  f.put("/sys/fs/cgroup/slice/job/pids.max", "max\n");
  f.put("/sys/fs/cgroup/slice/pids.max", "100\n");
  f.put("/sys/fs/cgroup/slice/pids.current", "60\n");
  f.put("/proc/sys/kernel/pid_max", "4194304\n");
  f.put("/proc/loadavg", "0.1 0.2 0.3 2/345 6789\n");
  EXPECT_EQ(control::usable_cores(control::CoresOf::launcher, f.root), 1);
  const auto limits = control::thread_limits(f.root);
  ASSERT_GE(limits.size(), 2u);
  EXPECT_EQ(limits[0].name, "pids.max of the control group /sys/fs/cgroup/slice");
  EXPECT_EQ(limits[0].most, 100);
  EXPECT_EQ(limits[0].used, 60);
  EXPECT_EQ(limits.back().used, 345);
}

TEST(Limits, OfControlGroupsOfTheFirstVersion) {
  const FakeSystem f;
  f.put("/proc/self/cgroup", "8:pids:/\n7:cpu,cpuacct:/a\n0::/\n");
  f.put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
  f.put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  f.put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  f.put("/sys/fs/cgroup/pids/pids.max", "77\n");
  f.put("/sys/fs/cgroup/pids/pids.current", "7\n");
  EXPECT_EQ(control::usable_cores(control::CoresOf::launcher, f.root), 1);
  EXPECT_EQ(control::thread_limits(f.root).at(0).most, 77);
}

TEST(Limits, OfThisProcess) {
  const FakeSystem quota;
  quota.put("/proc/self/cgroup", "0::/\n");
  quota.put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_GE(control::usable_cores(), 1);
  setenv("DYNGRID_DECIDE", "cores=37", 1);
  EXPECT_EQ(control::usable_cores(), 37);
  EXPECT_EQ(control::allowed_cores(control::CoresOf::launcher, quota.root), 1) << "of the machine, not as requested";
  unsetenv("DYNGRID_DECIDE");
  EXPECT_GE(control::own_threads(), 1);
  EXPECT_GT(control::own_bytes(), 0);
  const control::Limit files = control::open_files(getpid());
  EXPECT_GT(files.most, files.used);
  EXPECT_GE(files.used, 3);
  EXPECT_EQ(control::open_files(0).most, 0); // no such process
}

// ---- one queued request

namespace {
control::ResizeRequest request_for(GridShape from, GridShape to, std::optional<double> deadline = std::nullopt) {
  control::ResizeRequest p;
  p.op = control::Operation::resize;
  p.from = from;
  p.to = to;
  p.deadline = deadline;
  return p;
}
} // namespace

TEST(Queue, TheNewestWins) {
  control::RequestQueue q;
  EXPECT_EQ(q.submit(request_for({2, 2}, {3, 3})).number, 1);
  const auto second = q.submit(request_for({2, 2}, {4, 4}));
  EXPECT_EQ(second.number, 2);
  ASSERT_TRUE(second.superseded);
  EXPECT_EQ(second.superseded->number, 1);
  EXPECT_FALSE(q.cancel(1));
  EXPECT_EQ(q.take()->number, 2);
  EXPECT_FALSE(q.take());
  EXPECT_FALSE(q.cancel(std::nullopt));
  q.submit(request_for({2, 2}, {3, 3}));
  EXPECT_EQ(q.cancel(3)->number, 3);
}

TEST(Queue, DeadlinesOfGrowthAndShrinkage) {
  control::RequestQueue q;
  q.submit(request_for({2, 2}, {3, 3}, 10.0));
  EXPECT_FALSE(q.overdue(9.9));
  const auto growth = q.overdue(10.0);
  ASSERT_TRUE(growth);
  EXPECT_TRUE(growth->is_withdrawn);
  EXPECT_FALSE(q.waiting());
  q.submit(request_for({3, 3}, {2, 2}, 20.0));
  const auto shrinkage = q.overdue(21);
  ASSERT_TRUE(shrinkage);
  EXPECT_FALSE(shrinkage->is_withdrawn);
  EXPECT_FALSE(q.overdue(22)); // reported once
  EXPECT_TRUE(q.waiting()->is_late());
  EXPECT_EQ(q.take()->number, 2);
}

// ---- the whole of a job, with a clock of our own

namespace {

control::JobState job(GridShape first = {2, 2}) {
  control::JobInfo info;
  info.job = "test";
  info.app = "app";
  return {info, first, 0};
}

Json ask(control::JobState& state, const std::string& line, double now) {
  const control::Request request = control::parse_request(line);
  return request.op == "offer"    ? state.offer(request)
         : request.op == "cancel" ? state.cancel(request)
                                  : state.submit(request, now);
}

control::ChangeReport change(GridShape from, GridShape to) {
  control::ChangeReport r;
  r.cost.from = from;
  r.cost.to = to;
  r.cost.spawned = std::max(0, to.size() - from.size());
  r.total_s = 1;
  return r;
}

std::string words(const std::vector<Json>& events) {
  std::string text;
  for (const Json& e : events) {
    text += (text.empty() ? "" : " ") + e.at("event").get<std::string>();
    if (e.contains("outcome")) text += ":" + e.at("outcome").get<std::string>();
    if (e.contains("request") && e.at("request").is_number()) text += "#" + std::to_string(e.at("request").get<int>());
  }
  return text;
}

} // namespace

TEST(Job, ARequestIsTakenAtTheResizePointAndTold) {
  control::JobState state = job();
  EXPECT_FALSE(state.is_pending());
  const Json said = ask(state, R"({"op":"resize","grid":[3,3]})", 1);
  EXPECT_EQ(said.at("accepted"), true);
  EXPECT_EQ(said.at("request"), 1);
  EXPECT_TRUE(state.is_pending());
  auto wanted = state.want(2).value();
  EXPECT_EQ(wanted.number, 1);
  EXPECT_EQ(name(wanted.to), "3x3");
  EXPECT_FALSE(state.is_pending());
  wanted.done(change({2, 2}, {3, 3}), 0, 3);
  EXPECT_EQ(words(state.take_events()), "request#1 resize#1 outcome:done#1");
  EXPECT_EQ(state.status(4)["grid"], Json({3, 3}));
  EXPECT_EQ(ask(state, R"({"op":"resize","grid":[3,3]})", 5)["accepted"], false);
}

TEST(Job, NewerRequestsCancelsAndFailures) {
  control::JobState state = job();
  ask(state, R"({"op":"resize","grid":[3,3]})", 1);
  ask(state, R"({"op":"grow","by":2})", 1);
  EXPECT_EQ(words(state.take_events()), "request#1 outcome:superseded#1 request#2");
  EXPECT_EQ(ask(state, R"({"op":"cancel","request":1})", 2)["cancelled"], nullptr);
  EXPECT_EQ(ask(state, R"({"op":"cancel"})", 2)["cancelled"], 2);
  EXPECT_FALSE(state.is_pending());
  ask(state, R"({"op":"resize","grid":[3,3]})", 3);
  auto wanted = state.want(4).value();
  wanted.refused(base::Status::no_slots, "no slots");
  const auto events = state.take_events();
  EXPECT_EQ(words(events), "outcome:cancelled#2 request#3 outcome:failed#3");
  EXPECT_EQ(events.back().at("status"), static_cast<int>(base::Status::no_slots));
  EXPECT_EQ(state.status(6)["grid"], Json({2, 2}));
}

namespace {
/// 1x2 of a job with a request for 2x2, after some steps of `before` seconds on 1x2 and of `after` seconds on 2x2.
struct Tried {
  control::JobState state;
  double now = 0;
  /// meanwhile: steps while new processes start
  Tried(const std::string& request, const std::vector<double>& before, const std::vector<double>& after,
        bool undoes = true, const std::vector<double>& meanwhile = {})
      : state(info(undoes), {1, 2}, 0) {
    run(before);
    state.take_events();
    EXPECT_EQ(ask(state, request, now)["accepted"], true);
    auto wanted = state.want(now);
    EXPECT_TRUE(wanted);
    run(meanwhile);
    wanted->done(change({1, 2}, wanted->to), 0, now);
    state.take_events();
    run(after);
  }
  static control::JobInfo info(bool undoes) {
    control::JobInfo i;
    i.app = "app";
    i.undoes = undoes;
    return i;
  }
  void run(const std::vector<double>& steps) {
    for (const double s : steps) {
      state.step_begins(now);
      now += s;
      state.step_ended(now);
    }
  }
};
const std::vector<double> quick{9, 0.11, 0.12, 0.11, 0.116}, slow{9, 0.27, 0.26, 0.27};
const char* const to_2x2 = R"({"op":"resize","grid":[2,2]})";
} // namespace

TEST(Job, AGrowthThatMeasuresSlowerIsTakenBack) {
  Tried t(to_2x2, quick, slow);
  ASSERT_TRUE(t.state.is_pending());
  auto back = t.state.want(t.now);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 0);
  EXPECT_EQ(name(back->to), "1x2");
  EXPECT_TRUE(
      says(back->why, "2x2 takes 0.27 s a step, 1x2 took 0.113: back to 1x2 (DYNGRID_DECIDE=undo=off leaves it)"))
      << back->why;
  back->done(change({2, 2}, {1, 2}), 0, t.now);
  EXPECT_FALSE(t.state.is_pending());
  const auto events = t.state.take_events();
  EXPECT_EQ(words(events), "undo#1 resize");
  EXPECT_EQ(events[0].at("grid"), Json({1, 2}));
  // it is not tried again, not by the scheduler either; a forced request gets it
  t.run(quick);
  EXPECT_FALSE(t.state.is_pending());
  EXPECT_EQ(ask(t.state, to_2x2, t.now)["accepted"], false);
  const Json no = ask(t.state, R"({"op":"resize","grid":[2,2],"force":true,"undo":true})", t.now);
  EXPECT_EQ(no.at("accepted"), false);
  EXPECT_TRUE(says(no.at("reason").get<std::string>(), "2x2 was tried")) << no;
  EXPECT_EQ(ask(t.state, R"({"op":"resize","grid":[2,2],"force":true})", t.now)["accepted"], true);
}

TEST(Job, StepsBesideProcessesThatStartAreNoMeasure) {
  const std::vector<double> slowed(9, 0.4);
  Tried t(to_2x2, quick, slow, true, slowed);
  ASSERT_TRUE(t.state.is_pending());
  EXPECT_TRUE(says(t.state.want(t.now)->why, "2x2 takes 0.27 s a step, 1x2 took 0.113"));
  EXPECT_FALSE(Tried(to_2x2, {9}, slow, true, slowed).state.is_pending()); // but where there are no others
  EXPECT_TRUE(Tried(to_2x2, {9}, slow, true, quick).state.is_pending());
}

TEST(Job, WhatStaysAsItIs) {
  EXPECT_FALSE(Tried(R"({"op":"resize","grid":[2,2],"force":true})", quick, slow).state.is_pending());
  EXPECT_FALSE(Tried(R"({"op":"resize","grid":[2,2],"undo":false})", quick, slow).state.is_pending());
  EXPECT_FALSE(Tried(to_2x2, quick, slow, false).state.is_pending());                     // DYNGRID_DECIDE=undo=off
  EXPECT_FALSE(Tried(R"({"op":"resize","grid":[1,1]})", quick, slow).state.is_pending()); // a shrink
  EXPECT_FALSE(Tried(to_2x2, {9, 0.11}, slow).state.is_pending());                        // nothing to compare with
  EXPECT_FALSE(Tried(to_2x2, quick, {9, 0.27, 0.27}).state.is_pending());                 // not yet
  EXPECT_FALSE(Tried(to_2x2, quick, {9, 0.116, 0.117, 0.116, 0.115}).state.is_pending()); // 2 % are noise
  EXPECT_FALSE(Tried(to_2x2, {9, 0.1, 0.3, 0.15, 0.2}, {9, 0.22, 0.25, 0.2}).state.is_pending()); // so are 25 % here
  EXPECT_TRUE(Tried(R"({"op":"grow","by":2,"force":true,"undo":true})", quick, slow).state.is_pending());
}

TEST(Job, AnotherWishGoesBeforeTakingBack) {
  Tried t(to_2x2, quick, slow);
  ask(t.state, R"({"op":"resize","grid":[2,3],"force":true})", t.now);
  auto other = t.state.want(t.now).value();
  EXPECT_EQ(name(other.to), "2x3");
  other.done(change({2, 2}, {2, 3}), 0, t.now);
  t.run(slow);
  EXPECT_FALSE(t.state.is_pending());
  // and a request of the program: undone at the next resize point, unless that changed the grid
  Tried u(to_2x2, quick, slow);
  auto back = u.state.want(u.now);
  ASSERT_TRUE(back);
  back->put_off();
  EXPECT_TRUE(u.state.is_pending());
  auto again = u.state.want(u.now);
  ASSERT_TRUE(again);
  EXPECT_EQ(name(again->to), "1x2");
  again->refused(base::Status::internal, ""); // then it stays
  EXPECT_FALSE(u.state.is_pending());
}

TEST(Job, TheProgramsOwnWishGoesFirst) {
  control::JobState state = job();
  ask(state, R"({"op":"grow","by":5})", 1); // to 3x3
  auto wanted = state.want(2).value();
  wanted.put_off(); // another process of the program requested 2x3
  EXPECT_TRUE(state.is_pending());
  state.changed(change({2, 2}, {2, 3}), 0, 3);
  EXPECT_TRUE(state.is_pending());
  auto again = state.want(4); // up to five more than 6 now
  ASSERT_TRUE(again);
  EXPECT_EQ(again->number, 1);
  EXPECT_EQ(name(again->to), "2x5");
  again->refused(base::Status::spawn_failure, "");
  // and when a newer one arrived meanwhile, the deferred one is superseded
  ask(state, R"({"op":"resize","grid":[3,3]})", 6);
  auto older = state.want(7);
  ask(state, R"({"op":"resize","grid":[4,4]})", 7);
  state.take_events();
  older->put_off();
  EXPECT_EQ(words(state.take_events()), "outcome:superseded#2");
  EXPECT_EQ(state.want(8)->number, 3);
}

TEST(Job, AGrowthThatWaitsForItsProcessesStaysUnderWay) {
  control::JobState state = job();
  ask(state, R"({"op":"resize","grid":[3,3]})", 1);
  auto growth = state.want(2);
  ask(state, R"({"op":"resize","grid":[4,4]})", 3);
  auto newer = state.want(4);
  ASSERT_TRUE(growth && newer);
  EXPECT_EQ(state.status(4)["under_way"], 2);
  newer->put_off();
  EXPECT_EQ(state.status(4)["under_way"], 1);
  EXPECT_EQ(state.status(4)["pending"]["request"], 2);
  growth->done(change({2, 2}, {3, 3}), 0, 5);
  EXPECT_EQ(state.status(5)["under_way"], nullptr);
  newer = state.want(6);
  growth = std::move(newer);
  growth->refused(base::Status::no_slots, "");
  EXPECT_EQ(state.status(6)["under_way"], nullptr);
}

TEST(Job, ARequestIsAnsweredOnceAndNeverForgotten) {
  control::JobState state = job();
  ask(state, R"({"op":"resize","grid":[3,3]})", 1);
  { const auto forgotten = state.want(2); }
  auto events = state.take_events();
  EXPECT_EQ(words(events), "request#1 outcome:failed#1");
  EXPECT_TRUE(says(events.back()["reason"].get<std::string>(), "given up")) << events.back();
  ask(state, R"({"op":"resize","grid":[3,3]})", 3);
  auto wanted = state.want(4);
  ASSERT_TRUE(wanted);
  auto moved = std::move(*wanted); // the duty to answer moves with it
  wanted.reset();
  EXPECT_EQ(words(state.take_events()), "request#2");
  moved.done(change({2, 2}, {3, 3}), 0, 5);
  moved.refused(base::Status::internal, "too late");
  EXPECT_EQ(words(state.take_events()), "resize#2 outcome:done#2");
}

TEST(Job, WhatWasGrantedStaysUntilItIsGivenBack) {
  control::JobState state = job();
  std::thread scheduler([&] {
    while (state.status(1)["asks"].is_null()) std::this_thread::yield();
    state.grant(control::parse_request(R"({"op":"grant","ask":1,"procs":9})"));
  });
  EXPECT_EQ(state.ask("3x3", false, -1)->procs, 9);
  scheduler.join();
  state.failed({1, 8}, base::Status::bad_argument, "another change, beside the granted one");
  EXPECT_EQ(state.status(2)["asks"]["granted"], 9);
  state.asks_no_more();
  EXPECT_TRUE(state.status(3)["asks"].is_null());
}

TEST(Protocol, OperationsAreReadInOnePlace) {
  for (const char* word : {"status", "resize", "grow", "shrink", "leave", "offer", "cancel", "history", "watch", "load",
                           "balance", "calls"}) {
    const auto request = control::parse_request(R"({"op":")" + std::string(word) + "\"}");
    EXPECT_STREQ(control::to_string(control::operation_of(request)), word);
  }
  EXPECT_TRUE(says(message_of([] { control::operation_of(control::parse_request(R"({"op":"sleep"})")); }), "sleep"));
}

TEST(Job, AShrinkThatHasNothingLeftToGiveIsDeclined) {
  control::JobState state = job({3, 3});
  ask(state, R"({"op":"shrink","by":5})", 1); // to 2x2
  state.changed(change({3, 3}, {2, 2}), 0, 2);
  EXPECT_FALSE(state.want(3)); // 5 of 4 are no more there
  EXPECT_EQ(words(state.take_events()), "request#1 resize outcome:declined#1");
}

TEST(Job, ARequestThatCannotBeWorkedOutAnewIsDeclined) {
  control::JobState state = job({1, 1});
  state.set_processes({{0, "a", 0, 0, 1}}, 1);
  EXPECT_EQ(ask(state, R"({"op":"grow","hosts":[{"name":"b","slots":3}]})", 1)["accepted"], true);
  state.changed(change({1, 1}, {1, 2}), 0, 2);
  state.set_processes({{0, "a", 0, 0, 1}, {1, "a", 0, 1, 1e200}}, 2); // with such a speed no processor can be chosen
  EXPECT_FALSE(state.want(3));
  EXPECT_EQ(words(state.take_events()), "request#1 resize outcome:declined#1");
}

TEST(Job, WhatOnlyAResizeTakesIsRefusedElsewhere) {
  control::JobState state = job();
  for (const char* line : {R"({"op":"grow","by":1,"without":"1"})", R"({"op":"shrink","by":1,"without":"1"})",
                           R"({"op":"leave","units":[1],"without":"1"})", R"({"op":"grow","by":1,"form":"best"})",
                           R"({"op":"shrink","by":1,"form":"best"})"})
    EXPECT_THROW(ask(state, line, 1), base::Error) << line;
  EXPECT_FALSE(state.is_pending());
}

TEST(Job, TheLocalFormHoldsForTheGridAtTheResizePoint) {
  control::JobState state = job({1, 4});
  EXPECT_EQ(ask(state, R"({"op":"offer","procs":5})", 1)["grid"], Json({3, 3}));
  EXPECT_EQ(ask(state, R"({"op":"offer","procs":5,"form":"local"})", 1)["grid"], Json({2, 4}));
  EXPECT_EQ(ask(state, R"({"op":"resize","grid":[2,3],"form":"local"})", 1)["accepted"], false);
  EXPECT_EQ(ask(state, R"({"op":"grow","by":5,"form":"local"})", 1)["grid"], Json({2, 4}));
  EXPECT_EQ(state.want(2)->form, gridmap::Strategy::local);
  state.take_events();
  EXPECT_EQ(ask(state, R"({"op":"grow","by":5,"form":"local"})", 3)["grid"], Json({2, 4}));
  state.changed(change({1, 4}, {4, 1}), 0, 4);
  auto grown = state.want(5); // 9 processes at most, and no longer 2x4
  ASSERT_TRUE(grown);
  EXPECT_EQ(name(grown->to), "4x2");
  grown->refused(base::Status::spawn_failure, "");
  EXPECT_EQ(ask(state, R"({"op":"resize","grid":[4,2],"form":"local"})", 6)["accepted"], true);
  state.changed(change({4, 1}, {2, 3}), 0, 7);
  state.take_events();
  EXPECT_FALSE(state.want(8)); // 4x2 would take a column away
  EXPECT_EQ(words(state.take_events()), "outcome:declined#3");
}

TEST(Job, LeavingIsWorkedOutWhenItsTimeComes) {
  control::JobState state = job({2, 4});
  state.set_groups({{1, 4, 4}});
  EXPECT_EQ(state.status(0)["units"][0], Json({{"unit", 1}, {"processes", 4}, {"active", 4}}));
  EXPECT_THROW(ask(state, R"({"op":"leave"})", 1), base::Error);
  EXPECT_THROW(ask(state, R"({"op":"leave","units":[]})", 1), base::Error);
  EXPECT_THROW(ask(state, R"({"op":"leave","units":["n1"]})", 1), base::Error);
  const Json unknown = ask(state, R"({"op":"leave","units":[2]})", 1);
  EXPECT_EQ(unknown["accepted"], false);
  EXPECT_EQ(unknown["reason"], "none of these process groups has processes in the grid");
  EXPECT_EQ(ask(state, R"({"op":"leave","units":[1]})", 1)["grid"], Json({2, 2}));
  auto wanted = state.want(2).value();
  EXPECT_EQ(wanted.groups, std::vector<std::int64_t>{1});
  wanted.put_off();
  state.set_groups({{3, 4, 4}}); // meanwhile group 1 left and another joined, on the same grid
  state.take_events();
  EXPECT_FALSE(state.want(3));
  EXPECT_EQ(words(state.take_events()), "outcome:declined#1");
}

namespace {
/// 2x2 of processes 0 1 / 2 5, 3 parked beside them on node a, 4 on node b; 4 and 5 of group 7; 2 is the slowest.
std::vector<advise::ProcessInfo> six() {
  return {{0, "a", 0, 0, 1},  {1, "a", 0, 1, 2},  {2, "b", 0, 2, 0.5},
          {3, "a", 0, -1, 1}, {4, "b", 7, -1, 1}, {5, "b", 7, 3, 2}};
}
} // namespace

TEST(Without, IsReadAndWritten) {
  using advise::Without;
  for (const char* text : {"3", "3,5", "host:node7.x", "slowest", "slowest:2", "3,5,host:a,host:b,slowest:2"})
    EXPECT_EQ(Without::parse(text, "x").text(), text);
  EXPECT_EQ(Without::parse(" 5, 3 ,slowest,5,slowest ", "x").text(), "5,3,slowest:2");
  for (const char* bad :
       {"", ",", "3,", "-1", "x", "3;5", "host:", "slowest:0", "slowest:-1", "slowest:", "99999999999"})
    EXPECT_TRUE(says(message_of([&] { Without::parse(bad, "--without"); }), "--without is \"")) << bad;
  EXPECT_TRUE(says(message_of([] { Without::parse(std::string(5000, '1'), "x"); }), "expected ids"));
}

TEST(Without, NamesProcesses) {
  using advise::Without;
  const auto named = [](const char* text) { return Without::parse(text, "x").among(six()); };
  const auto why_not = [&](const char* text) { return message_of([&] { named(text); }); };
  EXPECT_EQ(named("5,1"), (std::vector<int>{1, 5}));
  EXPECT_EQ(named("host:b"), (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(named("host:b.cluster"), (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(named("host:b,2,4"), (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(named("slowest"), std::vector<int>{2});
  EXPECT_EQ(named("2"), std::vector<int>{2});
  EXPECT_TRUE(says(why_not("9"), "there is no process 9, expected some of 0, 1, 2, 3, 4, 5"));
  EXPECT_TRUE(says(why_not("0"), "without 0: process 0 stays in every grid"));
  EXPECT_TRUE(says(why_not("5,0"), "without 0: process 0 stays in every grid"));
  EXPECT_TRUE(says(why_not("host:a"), "without host:a: process 0 stays in every grid"));
  EXPECT_TRUE(says(why_not("host:a"), "name the others on a: 1,3; to free the host, write a checkpoint"));
  EXPECT_TRUE(says(why_not("host:c"), "no process is on that host"));
  // n1 may be either; a name as it stands is that host
  const auto two = [](const char* text) {
    return Without::parse(text, "x").among({{0, "n0"}, {1, "n1.a"}, {2, "n1.b"}, {3, "n2"}, {4, "n2.a"}});
  };
  EXPECT_THROW(two("host:n1"), base::Error);
  EXPECT_EQ(two("host:n1.b"), std::vector<int>{2});
  EXPECT_EQ(two("host:n2"), std::vector<int>{3});
  EXPECT_TRUE(says(why_not("slowest:2"), "is slower than the others")) << why_not("slowest:2"); // 1 and 5 are equal
  auto processes = six();
  processes[5].speed = 1.5;
  EXPECT_EQ(Without::parse("slowest:2", "x").among(processes), (std::vector<int>{2, 5}));
  processes[0].speed = 0.1; // process 0 stays
  EXPECT_EQ(Without::parse("slowest", "x").among(processes), std::vector<int>{2});
  for (const int k : {0, 1, 2, 5}) processes[static_cast<std::size_t>(k)].speed = 4;
  EXPECT_TRUE(says(message_of([&] { Without::parse("slowest", "x").among(processes); }), "is slower than the others"));
  processes[1].speed = processes[2].speed = 3; // of two the one that joined last
  EXPECT_EQ(Without::parse("slowest", "x").among(processes), std::vector<int>{2});
}

TEST(Job, ProcessesThatAreNamedLeave) {
  control::JobState state = job();
  state.set_processes(six(), 2);
  const Json status = state.status(1, true);
  EXPECT_EQ(status.at("parked"), 2);
  EXPECT_FALSE(state.status(1).contains("processes"));
  EXPECT_EQ(status.at("processes")[5],
            Json({{"process", 5}, {"host", "b"}, {"unit", 7}, {"speed", 2.0}, {"place", {1, 1}}}));
  EXPECT_TRUE(status.at("processes")[3].value("place", Json()).is_null());
  const auto answer = [&](const std::string& grid, const std::string& without) {
    return ask(state, R"({"op":"resize","grid":)" + grid + R"(,"without":")" + without + "\"}", 1);
  };
  const auto declined = [&](const std::string& grid, const std::string& without, const char* why) {
    const Json said = answer(grid, without);
    return !said.at("accepted").get<bool>() && says(said.at("reason").get<std::string>(), why);
  };
  EXPECT_TRUE(declined("[2,2]", "3,4", "the grid is 2x2 without 3, 4 already"));
  EXPECT_TRUE(declined("[1,3]", "7", "there is no process 7"));
  EXPECT_TRUE(declined("[2,2]", "1,2,4", "needs 4 processes, but 3 are left"));
  EXPECT_TRUE(declined("[1,3]", "0", "process 0 stays in every grid"));
  EXPECT_TRUE(
      declined("[2,2]", "1,2,3", "2x2 without 1, 2, 3 needs 4 processes, but 3 are left (2 in the grid, 1 parked)"));
  EXPECT_TRUE(declined("[2,3]", "5", "needs 6 processes, but 5 are left"));
  EXPECT_THROW(answer("[1,3]", ""), base::Error);
  EXPECT_THROW(answer("[1,3]", "x"), base::Error);
  EXPECT_THROW(ask(state, R"({"op":"resize","grid":[1,3],"without":3})", 1), base::Error);
  EXPECT_TRUE(answer("[2,2]", "slowest")["accepted"].get<bool>()); // the present grid, with another process
  EXPECT_TRUE(answer("[1,5]", "2")["accepted"].get<bool>());
  auto wanted = state.want(2).value();
  EXPECT_EQ(wanted.without.text(), "2");
  wanted.put_off();
  auto fewer = six();
  fewer.pop_back(); // 5 has left meanwhile
  state.set_processes(fewer, 2);
  state.take_events();
  EXPECT_FALSE(state.want(3));
  EXPECT_EQ(words(state.take_events()), "outcome:declined#2");
}

TEST(Job, Deadlines) {
  control::JobState state = job();
  ask(state, R"({"op":"grow","by":5,"deadline_s":10})", 1);
  EXPECT_DOUBLE_EQ(*state.next_deadline(), 11);
  EXPECT_FALSE(state.want(11)); // too late
  EXPECT_EQ(words(state.take_events()), "request#1 outcome:expired#1");
  ask(state, R"({"op":"shrink","by":2,"deadline_s":10})", 20);
  state.look_at_deadlines(29);
  EXPECT_EQ(words(state.take_events()), "request#2");
  state.look_at_deadlines(30);
  EXPECT_EQ(words(state.take_events()), "late#2");
  EXPECT_FALSE(state.next_deadline());
  EXPECT_EQ(state.status(31)["pending"]["late"], true);
  EXPECT_EQ(name(state.want(40)->to), "1x2"); // it still requests them back
}

TEST(Job, StepTimesLeaveOutTheFirstOnAGrid) {
  control::JobState state = job();
  double now = 0;
  const auto step = [&](double seconds) {
    state.step_begins(now);
    now += seconds;
    state.step_ended(now);
  };
  step(9);
  EXPECT_EQ(state.status(now)["mean_step_s"], 9.0); // there is no other
  step(2);
  step(4);
  const Json status = state.status(now);
  EXPECT_EQ(status.at("step"), 3);
  EXPECT_DOUBLE_EQ(status.at("mean_step_s").get<double>(), 3);
  EXPECT_DOUBLE_EQ(status.at("step_s").get<double>(), 4);
  state.changed(change({2, 2}, {3, 3}), 0, now);
  EXPECT_EQ(state.status(now)["mean_step_s"], nullptr);
  const Json history = state.history();
  ASSERT_EQ(history.at("grids").size(), 1u);
  EXPECT_EQ(history.at("grids")[0].at("steps"), 2);
  EXPECT_DOUBLE_EQ(history.at("grids")[0].at("mean_s").get<double>(), 3);
}

namespace {
/// Steps of 9 s and, in the fourth of them, 20 panels of a factorization, the first of 0.1 s.
struct WithPanels {
  control::JobState state = job();
  double now = 0;
  void step(double seconds) {
    state.step_begins(now);
    now += seconds;
    state.step_ended(now);
  }
  void panel(int k) {
    const double left = 1 - k / 20.0, size = left * left;
    state.step_begins(now);
    state.panel(size, 19 - k);
    now += 0.1 * size;
    state.step_ended(now);
  }
};
} // namespace

TEST(Job, PanelsAreKnownAsLongAsTheFirst) {
  WithPanels run;
  run.state.set_steps(100000);
  for (int k = 0; k < 3; ++k) run.step(9);
  run.state.step_begins(run.now);
  const double begun = run.now;
  run.state.begin_panels("dyngrid_lu:A");
  EXPECT_EQ(run.state.status(run.now)["mean_step_s"], nullptr) << "nothing is known of panels";
  EXPECT_EQ(run.state.steps_left(), -1);
  for (int k = 0; k < 19; ++k) run.panel(k);
  EXPECT_NEAR(run.state.status(run.now)["mean_step_s"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(run.state.steps_left(), 1);
  EXPECT_NEAR(run.state.seconds_left(), 0.1, 1e-9);
  // of 100,000 steps of 9 s a growth is worthwhile; of one panel it is not, though there are 100,000 steps
  const Json said = ask(run.state, R"({"op":"offer","procs":5})", run.now);
  EXPECT_EQ(said.at("accepted"), false);
  EXPECT_TRUE(says(said.at("reason").get<std::string>(), "costs more time than it saves")) << said;
  EXPECT_NEAR(run.state.history()["grids"][0]["mean_s"].get<double>(), 0.1, 1e-9);
  run.state.end_panels();
  run.now += 0.5;
  run.state.step_ended(run.now); // the program's step, the factorization in it
  const Json status = run.state.status(run.now);
  EXPECT_DOUBLE_EQ(status.at("step_s").get<double>(), run.now - begun);
  EXPECT_EQ(status.at("step"), 3 + 19 + 1) << "resize points are counted as before";
  EXPECT_DOUBLE_EQ(status.at("mean_step_s").get<double>(), (2 * 9 + run.now - begun) / 3);
  EXPECT_EQ(ask(run.state, R"({"op":"offer","procs":5})", run.now)["grid"], Json({3, 3}));
}

TEST(Job, AChangeBetweenPanelsIsOfBoth) {
  WithPanels run;
  for (int k = 0; k < 3; ++k) run.step(9);
  run.state.step_begins(run.now);
  run.state.begin_panels("dyngrid_lu:A");
  run.state.set_matrices({"d100x100", 80000, {}}); // known from the first resize point on, which is a panel's
  for (int k = 0; k < 5; ++k) run.panel(k);
  EXPECT_NEAR(run.state.status(run.now)["mean_step_s"].get<double>(), 0.1, 1e-9);
  run.state.changed(change({2, 2}, {3, 3}), 0, run.now);
  for (int k = 5; k < 10; ++k) run.panel(k);
  EXPECT_EQ(run.state.history()["resizes"].size(), 1u);
  run.state.begin_panels("dyngrid_cholesky:B"); // the factorization before it has ended
  EXPECT_EQ(run.state.status(run.now)["mean_step_s"], nullptr);
  EXPECT_EQ(run.state.history()["resizes"].size(), 1u) << "what a change costs is known";
  run.state.end_panels();
  run.state.step_ended(run.now + 1);
  EXPECT_EQ(run.state.status(run.now)["mean_step_s"], nullptr) << "half of that step was on another grid";
  EXPECT_EQ(run.state.history()["resizes"].size(), 1u);
  run.state.panel(0.5, 3); // of no factorization
  run.step(7);
  EXPECT_DOUBLE_EQ(run.state.status(run.now)["mean_step_s"].get<double>(), 7);
}

TEST(Job, StepEventsComeInOrderAndAreSkippedWhenNobodyFetchesThem) {
  control::JobState state = job();
  state.step_begins(0);
  state.step_ended(1);
  EXPECT_EQ(words(state.take_events()), ""); // no client watched
  state.want_steps(true);
  for (int i = 0; i < 2; ++i) {
    state.step_begins(2 + i);
    state.step_ended(2.5 + i);
  }
  state.changed(change({2, 2}, {3, 3}), 0, 4);
  state.step_begins(4);
  state.step_ended(5);
  EXPECT_EQ(words(state.take_events()), "step step resize step");
  for (int i = 0; i < 1500; ++i) {
    state.step_begins(10 + i);
    state.step_ended(10.5 + i);
  }
  const auto events = state.take_events();
  ASSERT_EQ(events.size(), 1025u); // 1024 steps fit
  EXPECT_EQ(events.back().at("event"), "skipped");
  EXPECT_EQ(events.back().at("events"), 476);
}

TEST(Job, StepsBeforeARestartAreNotLeft) {
  control::JobState state = job();
  state.set_steps(1000);
  state.restored(900);
  EXPECT_EQ(state.steps_left(), 100);
  EXPECT_EQ(state.status(0)["step"], 900);
  EXPECT_EQ(state.status(0)["step_s"], nullptr) << "no step was measured";
  state.step_begins(0);
  state.step_ended(1);
  EXPECT_EQ(state.steps_left(), 99);
  state.step_begins(1);
  state.restored(900); // the program goes back: that step is computed again
  state.step_ended(2);
  EXPECT_EQ(state.steps_left(), 100);
}

TEST(Job, GrowthThatCannotPayOffIsDeclined) {
  control::JobState state = job();
  state.set_steps(10);
  double now = 0;
  for (int i = 0; i < 9; ++i) {
    state.step_begins(now);
    state.step_ended(now += 0.1);
  }
  // one step of 0.1 s is left, starting five processes takes 0.45 s
  const Json said = ask(state, R"({"op":"offer","procs":5})", now);
  EXPECT_EQ(said.at("accepted"), false);
  EXPECT_TRUE(says(said.at("reason").get<std::string>(), "costs more time than it saves")) << said;
  EXPECT_EQ(ask(state, R"({"op":"resize","grid":[3,3],"force":true})", now)["accepted"], true);
  state.set_steps(100000);
  EXPECT_EQ(ask(state, R"({"op":"offer","procs":5})", now)["grid"], Json({3, 3}));
}

TEST(Job, ExperimentsTryEachGridAndEndOnTheQuickest) {
  control::JobState state = job();
  state.set_experiment(advise::Experiment::parse("2x2,2x3,4x4,3x3@2", "test"));
  const std::map<std::string, double> takes{{"2x2", 4}, {"2x3", 2}, {"3x3", 3}};
  GridShape grid{2, 2};
  double now = 0;
  std::string path;
  for (int point = 0; point < 14; ++point) {
    if (point > 0) state.step_ended(now);
    if (state.is_pending()) {
      if (auto wanted = state.want(now)) {
        if (wanted->to.nprow == 4) { // unavailable
          path += "(4x4)";
          wanted->refused(base::Status::no_slots, "");
        } else {
          wanted->done(change(grid, wanted->to), 0, now);
          grid = wanted->to;
        }
      }
    }
    path += (path.empty() ? "" : " ") + name(grid);
    state.step_begins(now);
    now += takes.at(name(grid));
  }
  // three steps on each, the first of which does not count; an unavailable grid costs only the attempt
  EXPECT_EQ(path, "2x2 2x2 2x2 2x3 2x3 2x3(4x4) 2x3 3x3 3x3 3x3 2x3 2x3 2x3 2x3");
  EXPECT_FALSE(state.is_pending());
  for (const char* text : {"", "2x2@", "2x2@0", "2x2,,3x3", "2x2;3x3", "2x0", "@3", "2x2@3x"})
    EXPECT_TRUE(says(message_of([&] { advise::Experiment::parse(text, "DYNGRID_DECIDE"); }), "DYNGRID_DECIDE")) << text;
}

namespace {
/// An experiment on 2x2, 2x3 and 3x3, one step on each besides the first.
struct Experimenting {
  control::JobState state;
  GridShape grid{2, 2};
  double now = 0;
  explicit Experimenting(const control::JobInfo& info = {}) : state(info, {2, 2}, 0) {
    state.set_matrices({"d8x8", 512, {}});
    state.set_experiment(advise::Experiment::parse("2x2,2x3,3x3@1", "test"));
  }
  void step() {
    const std::map<std::string, double> takes{{"2x2", 4}, {"2x3", 2}, {"3x3", 3}};
    state.step_begins(now);
    state.step_ended(now += takes.at(name(grid)));
  }
  void move(control::ResizeRequest& request) {
    request.done(change(grid, request.to), 0, now);
    grid = request.to;
  }
  /// The request for the quickest, after all were tried.
  std::optional<control::ResizeRequest> last() {
    for (const char* next : {"2x3", "3x3", ""}) {
      for (int i = 0; i < 2; ++i) step();
      auto wanted = state.want(now);
      EXPECT_TRUE(wanted);
      if (!*next || !wanted) return wanted;
      EXPECT_EQ(name(wanted->to), next);
      move(*wanted);
    }
    return std::nullopt;
  }
};
} // namespace

TEST(Job, AnExperimentWaitsForTheProcessesOfAGrid) {
  Experimenting e;
  for (int i = 0; i < 2; ++i) e.step();
  auto growth = e.state.want(e.now);
  ASSERT_TRUE(growth);
  for (int i = 0; i < 5; ++i) { // its processes start meanwhile
    e.step();
    EXPECT_FALSE(e.state.is_pending() && e.state.want(e.now));
  }
  e.move(*growth);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(e.state.want(e.now)) << "no step there was measured";
    e.step();
  }
  growth = e.state.want(e.now);
  ASSERT_TRUE(growth);
  EXPECT_EQ(name(growth->to), "3x3");
}

TEST(Job, TheLastMoveOfAnExperimentIsNotLost) {
  Experimenting e;
  auto last = e.last();
  ASSERT_TRUE(last);
  EXPECT_EQ(name(last->to), "2x3");
  last->put_off(); // the program has a request of its own
  EXPECT_TRUE(e.state.is_pending());
  EXPECT_EQ(e.state.status(e.now)["experimenting"], true);
  auto again = e.state.want(e.now).value();
  EXPECT_EQ(name(again.to), "2x3");
  e.move(again);
  EXPECT_FALSE(e.state.is_pending());
  EXPECT_EQ(e.state.status(e.now)["experimenting"], false);
  const auto events = e.state.take_events();
  EXPECT_EQ(words(events), "resize resize experiment resize");
  EXPECT_EQ(events[2].at("step_s"), 2.0);
}

TEST(Job, AProgramThatGrowsByItselfDeclines) {
  control::JobInfo info;
  info.job = "classical";
  info.why_fixed = "this application changes its grid itself, by blacs_setup";
  control::JobState state(info, {1, 4}, 0);
  EXPECT_TRUE(says(ask(state, R"({"op":"grow","by":5})", 0)["reason"].get<std::string>(), "blacs_setup"));
  EXPECT_TRUE(says(ask(state, R"({"op":"offer","procs":5})", 0)["reason"].get<std::string>(), "blacs_setup"));
}

// ---- the file

namespace {
const control::HistoryKey app{"app", "d8x8", "machine"};
struct Folder : TemporaryFolder {
  control::JobInfo info() const { // of a job that keeps its history here
    control::JobInfo info;
    info.app = app.app;
    info.machine = app.machine;
    info.history_file = file;
    return info;
  }
  const std::string file = path + "/state/dyngrid/history.jsonl";
};
} // namespace

TEST(History, IsKeptByProgramSizeAndMachine) {
  const Folder folder;
  const control::HistoryKey other{"app", "d9x9", "machine"}, elsewhere{"app", "d8x8", "faster"};
  ASSERT_TRUE(control::append_history(
      folder.file, app, {{{{2, 2}, steps(2, 1.0)}}, {{{2, 2}, {3, 3}, 5, 0.5, 0.1, 0.01, 0.2, 800, 0.15, 4, 7}}}));
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(2, 3.0)}, {{3, 3}, steps(1, 0.5)}}}));
  ASSERT_TRUE(control::append_history(folder.file, other, {{{{2, 2}, steps(1, 7.0)}}}));
  const control::History h = control::read_history(folder.file, app);
  ASSERT_EQ(h.steps.size(), 2u);
  EXPECT_EQ(h.steps.at({2, 2}).count, 4);
  EXPECT_DOUBLE_EQ(h.steps.at({2, 2}).mean, 2);
  EXPECT_DOUBLE_EQ(h.steps.at({2, 2}).squares, 4); // 1 1 3 3
  ASSERT_EQ(h.changes.size(), 1u);
  EXPECT_EQ(h.changes[0].to.size(), 9);
  EXPECT_DOUBLE_EQ(h.changes[0].exchange_s, 0.2);
  EXPECT_EQ(h.changes[0].moved_bytes, 800);
  EXPECT_DOUBLE_EQ(h.changes[0].predicted_exchange_s, 0.15);
  EXPECT_EQ(h.changes[0].asked_at_step, 4);
  EXPECT_EQ(h.changes[0].changed_at_step, 7);
  EXPECT_EQ(control::read_history(folder.file, other).spawns.size(),
            1u); // the time of starting processes is known to every program
  EXPECT_TRUE(control::read_history(folder.file, elsewhere).steps.empty());
  EXPECT_TRUE(control::read_history(folder.file, elsewhere).spawns.empty());
  EXPECT_EQ(control::read_all_history(folder.file).size(), 2u);
  struct stat found {};
  ASSERT_EQ(stat(folder.file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST(History, LinesThatAreWrittenInPartAreRemoved) {
  const Folder folder;
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}}));
  const std::string before = base::content_of(folder.file);
  const control::HistoryEntries two{{{{2, 2}, steps(2, 1.0)}, {{3, 3}, steps(1, 0.5)}}};
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit low{2 * before.size() + 9, old.rlim_max}; // room for the first line
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const bool is_written = control::append_history(folder.file, app, two);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(is_written);
  EXPECT_EQ(base::content_of(folder.file), before);
  ASSERT_TRUE(control::append_history(folder.file, app, two));
  EXPECT_EQ(control::read_history(folder.file, app).steps.at({2, 2}).count, 3);
}

TEST(History, FiguresOfAMachineAreTheLastOnesOfAnyProgram) {
  const Folder folder;
  const control::HistoryKey other{"other", "d9x9", "machine"}, elsewhere{"app", "d8x8", "faster"};
  EXPECT_FALSE(control::read_history(folder.file, app).machine);
  const advise::Machine first{1e-5, 2e9, 3e9, 0.1, 4}, last{2e-5, 4e9, 5e9, 0.1, 2}, faster{1e-6, 1e10, 2e10, 0.1, 64};
  ASSERT_TRUE(control::append_machine(folder.file, app, first));
  ASSERT_TRUE(control::append_machine(folder.file, elsewhere, faster));
  ASSERT_TRUE(control::append_machine(folder.file, other, last));
  std::ofstream(folder.file, std::ios::app) // invalid figures: a message takes no less than nothing
      << R"({"kind":"machine","app":"app","size":"s","machine":"machine","when":1,"latency_s":-1,)"
      << R"("bandwidth_bytes_per_s":1e9,"pack_bytes_per_s":1e9,"cores":1})" << '\n';
  std::vector<control::ChangeCost> changes(100);
  for (auto& c : changes) c = {{2, 2}, {3, 3}, 5, 0.5, 0.1, 0.01, 0.2, 800, 0.15};
  for (int i = 0; i < 40; ++i) // enough to make the file be rewritten
    ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}, changes}));
  const control::HistoryKey unknown{"never ran", "", "machine"};
  const auto here = control::read_history(folder.file, unknown).machine,
             there = control::read_history(folder.file, elsewhere).machine;
  EXPECT_TRUE(control::read_all_history(folder.file).front().second.machine);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(here->latency_s, 2e-5);
  EXPECT_EQ(here->bandwidth_bytes_per_s, 4e9);
  EXPECT_EQ(here->pack_bytes_per_s, 5e9);
  EXPECT_EQ(here->cores, 2);
  EXPECT_EQ(there->cores, 64);
}

TEST(History, WhatIsNewWeighsMoreThanWhatIsOld) {
  const Folder folder;
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(100000, 1.0)}}}));
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(200, 3.0)}}}));
  EXPECT_DOUBLE_EQ(control::read_history(folder.file, app).steps.at({2, 2}).mean,
                   2); // 200 of the old ones are remembered
}

TEST(History, OfEarlierRunsAFewStepsCount) {
  const Folder folder;
  const control::JobInfo info = folder.info();
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1000, 1.0)}}}));
  EXPECT_EQ(control::read_history(folder.file, app).steps.at({2, 2}).count, 200);
  control::JobState state(info, {2, 2}, 0);
  state.set_matrices({app.size, 512, {}});
  double now = 0;
  for (int i = 0; i < 201; ++i) { // the first one does not count
    state.step_begins(now);
    state.step_ended(now += 3);
  }
  const Json grid = state.history()["grids"][0];
  EXPECT_EQ(grid.at("steps"), 400);
  EXPECT_NEAR(grid.at("mean_s").get<double>(), 2, 1e-9);
}

TEST(History, DoesNotDecideAnExperiment) {
  const Folder folder;
  const control::JobInfo info = folder.info();
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{3, 3}, steps(200, 0.1)}, {{2, 3}, steps(200, 100)}}}));
  Experimenting e(info);
  const auto last = e.last(); // 2x3 takes 2 s, 3x3 takes 3 s
  ASSERT_TRUE(last);
  EXPECT_EQ(name(last->to), "2x3");
}

TEST(History, BeyondSixtyFourSizesNoneIsKeptAndNoneIsMixed) {
  const Folder folder;
  const control::JobInfo info = folder.info();
  control::JobState state(info, {2, 2}, 0);
  double now = 0;
  const auto runs = [&](int size, double step_s) {
    state.set_matrices({std::to_string(size), 512, {}});
    for (int i = 0; i < 3; ++i) {
      state.step_begins(now);
      state.step_ended(now += step_s);
    }
    const Json history = state.history();
    EXPECT_EQ(history.at("size"), std::to_string(size));
    EXPECT_EQ(history.at("grids")[0].at("steps"), 2);
    EXPECT_DOUBLE_EQ(history.at("grids")[0].at("mean_s").get<double>(), step_s);
  };
  for (int size = 1; size <= 70; ++size) runs(size, size);
  state.begin_panels("dyngrid_lu:A");
  EXPECT_TRUE(state.history()["grids"].empty()) << "nothing is known of panels";
  state.changed(change({2, 2}, {2, 3}), 0, now);
  state.end_panels();
  EXPECT_EQ(state.history()["grids"][0]["mean_s"], 70.0);
  EXPECT_EQ(state.history()["resizes"].size(), 1u);
  state.save_history(true);
  for (const auto& [key, history] : control::read_all_history(folder.file)) {
    EXPECT_LT(std::stoi(key.size), 64); // "-" is one
    EXPECT_EQ(history.steps.at({2, 2}).count, 2) << key.size;
    EXPECT_EQ(history.steps.at({2, 2}).mean, std::stoi(key.size));
  }
}

TEST(History, CallsAreKeptByRun) {
  const Folder folder;
  const control::HistoryKey calls{"app", control::calls_size, "machine"};
  control::CallReport run;
  run.is_on = true;
  run.other_contexts = 3;
  for (int k = 0; k < 70; ++k)
    run.calls.push_back({"pdgemm", std::to_string(k), 2, {{"2x2/64", 1}, {"-", 1}}, 70.0 - k, 9.5, 1, 64});
  for (int k = 0; k < 7; ++k) {
    run.job = "job" + std::to_string(k);
    ASSERT_TRUE(control::append_calls(folder.file, calls, run));
  }
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}}));
  const auto check = [&](std::size_t runs) {
    const control::History h = control::read_history(folder.file, calls);
    ASSERT_EQ(h.calls.size(), runs);
    const control::CallReport& last = h.calls.back();
    EXPECT_EQ(last.job, "job6");
    EXPECT_GT(last.when, 0);
    EXPECT_EQ(last.other_contexts, 3);
    ASSERT_EQ(last.calls.size(), 60u);
    EXPECT_EQ(last.left_out, 10);
    EXPECT_EQ(last.calls[1].size, "1");
    EXPECT_EQ(last.calls[1].places.at("2x2/64"), 1);
    EXPECT_EQ(last.calls[1].seconds, 69);
    EXPECT_EQ(last.calls[1].other_s, 9.5);
    EXPECT_EQ(last.calls[1].known, 1);
    EXPECT_EQ(last.calls[1].moved_bytes, 64);
  };
  check(5);
  // a file beyond its size is rewritten: the last run stays
  std::ofstream(folder.file, std::ios::app) << std::string(600000, 'x') << "\n";
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}}));
  struct stat found {};
  ASSERT_EQ(stat(folder.file.c_str(), &found), 0);
  EXPECT_LT(found.st_size, 300000);
  check(1);
  EXPECT_EQ(control::read_history(folder.file, app).steps.at({2, 2}).count, 2);
}

TEST(History, HalfLinesAndNonsenseAreNothing) {
  const Folder folder;
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(3, 1.0)}}}));
  std::ofstream(folder.file, std::ios::app)
      << "nonsense\n{}\n{\"kind\":\"steps\",\"app\":\"app\",\"size\":\"d8x8\",\"machine\":\"machine\",\"when\":1,"
         "\"grid\":[0,2],"
         "\"count\":1,\"mean_s\":1,\"squares\":0,\"least_s\":1}\n{\"kind\":\"steps\",\"app\":\"ap"; // killed here
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(3, 1.0)}}}));
  const control::History h = control::read_history(folder.file, app);
  ASSERT_EQ(h.steps.size(), 1u);
  EXPECT_EQ(h.steps.at({2, 2}).count, 6);
}

TEST(History, ManyProcessesAtOnce) {
  const Folder folder;
  constexpr int processes = 8, times = 50;
  for (int p = 0; p < processes; ++p)
    if (fork() == 0) {
      bool good = true;
      for (int i = 0; i < times; ++i)
        good = good && control::append_history(folder.file, app, {{{{1, p + 1}, steps(1, 1.0)}}}, 10);
      _exit(good ? 0 : 1);
    }
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  const control::History h = control::read_history(folder.file, app);
  ASSERT_EQ(h.steps.size(), static_cast<std::size_t>(processes));
  for (const auto& entry : h.steps) EXPECT_EQ(entry.second.count, times);
}

TEST(History, StaysSmall) {
  const Folder folder;
  const std::string victim = folder.path + "/victim";
  std::ofstream(victim) << "kept";
  ASSERT_TRUE(std::filesystem::create_directories(folder.path + "/state/dyngrid"));
  ASSERT_EQ(symlink(victim.c_str(), (folder.file + ".new").c_str()), 0); // put there by another user
  std::vector<control::ChangeCost> changes(100);
  for (auto& c : changes) c = {{2, 2}, {3, 3}, 5, 0.5, 0.1, 0.01, 0.2, 800, 0.15};
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}, changes})); // some 25 kB each
  struct stat found {};
  ASSERT_EQ(stat(folder.file.c_str(), &found), 0);
  EXPECT_LT(found.st_size, 600 << 10);
  const control::History h = control::read_history(folder.file, app);
  EXPECT_EQ(h.steps.at({2, 2}).count, 40); // nothing of the steps is lost
  EXPECT_GE(h.changes.size(), 20u);
  std::string word;
  std::ifstream(victim) >> word;
  EXPECT_EQ(word, "kept");
}

TEST(History, ANameWithoutAFolderIsAFile) {
  const Folder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  EXPECT_TRUE(control::append_history("name", app, {{{{2, 2}, steps(3, 1.0)}}}));
  EXPECT_EQ(control::read_history("name", app).steps.size(), 1u);
  for (const char* file : {"name", "name.lock"}) EXPECT_EQ(unlink(file), 0) << file;
  std::filesystem::current_path(here);
}

TEST(History, OnlyARegularFileAndThatIsSaidOnce) {
  const Folder folder;
  const std::string fifo = folder.path + "/fifo", device = folder.path + "/device";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(symlink("/dev/zero", device.c_str()), 0); // never ends
  testing::internal::CaptureStderr();
  for (const std::string& file : {fifo, device, folder.path}) {
    EXPECT_FALSE(control::append_history(file, app, {{{{2, 2}, steps(1, 1.0)}}})) << file;
    EXPECT_TRUE(control::read_history(file, app).steps.empty()) << file;
    EXPECT_TRUE(control::read_all_history(file).empty()) << file;
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says(said, "no history is kept: '" + fifo + "' (DYNGRID_HISTORY) is no regular file"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  unlink((folder.path + ".lock").c_str());
}

TEST(History, HasTheBalancesThatWereCarriedOut) {
  const Folder folder;
  control::BalanceReport report;
  report.number = 3;
  report.action = advise::BalanceAction::take_back;
  report.from = {1, 3};
  report.to = {2, 2};
  report.comes = 1;
  report.before_s = 1.5;
  report.after_s = 1;
  report.change_s = 0.25;
  report.measured_before_s = 1.4;
  report.moved_elements = 77;
  report.payoff_steps = 2;
  report.steps = 40;
  report.why = "1.5 s a step become 1";
  report.done(0.3);
  const control::JobInfo info = folder.info();
  const control::HistoryKey key{app.app, "-", app.machine};
  {
    control::JobState state(info, {1, 3}, 0);
    state.balanced(report);
    state.save_history();
    EXPECT_TRUE(control::read_history(folder.file, key).balances.empty()) << "it is not judged yet";
    report.measured_after_s = 1.1;
    report.measured_steps = 5;
    state.balanced(report);
    state.save_history();
    EXPECT_EQ(control::read_history(folder.file, key).balances.size(), 1u);
    EXPECT_EQ(state.history()["balances"].size(), 1u);
    EXPECT_EQ(state.history()["balances"][0]["after_s"], 1.1);
    control::BalanceReport next = report;
    next.measured_steps = 0; // the job ends before five steps
    next.number = 4;
    state.balanced(next);
    state.save_history();
    EXPECT_EQ(control::read_history(folder.file, key).balances.size(), 1u);
    state.save_history(true);
  }
  const control::History h = control::read_history(folder.file, key);
  ASSERT_EQ(h.balances.size(), 2u);
  EXPECT_EQ(control::members_of(h.balances[0]), control::members_of(report));
  EXPECT_EQ(h.balances[1].number, 4);
  EXPECT_TRUE(h.changes.empty() && h.steps.empty());
  control::JobState later(info, {1, 3}, 0);
  EXPECT_EQ(later.history()["balances"].size(), 0u) << "of another size, until the matrices are known";
  EXPECT_EQ(control::history_from({{"balances", base::Json::array({control::members_of(report)})}}).balances.size(),
            1u);
}

TEST(History, HasWhatPhasesTook) {
  const Folder folder;
  const control::JobInfo info = folder.info();
  const control::HistoryKey key{app.app, "2*d", app.machine};
  const control::PhaseKey solve{{2, 3}, "solve", "", "A 24x24, B 8x8"}, move{{2, 3}, "A", "64x64", "24x24"};
  for (int run = 0; run < 2; ++run) {
    control::JobState state(info, {2, 3}, 0);
    state.set_matrices({"2*d", 0, {}});
    EXPECT_EQ(state.phases().size(), run == 0 ? 0u : 2u);
    state.phase_took(solve, 1);
    state.phase_took(solve, 2);
    state.phase_took(move, 0.5);
    state.save_history();
    state.save_history(true); // twice is once
    const control::Json phases = state.history()["phases"];
    ASSERT_EQ(phases.size(), 2u);
    EXPECT_EQ(phases[0], control::members_of(solve, state.phases().at(solve)));
    EXPECT_EQ(control::history_from({{"phases", phases}}).phases.count(move), 1u);
  }
  const control::PhaseTimes known = control::read_history(folder.file, key).phases;
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known.at(solve).count, 4);
  EXPECT_EQ(known.at(solve).mean, 1.5);
  EXPECT_EQ(known.at(solve).least, 1);
  EXPECT_EQ(known.at(move).count, 2);
  std::ofstream(folder.file, std::ios::app)
      << R"({"kind":"phase","app":"a","size":"-","machine":"m","when":1,"grid":[2,3],"phase":"p","layouts":"A",)"
      << R"("count":0,"mean_s":1,"squares":0,"least_s":1})" << '\n';
  EXPECT_TRUE(control::read_history(folder.file, {"a", "-", "m"}).phases.empty()) << "a line that cannot be";
}

TEST(History, ALockThatIsHeldIsNotWaitedForLong) {
  const Folder folder;
  ASSERT_TRUE(control::append_history(folder.file, app, {{{{2, 2}, steps(1, 1.0)}}}));
  control::JobInfo info;
  info.app = app.app;
  info.machine = app.machine;
  info.history_file = "/proc/no/such/place/history.jsonl"; // cannot be written: nothing happens
  control::JobState state(info, {2, 2}, 0);
  state.step_begins(0);
  state.step_ended(1);
  state.step_begins(1);
  state.step_ended(2);
  state.save_history();
  EXPECT_EQ(state.history()["grids"].size(), 1u);
}

TEST(MpiSettings, VariablesOfAnMpirunAndThoseOfTheUser) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess", "OMPI_MCA_orte_ess_num_procs", "OMPI_MCA_pmix",
        "PMIX_RANK", "PMIX_SERVER_URI41", "PRTE_LAUNCHED", "ORTE_SCHIZO_DETECTION", "PMI_RANK", "HYDI_CONTROL_FD"})
    EXPECT_TRUE(control::is_of_an_mpirun(name)) << name;
  for (const char* name : {"OMPI_MCA_btl", "OMPI_MCA_pmix_base_verbose", "PMIX_MCA_gds", "PRTE_MCA_rmaps_default",
                           "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PATH", "SLURM_JOB_ID", ""})
    EXPECT_FALSE(control::is_of_an_mpirun(name)) << name;
}
