// SPDX-License-Identifier: BSD-3-Clause
// Plans of borders, carried out in one process for all ranks at once and compared element by element.
#include <algorithm>
#include <limits>
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
  std::vector<std::int64_t> indices = brute::indices_of(list, source);
  EXPECT_EQ(static_cast<std::int64_t>(indices.size()), list.total);
  return indices;
}

/// The elements of a part of a message in the order of the wire, as offsets into the array of the sender or receiver.
std::vector<std::size_t> places_of(const Message& part, bool source, std::int64_t lld) {
  std::vector<std::size_t> offsets;
  for (const std::int64_t j : pieces(*part.cols, source))
    for (const std::int64_t i : pieces(*part.rows, source)) offsets.push_back(static_cast<std::size_t>(i + j * lld));
  return offsets;
}

/// The same of a whole message.
std::vector<std::size_t> places(const HaloMessage& message, bool source, std::int64_t lld) {
  std::vector<std::size_t> offsets;
  for (const Message& part : message.parts) {
    EXPECT_EQ(part.peer, message.peer);
    const std::vector<std::size_t> more = places_of(part, source, lld);
    offsets.insert(offsets.end(), more.begin(), more.end());
  }
  EXPECT_EQ(static_cast<std::int64_t>(offsets.size()), message.elements());
  return offsets;
}

/// Dimensions of rows, then those of columns, and which grid they lie on.
struct Case {
  std::vector<HaloDimension> rows, cols;
  Grid grid;
  Neighbours neighbours;

  std::vector<HaloDimension> all() const {
    std::vector<HaloDimension> both = rows;
    both.insert(both.end(), cols.begin(), cols.end());
    return both;
  }
  /// The part of each dimension that a rank has.
  std::vector<int> parts_of(int rank) const {
    auto [p, q] = grid.position_of(rank);
    std::vector<int> parts;
    for (const HaloDimension& d : rows) {
      parts.push_back(p % d.axis.nprocs);
      p /= d.axis.nprocs;
    }
    for (const HaloDimension& d : cols) {
      parts.push_back(q % d.axis.nprocs);
      q /= d.axis.nprocs;
    }
    return parts;
  }
};

/// What lies at place k of a ghosted array: the number of the element in the whole, and in how many dimensions it is
/// of the border. -1: outside.
struct Element {
  std::int64_t number = 0;
  int borders = 0;
};
Element element_at(const std::vector<std::vector<brute::GhostedPlace>>& places,
                   const std::vector<HaloDimension>& dimensions, std::size_t k) {
  Element element;
  std::int64_t stride = 1;
  bool is_outside = false;
  for (std::size_t d = 0; d < places.size(); ++d) {
    const brute::GhostedPlace& place = places[d][k % places[d].size()];
    k /= places[d].size();
    is_outside = is_outside || place.glo < 0;
    element.number += place.glo * stride;
    element.borders += place.border ? 1 : 0;
    stride *= dimensions[d].axis.n;
  }
  if (is_outside) element.number = -1;
  return element;
}

void check(const HaloPlan& plan, const Case& of_case, const std::string& what) {
  const std::vector<HaloDimension> dimensions = of_case.all();
  std::map<int, RankHalo> of;
  std::map<int, std::vector<std::int64_t>> before, after;
  std::map<int, std::vector<std::vector<brute::GhostedPlace>>> all_places;
  for (const int rank : of_case.grid.ranks) {
    RankHalo mine = plan.for_rank(rank);
    const std::vector<int> parts = of_case.parts_of(rank);
    std::int64_t elements = 1, local_elements = 1;
    auto& places = all_places[rank];
    ASSERT_EQ(mine.parts.size(), dimensions.size());
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      places.push_back(brute::ghosted(dimensions[d].axis, parts[d], dimensions[d].sides));
      ASSERT_EQ(mine.parts[d].ghosted, static_cast<std::int64_t>(places[d].size())) << what;
      ASSERT_EQ(mine.parts[d].local, dimensions[d].axis.local_size(parts[d])) << what;
      elements *= mine.parts[d].ghosted;
      local_elements *= mine.parts[d].local;
      std::int64_t loc = 0;
      for (const HaloStretch& s : mine.parts[d].stretches) {
        ASSERT_EQ(s.loc, loc) << what;
        for (std::int64_t k = 0; k < s.size; ++k, ++loc) {
          const auto& place = places[d][static_cast<std::size_t>(s.ghosted + k)];
          ASSERT_TRUE(place.glo == s.glo + k && !place.border) << what;
        }
      }
    }
    ASSERT_EQ(mine.rows * mine.cols, elements) << what;
    ASSERT_EQ(mine.m_loc * mine.n_loc, local_elements) << what;
    auto& array = before[rank];
    array.assign(static_cast<std::size_t>(elements), outside);
    std::vector<std::size_t> interior;
    for (std::size_t k = 0; k < array.size(); ++k)
      if (const Element e = element_at(places, dimensions, k); e.borders == 0) {
        array[k] = e.number;
        interior.push_back(k);
      }
    // the local array has the same elements in the same order, without gaps
    ASSERT_EQ(places_of(mine.interior, false, mine.rows), interior) << what;
    const std::vector<std::size_t> local = places_of(mine.interior, true, mine.m_loc);
    for (std::size_t k = 0; k < local.size(); ++k) ASSERT_EQ(local[k], k) << what;
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
  for (const auto& [rank, array] : after)
    for (std::size_t k = 0; k < array.size(); ++k) {
      const Element e = element_at(all_places[rank], dimensions, k);
      const bool is_there = e.number >= 0 && !(e.borders > 1 && of_case.neighbours == Neighbours::four);
      ASSERT_EQ(array[k], is_there ? e.number : outside) << what << ", rank " << rank << ", place " << k;
    }
}

