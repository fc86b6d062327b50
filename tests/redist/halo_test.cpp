// SPDX-License-Identifier: BSD-3-Clause
// Plans of borders, carried out in one process for all ranks at once and compared element by element.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "halo_brute.hpp"

using namespace redist;
using gridmap::Axis;

namespace {

constexpr std::int64_t outside = -7;

std::vector<std::int64_t> pieces(const RunList& list, bool source) {
  std::vector<std::int64_t> indices;
  for (const Run& run : list.runs)
    for (std::int64_t t = 0; t < run.count; ++t)
      for (std::int64_t i = 0; i < run.len; ++i)
        indices.push_back(source ? run.from + t * run.from_step + i : run.to + t * run.to_step + i);
  EXPECT_EQ(static_cast<std::int64_t>(indices.size()), list.total);
  return indices;
}

/// The elements of a message in the order of the wire, as offsets into the sender's or the receiver's ghosted
/// array.
std::vector<std::size_t> places(const HaloMessage& message, bool source, std::int64_t lld) {
  std::vector<std::size_t> offsets;
  for (const Message& part : message.parts) {
    EXPECT_EQ(part.peer, message.peer);
    for (const std::int64_t j : pieces(*part.cols, source))
      for (const std::int64_t i : pieces(*part.rows, source)) offsets.push_back(static_cast<std::size_t>(i + j * lld));
  }
  EXPECT_EQ(static_cast<std::int64_t>(offsets.size()), message.elements());
  return offsets;
}

void check(const Layout& layout, const HaloOptions& options, const std::string& what) {
  const HaloPlan plan(layout, options);
  std::map<int, RankHalo> of;
  std::map<int, std::vector<std::int64_t>> before, after;
  std::map<int, std::vector<brute::GhostedPlace>> row_places, col_places;
  for (const int rank : layout.grid.ranks) {
    RankHalo mine = plan.for_rank(rank);
    const auto [p, q] = layout.grid.position_of(rank);
    row_places[rank] = brute::ghosted(layout.rows, p, options.rows);
    col_places[rank] = brute::ghosted(layout.cols, q, options.cols);
    ASSERT_EQ(mine.rows, static_cast<std::int64_t>(row_places[rank].size())) << what;
    ASSERT_EQ(mine.cols, static_cast<std::int64_t>(col_places[rank].size())) << what;
    ASSERT_EQ(mine.m_loc, layout.local_rows(p)) << what;
    ASSERT_EQ(mine.n_loc, layout.local_cols(q)) << what;
    std::int64_t loc = 0;
    for (const HaloStretch& s : mine.row_stretches) {
      ASSERT_EQ(s.loc, loc) << what;
      for (std::int64_t k = 0; k < s.size; ++k, ++loc) {
        const auto& place = row_places[rank][static_cast<std::size_t>(s.ghosted + k)];
        ASSERT_TRUE(place.glo == s.glo + k && !place.border) << what;
      }
    }
    auto& array = before[rank];
    array.assign(static_cast<std::size_t>(mine.rows * mine.cols), outside);
    for (std::int64_t j = 0; j < mine.cols; ++j)
      for (std::int64_t i = 0; i < mine.rows; ++i) {
        const auto r = row_places[rank][static_cast<std::size_t>(i)], c = col_places[rank][static_cast<std::size_t>(j)];
        if (!r.border && !c.border) array[static_cast<std::size_t>(i + j * mine.rows)] = r.glo * layout.cols.n + c.glo;
      }
    after[rank] = array;
    of.emplace(rank, std::move(mine));
  }
  std::size_t sent = 0, received = 0;
  const auto carry = [&](int source, const HaloMessage& out, int target, const HaloMessage& in) {
    const auto from = places(out, true, of[source].rows), to = places(in, false, of[target].rows);
    ASSERT_EQ(from.size(), to.size()) << what;
    for (std::size_t k = 0; k < from.size(); ++k) {
      ASSERT_EQ(after[target][to[k]], outside) << what << ": written twice";
      after[target][to[k]] = before[source][from[k]]; // elements of the interior only, or what is compared will differ
    }
  };
  for (const auto& [rank, mine] : of) {
    ASSERT_TRUE(std::is_sorted(mine.recvs.begin(), mine.recvs.end(),
                               [](const HaloMessage& a, const HaloMessage& b) { return a.peer < b.peer; }));
    sent += mine.sends.size();
    received += mine.recvs.size();
    for (const HaloMessage& in : mine.recvs) {
      ASSERT_NE(in.peer, rank) << what;
      const auto& sends = of[in.peer].sends;
      const int target = rank;
      const auto out = std::find_if(sends.begin(), sends.end(), [&](const HaloMessage& m) { return m.peer == target; });
      ASSERT_TRUE(out != sends.end()) << what;
      carry(in.peer, *out, rank, in);
    }
    ASSERT_LE(mine.keeps.size(), 1u) << what;
    for (const HaloMessage& keep : mine.keeps) carry(rank, keep, rank, keep);
  }
  ASSERT_EQ(sent, received) << what;
  for (const auto& [rank, array] : after) {
    const std::int64_t rows = of[rank].rows;
    for (std::size_t k = 0; k < array.size(); ++k) {
      const auto r = row_places[rank][k % static_cast<std::size_t>(rows)],
                 c = col_places[rank][k / static_cast<std::size_t>(rows)];
      const bool corner = r.border && c.border;
      const bool is_written = r.glo >= 0 && c.glo >= 0 && !(corner && options.neighbours == Neighbours::four);
      ASSERT_EQ(array[k], is_written ? r.glo * layout.cols.n + c.glo : outside)
          << what << ", rank " << rank << ", place " << k;
    }
  }
}

TEST(Halo, EveryUniformAxisUpTo4) {
  for (int P = 1; P <= 4; ++P)
    for (int nb = 1; nb <= 4; ++nb)
      for (int n = 0; n <= 13; ++n)
        for (int lo = 0; lo <= 3; ++lo)
          for (const bool periodic : {false, true})
            for (const Neighbours neighbours : {Neighbours::four, Neighbours::eight}) {
              const int Q = P % 3 + 1;
              const Layout layout{Axis::block_cyclic(n, nb, P, n % P), Axis::block_cyclic(7, 2, Q),
                                  Grid::row_major(P, Q)};
              check(layout, {{lo, 3 - lo, periodic}, {2, lo, !periodic}, neighbours}, layout.rows.describe());
              if (HasFatalFailure()) return;
            }
}

TEST(Halo, RandomLayoutsOfEveryKind) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 1500; ++round) {
    const int P = 1 + static_cast<int>(random() % 4), Q = 1 + static_cast<int>(random() % 4);
    const Layout layout = brute::random_layout(random, P, Q, static_cast<int>(random() % 5), 20);
    check(layout, brute::random_options(random),
          "round " + std::to_string(round) + ": " + layout.rows.describe() + " x " + layout.cols.describe());
    if (HasFatalFailure()) return;
  }
}

