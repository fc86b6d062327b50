// SPDX-License-Identifier: BSD-3-Clause
// On which processes the shapes of matrices lie: each rank's place, its size, and what a rule is asked with. What a
// process that joins or wakes takes over of their rules.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "grid/matrices.hpp"
#include "grid/matrix_grid.hpp"

namespace {

using blacs_dyn::GridMap;
using blacs_dyn::MatrixGrid;
using blacs_dyn::Shape;
using gridmap::Axis;
using Kind = MatrixGrid::Kind;
using Place = std::pair<int, int>;

GridMap grid_of(Shape shape) {
  GridMap map;
  map.shape = shape;
  for (int rank = 0; rank < shape.size(); ++rank) map.speeds.push_back(rank + 1);
  return map;
}

/// Counted out from the meaning of each shape.
Place expected(const MatrixGrid& lies_on, Shape grid, int rank) {
  const int p = rank / grid.npcol, q = rank % grid.npcol;
  switch (lies_on.kind) {
  case Kind::row:
    return {0, rank};
  case Kind::column:
    return {rank, 0};
  case Kind::all:
    return {0, 0};
  case Kind::each_row:
    return {0, q};
  case Kind::each_column:
    return {p, 0};
  case Kind::first:
    return p < lies_on.most.nprow && q < lies_on.most.npcol ? Place{p, q} : Place{-1, -1};
  case Kind::grid:
    break;
  }
  return {p, q};
}

TEST(MatrixGrid, EachRankHasItsPlace) {
  constexpr std::int64_t m = 13, n = 17;
  const std::vector<MatrixGrid> all{{Kind::grid},          {Kind::row},      {Kind::column},
                                    {Kind::first},         {Kind::all},      {Kind::first, {2, 3}},
                                    {Kind::first, {9, 1}}, {Kind::each_row}, {Kind::each_column}};
  for (const Shape grid : {Shape{1, 1}, Shape{2, 3}, Shape{3, 2}, Shape{1, 5}, Shape{4, 4}})
    for (const MatrixGrid& lies_on : all) {
      const GridMap map = lies_on.map_on(grid_of(grid), 'R'), map_of_cols = lies_on.map_on(grid_of(grid), 'C');
      const redist::Layout layout = lies_on.layout(Axis::block_cyclic(m, 2, map.shape.nprow),
                                                   Axis::block_cyclic(n, 3, map_of_cols.shape.npcol), grid);
      layout.validate("test");
      std::int64_t sum = 0;
      for (int rank = 0; rank < grid.size(); ++rank) {
        EXPECT_EQ(layout.axes_of(rank), expected(lies_on, grid, rank)) << to_string(grid) << lies_on.text();
        const auto [p, q] = layout.axes_of(rank);
        const redist::LocalSize size = layout.local_size_of(rank);
        sum += size.rows * size.cols;
        if (p < 0 || lies_on.is_copied()) continue;
        EXPECT_EQ(map.speeds[static_cast<std::size_t>(p * map.shape.npcol + q)], rank + 1)
            << "what a rule is asked with";
      }
      const int copies = lies_on.kind == Kind::all           ? grid.size()
                         : lies_on.kind == Kind::each_row    ? grid.nprow
                         : lies_on.kind == Kind::each_column ? grid.npcol
                                                             : 1;
      EXPECT_EQ(sum, m * n * copies) << to_string(grid) << lies_on.text();
      EXPECT_EQ(lies_on.copies_on(grid), copies);
      EXPECT_EQ(layout.local_size_of(grid.size()).rows, 0) << "of a rank outside";
    }
}

TEST(MatrixGrid, ARuleIsAskedForACutAxisAsForTheWholeGrid) {
  const GridMap grid = grid_of({2, 3});
  const MatrixGrid row{Kind::each_row}, column{Kind::each_column};
  EXPECT_EQ(column.map_on(grid, 'R').shape, grid.shape);
  EXPECT_EQ(column.map_on(grid, 'R').speeds, grid.speeds);
  EXPECT_EQ(column.map_on(grid, 'C').shape, (Shape{2, 1}));
  EXPECT_EQ(row.map_on(grid, 'C').shape, grid.shape);
  EXPECT_EQ(row.map_on(grid, 'R').shape, (Shape{1, 3}));
}

TEST(MatrixGrid, OtherRanksKeepTheirPlaces) {
  const Shape grid{2, 3};
  redist::Layout layout = MatrixGrid{Kind::first, {2, 2}}.layout(Axis::block(4, 2), Axis::block(4, 2), grid);
  EXPECT_EQ(layout.grid.ranks, (std::vector<int>{0, 1, 3, 4}));
  layout.grid.renumber({5, 4, 3, 2, 1, 0});
  EXPECT_EQ(layout.grid.ranks, (std::vector<int>{5, 4, 2, 1}));
  EXPECT_EQ(layout.axes_of(2), (Place{1, 0}));
  EXPECT_EQ(layout.axes_of(3), (Place{-1, -1}));
}

TEST(MatrixGrid, RefusesWhatIsNoShape) {
  EXPECT_NO_THROW((MatrixGrid{Kind::first, {1, 9}}.check("f")));
  for (const MatrixGrid& bad : {MatrixGrid{static_cast<Kind>(-1)}, MatrixGrid{static_cast<Kind>(7)},
                                MatrixGrid{Kind::first, {0, 1}}, MatrixGrid{Kind::first, {1, -3}}})
    EXPECT_THROW(bad.check("f"), base::Error);
}

/// In one block of each.
std::int64_t whole(void*, char, std::int64_t length, int, int, std::int64_t* sizes) {
  if (sizes) *sizes = length;
  return 1;
}

/// The others made the matrix by a rule; a new process made it in blocks and set the rule before it joined. Then all
/// set a rule, and the others one more, while that process slept.
TEST(Matrices, AProcessThatMissedARuleDoesNotKeepItsOwn) {
  constexpr std::int64_t n = 8;
  blacs_dyn::Matrices others, mine;
  blacs_dyn::Matrix* const theirs = others.create({"a", 'd', {'R', n, 1, whole}, {'C', n, 1, whole}}, {});
  theirs->layout = redist::Layout::row_major(Axis::block_cyclic(n, n, 1), Axis::block_cyclic(n, n, 1));
  blacs_dyn::Matrix* const own = mine.create({"a", 'd', {'R', n, 1, whole}, {'C', n, 1, whole}}, {});
  own->relayouts = 1;
  const auto receive = [&](bool is_new) {
    blacs_dyn::Packet sent;
    others.write(sent);
    mine.read(sent, is_new, is_new);
  };
  receive(true);
  EXPECT_FALSE(own->lacks_rule());
  ++theirs->relayouts;
  ++own->relayouts;
  ++theirs->relayouts;
  receive(false);
  EXPECT_TRUE(own->lacks_rule());
}

TEST(Matrices, BytesThatNoNumberHoldsAreNotFew) {
  blacs_dyn::Matrix a;
  a.type = 'z';
  EXPECT_EQ(a.bytes({1 << 30, 1 << 30}), SIZE_MAX); // 2^64
  EXPECT_EQ(a.bytes({1 << 30, 1 << 29}), std::size_t{1} << 63);
}

} // namespace