void check(const Layout& layout, const HaloOptions& options, const std::string& what) {
  check(HaloPlan(layout, options),
        {{{layout.rows, options.rows}}, {{layout.cols, options.cols}}, layout.grid, options.neighbours}, what);
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

TEST(Halo, RandomFieldsOfUpTo5Dimensions) {
  std::mt19937 random(20261127);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 300; ++round) {
    Case one;
    const int dims = pick(1, 5), rows = pick(1, dims);
    int nprow = 1, npcol = 1;
    for (int d = 0; d < dims; ++d) {
      int& count = d < rows ? nprow : npcol;
      const int parts = pick(1, count > 2 ? 1 : 3), n = pick(dims > 3 ? 1 : 0, dims > 3 ? 4 : 9);
      count *= parts;
      const Axis axis = pick(0, 1) == 0 ? Axis::block(n, parts) : Axis::block_cyclic(n, pick(1, 3), parts);
      (d < rows ? one.rows : one.cols).push_back({axis, {pick(0, 2), pick(0, 2), pick(0, 1) == 0}});
    }
    one.rows[0].sides.hi = 1;
    one.grid = Grid::row_major(nprow, npcol, pick(0, 3));
    std::shuffle(one.grid.ranks.begin(), one.grid.ranks.end(), random);
    one.neighbours = pick(0, 1) == 0 ? Neighbours::four : Neighbours::eight;
    check(HaloPlan(one.rows, one.cols, one.grid, one.neighbours), one, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(Halo, NeighboursOfABoxByHand) {
  // 3 x 3 x 3 processes, 9 x 9 x 9 elements, one block each: the middle has 26 neighbours
  const HaloDimension d{Axis::block(9, 3), {}};
  const HaloPlan plan({d, d}, {d}, Grid::row_major(9, 3), Neighbours::eight);
  const RankHalo middle = plan.for_rank(4 * 3 + 1);
  ASSERT_EQ(middle.recvs.size(), 26u);
  std::int64_t elements = 0;
  for (const HaloMessage& message : middle.recvs) elements += message.elements();
  EXPECT_EQ(elements, 5 * 5 * 5 - 27);
  EXPECT_EQ(plan.for_rank(0).recvs.size(), 7u); // a corner
  EXPECT_EQ(HaloPlan({d, d}, {d}, Grid::row_major(9, 3), Neighbours::four).for_rank(13).recvs.size(), 6u);
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
  const HaloDimension d{layout.rows, {}};
  EXPECT_THROW(HaloPlan({d, d}, {d}, layout.grid, Neighbours::four), base::Error);
  EXPECT_THROW(HaloPlan({d}, {}, layout.grid, Neighbours::four), base::Error); // a 3 x 3 grid
  EXPECT_THROW(HaloPlan(Layout::replicated_on(Grid::row_major(2, 2), 5, 5)), base::Error);
  EXPECT_THROW(HaloPlan(Layout{Axis::block(9, 3), Axis::block(5, 1), Grid::row_major(3, 3), false, true}), base::Error);
  Layout wrong = layout;
  wrong.grid.ranks[1] = 0;
  EXPECT_THROW(HaloPlan{wrong}, base::Error);
  constexpr int widest = std::numeric_limits<int>::max();
  const HaloDimension wide{Axis::block(2, 1), {widest, widest}};
  const HaloPlan too_wide({wide, wide}, {wide}, Grid::row_major(1, 1), Neighbours::four);
  EXPECT_THROW(too_wide.for_rank(0), base::Error); // 2^64 rows
}

} // namespace
