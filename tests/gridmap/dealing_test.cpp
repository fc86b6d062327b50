// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/dealing.hpp"

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "gridmap/mapping.hpp"

namespace {
using gridmap::Axis;
using gridmap::deal_out;
using gridmap::DealOrder;
using Sizes = std::vector<std::int64_t>;

TEST(Dealing, Literals) {
  EXPECT_EQ(deal_out(40, 1, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 10}));
  EXPECT_EQ(deal_out(40, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 10}));
  EXPECT_EQ(deal_out(38, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{30, 8})) << "the last block is cut short";
  EXPECT_EQ(deal_out(40, 5, 2, {3, 1}, DealOrder::cyclic).sizes, (Sizes{15, 5})) << "two rounds alike";
  EXPECT_EQ(deal_out(50, 5, 2, {3, 2}, DealOrder::cyclic).sizes, (Sizes{5, 5, 10, 5, 5, 5, 10, 5})) << "6 : 4 in four";
  EXPECT_EQ(deal_out(3, 5, 2, {3, 1}, DealOrder::block).sizes, (Sizes{3, 0})) << "one block in all";
}

TEST(Dealing, AlikeIsUniform) {
  for (const DealOrder order : {DealOrder::block, DealOrder::cyclic})
    for (const std::int64_t n : {0, 1, 7, 64, 100}) {
      const Axis axis = deal_out(n, 4, 3, {}, order);
      axis.validate();
      EXPECT_TRUE(axis.is_uniform()) << axis.describe();
      EXPECT_EQ(axis.sizes[0] % 4 == 0 || axis.sizes[0] >= n, true) << axis.describe();
    }
  EXPECT_EQ(deal_out(100, 4, 3, {}, DealOrder::block).sizes, (Sizes{36}));
  EXPECT_EQ(deal_out(100, 4, 3, {}, DealOrder::cyclic).sizes, (Sizes{4}));
}

/// Whole blocks, all of them, each position what is its due, whatever the order.
TEST(Dealing, Properties) {
  const std::vector<std::vector<double>> machines = {
      {1, 2}, {5, 3, 1}, {1, 1, 1, 0.5}, {100, 1, 1}, {0.3, 0.7, 0.2, 0.9}};
  for (const auto& shares : machines)
    for (const std::int64_t n : {1, 2, 5, 37, 100, 1000, 100003})
      for (const std::int64_t nb : {1, 3, 64, 2000})
        for (const DealOrder order : {DealOrder::block, DealOrder::cyclic}) {
          const int nprocs = static_cast<int>(shares.size());
          const Axis axis = deal_out(n, nb, nprocs, shares, order);
          SCOPED_TRACE(axis.describe().substr(0, 200));
          const Sizes due = gridmap::natural_blocks((n + nb - 1) / nb, shares);
          std::int64_t all = 0;
          for (int p = 0; p < nprocs; ++p) {
            const std::int64_t mine = axis.local_size(p), wanted = due[static_cast<std::size_t>(p)] * nb;
            all += mine;
            EXPECT_LE(mine, wanted);
            EXPECT_GT(mine, wanted - nb - (wanted == 0));
            EXPECT_TRUE(order == DealOrder::cyclic || axis.stretches(p).size() <= 1);
            for (const Axis::Stretch& s : axis.stretches(p)) {
              EXPECT_EQ(s.first % nb, 0);
              EXPECT_TRUE(s.last % nb == 0 || s.last == n);
            }
          }
          EXPECT_EQ(all, n);
          EXPECT_LE(axis.sizes.size(), std::size_t{1} << 16);
        }
}

TEST(Dealing, RefusesWhatIsNoShare) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(deal_out(10, 1, 2, {1, bad}, DealOrder::block), base::Error);
}

} // namespace
