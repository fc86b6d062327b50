// SPDX-License-Identifier: BSD-3-Clause
#include "scale/traffic.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "redist/plan.hpp"

namespace {

using scale::Change;

const Change changes[] = {
    {100, {{2, 2}, 7}, {{2, 4}, 16}}, {64, {{4, 4}, 8}, {{4, 4}, 8}}, {97, {{3, 3}, 5}, {{2, 4}, 5}},
    {100, {{1, 8}, 3}, {{2, 4}, 9}},  {5, {{2, 2}, 4}, {{4, 2}, 4}},  {90, {{4, 4}, 37}, {{3, 5}, 80}},
};

TEST(ScaleTraffic, IsWhatElementsSayOneByOne) {
  for (const Change& change : changes) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(change.ranks())), in(out.size());
    for (std::int64_t j = 0; j < change.n; ++j)
      for (std::int64_t i = 0; i < change.n; ++i) {
        const auto sender = static_cast<std::size_t>(scale::owner_of(change.from, i, j));
        const auto receiver = static_cast<std::size_t>(scale::owner_of(change.to, i, j));
        if (sender == receiver) continue;
        ++out[sender];
        ++in[receiver];
      }
    const scale::Traffic traffic = scale::traffic_of(change);
    EXPECT_EQ(traffic.out, out);
    EXPECT_EQ(traffic.in, in);
    EXPECT_EQ(traffic.largest(),
              std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end())));
  }
}

TEST(ScaleTraffic, OwnersOfSmallMatrixByHand) {
  // blocks of 2 over 2 x 2 positions: row 3 is in block 1, column 5 in block 2, which begins again at position 0
  const scale::Side side{{2, 2}, 2};
  EXPECT_EQ(scale::owner_of(side, 3, 5), 2);
  EXPECT_EQ(scale::owner_of(side, 4, 3), 1);
  EXPECT_EQ(scale::indices_of(7, 2, 0, 2), (std::vector<std::int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(scale::Share(7, side, 1).cols, (std::vector<std::int64_t>{2, 3, 6}));
  EXPECT_EQ(scale::Share(7, side, 4).elements(), 0U);
}

TEST(ScaleTraffic, PlansMoveTheSame) {
  for (const Change& change : changes) {
    const auto layout = [&](const scale::Side& side) {
      const auto axis = [&](int nprocs) { return gridmap::Axis::block_cyclic(change.n, side.nb, nprocs); };
      return redist::Layout::row_major(axis(side.grid.nprow), axis(side.grid.npcol));
    };
    const redist::Plan plan(layout(change.from), layout(change.to));
    EXPECT_EQ(plan.totals().lower_bound(), scale::traffic_of(change).largest());
  }
}

} // namespace
