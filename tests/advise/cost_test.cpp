// SPDX-License-Identifier: BSD-3-Clause
// One cost model: an exchange by terms, a change by terms, and that the choice of a shape, the decision and the payoff
// point say the same.
#include "advise/cost.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "advise/payoff.hpp"
#include "advise/topology.hpp"

namespace {

using advise::ChangeCost;
using advise::Cost;
using advise::CostModel;
using advise::PlanVolume;
using advise::ShapeTime;

std::string names(const Cost& cost) {
  std::string text;
  for (const advise::Term& term : cost.terms) text += (text.empty() ? "" : " ") + std::string(term.name);
  return text;
}

TEST(Exchange, LatencyBandwidthAndPacking) {
  // 3 turns, 4 MB on the wire, 8 MB copied by the busiest of 4 processes, 24 MB by all
  PlanVolume volume{3, 4e6, false, 8e6, 24e6, 4};
  advise::Machine machine{1e-3, 1e9, 4e9, 0.5, 0};
  Cost cost = advise::exchange_cost(machine, volume);
  EXPECT_EQ(names(cost), "latency bandwidth packing");
  EXPECT_DOUBLE_EQ(cost.of("latency"), 3e-3);
  EXPECT_DOUBLE_EQ(cost.of("bandwidth"), 4e-3);
  EXPECT_DOUBLE_EQ(cost.of("packing"), 0); // 2 ms, behind the wire
  volume.is_contended = true;
  EXPECT_DOUBLE_EQ(advise::exchange_cost(machine, volume).of("bandwidth"), 6e-3);
  volume.is_contended = false;
  machine.pack_bytes_per_s = 1e9;
  EXPECT_DOUBLE_EQ(advise::exchange_cost(machine, volume).of("packing"), 4e-3); // 8 ms, 4 of them behind the wire
  machine.cores = 2;                                                            // 24 MB by two
  EXPECT_DOUBLE_EQ(advise::exchange_cost(machine, volume).total(), 3e-3 + 12e-3);
}

TEST(Exchange, CostsAddUpByName) {
  Cost cost{{{"latency", 1}, {"bandwidth", 2}}};
  cost += Cost{{{"bandwidth", 3}, {"packing", 4}}};
  EXPECT_EQ(names(cost), "latency bandwidth packing");
  EXPECT_DOUBLE_EQ(cost.of("bandwidth"), 5);
  EXPECT_DOUBLE_EQ((cost *= 2).total(), 20);
  EXPECT_DOUBLE_EQ(cost.of("spawn"), 0);
}

ChangeCost changed(base::GridShape from, base::GridShape to, double exchange_s, double planned_s) {
  ChangeCost c;
  c.from = from;
  c.to = to;
  c.spawned = to.size() - from.size();
  c.spawn_s = 0.1 * c.spawned;
  c.merge_s = 0.04;
  c.plan_s = 0.01;
  c.exchange_s = exchange_s;
  c.predicted_exchange_s = planned_s;
  return c;
}

TEST(Change, TermsAddUpToWhatTheDecisionGoesBy) {
  CostModel model;
  model.steps = advise::step_table({{2, 2, 1.0}, {3, 3, 0.5}});
  model.changes = model.spawns = {changed({2, 2}, {2, 3}, 0.2, 0.1)};
  const Cost planned{{{"latency", 0.1}, {"bandwidth", 0.3}, {"packing", 0}}};
  const Cost cost = model.change({2, 2}, {3, 3}, 5, planned);
  EXPECT_EQ(names(cost), "spawn merge plan latency bandwidth packing");
  EXPECT_DOUBLE_EQ(cost.of("spawn"), 0.2); // one size only was measured: no slope
  EXPECT_DOUBLE_EQ(cost.of("merge"), 0.04);
  EXPECT_DOUBLE_EQ(cost.of("latency"), 0.2); // took twice what was planned
  const auto forecast = model.forecast({2, 2}, {3, 3}, 5, planned);
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->resize_s(), cost.total());
  EXPECT_DOUBLE_EQ(forecast->spawn_s() + forecast->other_s() + forecast->exchange_s(), cost.total());
  EXPECT_EQ(forecast->payoff_steps, advise::payoff_point(cost.total(), 1.0, 0.5));
  EXPECT_EQ(names(model.change({2, 2}, {2, 3}, 2, planned)), "spawn merge plan exchange"); // this very change
}