TEST(Halo, EightNeighboursOfABlockByHand) {
  // 3 x 3 processes, 9 x 9 elements, one block each: the middle has eight neighbours and 4 * 3 + 4 border
  // elements
  const Layout layout{Axis::block(9, 3), Axis::block(9, 3), Grid::row_major(3, 3)};
  const RankHalo middle = HaloPlan(layout).for_rank(4);
  ASSERT_EQ(middle.recvs.size(), 8u);
  ASSERT_EQ(middle.sends.size(), 8u);
  const std::int64_t sizes[] = {1, 3, 1, 3, 3, 1, 3, 1};
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(middle.recvs[k].elements(), sizes[k]);
  EXPECT_EQ(HaloPlan(layout).for_rank(0).recvs.size(), 3u);
  EXPECT_EQ(HaloPlan(layout, {{}, {}, Neighbours::four}).for_rank(4).recvs.size(), 4u);
  EXPECT_EQ(HaloPlan(layout, {{1, 1, true}, {1, 1, true}}).for_rank(0).recvs.size(), 8u);
  EXPECT_TRUE(HaloPlan(layout).for_rank(9).recvs.empty());
  std::size_t messages = 0;
  for (int rank = 0; rank < 9; ++rank) messages += HaloPlan(layout).for_rank(rank).recvs.size();
  EXPECT_EQ(messages, 40u); // 4 corners * 3 + 4 edges * 5 + 8
}

TEST(Halo, SidesOfTheirOwnByHand) {
  // as above; two rows above a block, one column right of it, nothing below and left
  const Layout layout{Axis::block(9, 3), Axis::block(9, 3), Grid::row_major(3, 3)};
  const RankHalo middle = HaloPlan(layout, {{2, 0}, {0, 1}}).for_rank(4);
  EXPECT_EQ(middle.rows, 5);
  EXPECT_EQ(middle.cols, 4);
  ASSERT_EQ(middle.recvs.size(), 3u); // from above, above right and right
  EXPECT_EQ(middle.recvs[0].peer, 1);
  EXPECT_EQ(middle.recvs[0].elements(), 6);
  EXPECT_EQ(middle.recvs[1].peer, 2);
  EXPECT_EQ(middle.recvs[1].elements(), 2);
  EXPECT_EQ(middle.recvs[2].peer, 5);
  EXPECT_EQ(middle.recvs[2].elements(), 3);
  ASSERT_EQ(middle.sends.size(), 3u); // left, below left and below
  EXPECT_EQ(middle.sends[0].peer, 3);
  EXPECT_EQ(middle.sends[1].peer, 6);
  EXPECT_EQ(middle.sends[2].peer, 7);
}

TEST(Halo, RunListsOfBlockCyclicLayoutsStayShort) {
  const Layout layout{Axis::block_cyclic(120000, 10, 4), Axis::block_cyclic(120000, 10, 3), Grid::row_major(4, 3)};
  const RankHalo mine = HaloPlan(layout, {{2, 2, true}, {2, 2, true}}).for_rank(5);
  for (const RunList& list : mine.lists) EXPECT_LE(list.runs.size(), 3u);
  EXPECT_EQ(mine.recvs.size(), 8u);
}

TEST(Halo, Refusals) {
  const Layout layout{Axis::block(9, 3), Axis::block(9, 3), Grid::row_major(3, 3)};
  EXPECT_THROW(HaloPlan(layout, {{0, 0}, {0, 0}}), base::Error);
  EXPECT_THROW(HaloPlan(layout, {{1, -1}, {1, 1}}), base::Error);
  EXPECT_THROW(HaloPlan(Layout::replicated_on(Grid::row_major(2, 2), 5, 5)), base::Error);
  Layout wrong = layout;
  wrong.grid.ranks[1] = 0;
  EXPECT_THROW(HaloPlan{wrong}, base::Error);
}

} // namespace