TEST(Change, NothingMeasured) {
  CostModel model;
  model.usual_spawn_s = advise::usual_spawn_s;
  EXPECT_DOUBLE_EQ(model.change({2, 2}, {3, 3}, 5, {}).total(), 0.45);
  EXPECT_DOUBLE_EQ(model.change({3, 3}, {2, 2}, 0, {}).total(), 0);
  EXPECT_FALSE(model.forecast({2, 2}, {3, 3}, 5, {}));
}

double chosen(const std::vector<ShapeTime>& times, int p, int q) {
  advise::TopologyRequest request;
  request.procs = 100;
  request.times = times;
  request.valid_rows = {p};
  request.valid_cols = {q};
  return advise::choose_topology(request).seconds;
}

TEST(Step, TheShapeIsChosenByTheModelOfTheDecision) {
  const std::vector<ShapeTime> times{{2, 2, 16.5}, {4, 4, 4.2}, {2, 4, 8.1}, {4, 2, 8.4}};
  const auto step = advise::predict_step(advise::step_table(times), {3, 3});
  ASSERT_TRUE(step);
  EXPECT_DOUBLE_EQ(chosen(times, 3, 3), step->seconds);
  EXPECT_DOUBLE_EQ(chosen({{2, 2, 3}, {2, 2, 5}}, 2, 2), 4); // twice measured: the mean
}

TEST(Step, TheShapeIsChosenWithTheCores) {
  // 4 cores: filled by 2x2, so nothing between it and 1x8 is quicker
  const advise::StepModel model(advise::step_table({{1, 1, 4}, {2, 2, 1.2}, {1, 8, 1.4}}), 4);
  advise::TopologyRequest request;
  request.procs = 8;
  request.steps = &model;
  const advise::Topology best = advise::choose_topology(request);
  EXPECT_EQ(best.nprow * 10 + best.npcol, 22);
  EXPECT_GE(model.at({2, 4})->seconds, 1.2);
}

// Chinnusamy 2004, tables 5.1 (n = 24000, 30000) and 5.2: each shape within the range of the others, predicted by them.
TEST(Step, PublishedTimesPredictEachOther) {
  const std::vector<ShapeTime> tables[] = {{{3, 3, 916},
                                            {4, 3, 890},
                                            {3, 4, 905},
                                            {6, 2, 1275},
                                            {2, 6, 907},
                                            {12, 1, 2711},
                                            {1, 12, 1123},
                                            {7, 2, 2069},
                                            {2, 7, 886}},
                                           {{3, 3, 1674},
                                            {4, 3, 1559},
                                            {3, 4, 1620},
                                            {6, 2, 2142},
                                            {2, 6, 1632},
                                            {12, 1, 4441},
                                            {1, 12, 1974},
                                            {7, 2, 2950},
                                            {2, 7, 1806}},
                                           {{3, 3, 2835},
                                            {4, 3, 1994},
                                            {3, 4, 2129},
                                            {6, 2, 3253},
                                            {2, 6, 2201},
                                            {12, 1, 3452},
                                            {1, 12, 3137},
                                            {7, 2, 2030},
                                            {2, 7, 2011}}};
  double sum = 0;
  int count = 0;
  for (const auto& table : tables)
    for (std::size_t i = 0; i < table.size(); ++i) {
      const ShapeTime left_out = table[i];
      if (left_out.nprow == 12 || left_out.npcol == 12) continue; // the ends of the range
      std::vector<ShapeTime> rest = table;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      sum += std::abs(std::log(chosen(rest, left_out.nprow, left_out.npcol) / left_out.seconds));
      ++count;
    }
  EXPECT_EQ(count, 21);
  EXPECT_LT(sum / count, 0.17); // 0.156 by a plane of log t over log p and log q, which the choice had before
}

} // namespace
