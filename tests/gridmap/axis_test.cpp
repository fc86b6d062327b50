// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/axis.hpp"

#include <climits>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "naive.hpp"

namespace {
using gridmap::Axis;

void expect_like_definition(const Axis& axis) {
  SCOPED_TRACE(axis.describe());
  const std::vector<int> owners = naive::owners(axis);
  std::vector<std::int64_t> local(static_cast<std::size_t>(axis.nprocs), 0);
  for (std::int64_t i = 0; i < axis.n; ++i) {
    const int p = owners[static_cast<std::size_t>(i)];
    ASSERT_EQ(axis.owner(i), p) << "element " << i;
    const std::int64_t i_loc = local[static_cast<std::size_t>(p)]++;
    ASSERT_EQ(axis.to_local(i), i_loc) << "element " << i;
    ASSERT_EQ(axis.count_before(p, i), i_loc) << "element " << i;
    ASSERT_EQ(axis.count_before(p, i + 1), i_loc + 1) << "element " << i;
    ASSERT_EQ(axis.to_global(i_loc, p), i) << "element " << i;
  }
  for (int p = 0; p < axis.nprocs; ++p)
    ASSERT_EQ(axis.local_size(p), local[static_cast<std::size_t>(p)]) << "position " << p;
  for (int p = 0; p < axis.nprocs; ++p) {
    std::int64_t i_loc = 0, end = -1;
    for (const Axis::Stretch& s : axis.stretches(p)) {
      ASSERT_GT(s.first, end) << "joined with the one before, position " << p;
      for (std::int64_t i = s.first; i < s.last; ++i) ASSERT_EQ(axis.to_global(i_loc++, p), i) << "position " << p;
      end = s.last;
    }
    ASSERT_EQ(i_loc, axis.local_size(p)) << "position " << p;
    const std::int64_t from = axis.n / 3;
    i_loc = axis.count_before(p, from);
    gridmap::StretchWalk walk(axis, p, from);
    for (Axis::Stretch s = walk.next(); s.first < s.last; s = walk.next())
      for (std::int64_t i = s.first; i < s.last; ++i) ASSERT_EQ(axis.to_global(i_loc++, p), i) << "from " << from;
    ASSERT_EQ(i_loc, axis.local_size(p)) << "from " << from;
  }
}

TEST(Axis, ExampleOfTheDeclaration) {
  const Axis axis = Axis::heterogeneous(10, {2, 1}, 2);
  const std::vector<int> wanted{0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(axis.owner(i), wanted[static_cast<std::size_t>(i)]);
  EXPECT_EQ(axis.local_size(0), 7);
  EXPECT_EQ(axis.local_size(1), 3);
}

TEST(Axis, AgreesWithTheDefinitionElementByElement) {
  std::mt19937 gen(1);
  for (int round = 0; round < 4000; ++round) {
    const int nprocs = std::uniform_int_distribution<int>(1, 9)(gen);
    expect_like_definition(naive::random_axis(gen, std::uniform_int_distribution<int>(0, 70)(gen), nprocs));
  }
}

TEST(Axis, WithoutOwnersTheSame) {
  std::mt19937 gen(2);
  for (int round = 0; round < 2000; ++round) {
    const int nprocs = std::uniform_int_distribution<int>(1, 9)(gen);
    const Axis axis = naive::random_axis(gen, std::uniform_int_distribution<int>(0, 70)(gen), nprocs);
    const Axis in_turn = axis.in_turn();
    ASSERT_TRUE(in_turn.owners.empty());
    in_turn.validate();
    ASSERT_EQ(naive::owners(in_turn), naive::owners(axis)) << axis.describe() << "; " << in_turn.describe();
  }
}

TEST(Axis, OwnedInTheShortestForm) {
  std::mt19937 gen(3);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
  for (int round = 0; round < 2000; ++round) {
    const int nprocs = pick(1, 4);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(pick(1, 9)));
    std::vector<int> owners(sizes.size()), each;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      sizes[j] = pick(0, 3);
      owners[j] = pick(0, nprocs - 1);
      each.insert(each.end(), static_cast<std::size_t>(sizes[j]), owners[j]);
    }
    const Axis axis = Axis::owned(sizes, owners, nprocs);
    axis.validate();
    ASSERT_EQ(naive::owners(axis), each) << axis.describe();
    for (std::size_t j = 1; j < axis.owners.size(); ++j) ASSERT_NE(axis.owners[j - 1], axis.owners[j]);
    for (const std::int64_t size : axis.sizes) ASSERT_GT(size, 0);
    expect_like_definition(axis);
  }
  EXPECT_EQ(Axis::owned({2, 2, 2, 1}, {1, 2, 0, 1}, 3), Axis::block_cyclic(7, 2, 3, 1));
  EXPECT_EQ(Axis::owned({2, 3, 2}, {1, 2, 0}, 3), Axis::heterogeneous(7, {2, 3, 2}, 3, 1));
  EXPECT_EQ(Axis::owned({2, 2, 4}, {0, 0, 1}, 2), Axis::block(8, 2));
  EXPECT_EQ(Axis::owned({3, 0, 4}, {2, 0, 2}, 3), Axis::block_cyclic(7, 7, 3, 2)); // all on one
  EXPECT_EQ(Axis::owned({0, 0}, {1, 0}, 3), Axis::block_cyclic(0, 1, 3));
  EXPECT_EQ(Axis::owned({1, 2, 1}, {0, 2, 1}, 3), (Axis{4, {1, 2, 1}, 0, 3, {0, 2, 1}}));
}

TEST(Axis, PositionsThatOwnNothing) {
  expect_like_definition(Axis::heterogeneous(13, {0, 3, 0, 2}, 2));
  expect_like_definition(Axis::heterogeneous(13, {0, 3, 0, 2}, 4, 3));
  expect_like_definition(Axis::block(3, 7));
  expect_like_definition(Axis::variable({0, 5, 0, 1, 0}));
  EXPECT_EQ(Axis::block(0, 3).local_size(1), 0);
}

// k and nprocs with a large common multiple: the cost is O(k), so a hundred thousand queries take no time.
TEST(Axis, LongPeriodsAndLargeIndices) {
  std::vector<std::int64_t> sizes;
  for (int j = 0; j < 97; ++j) sizes.push_back(j % 5);
  const Axis axis = Axis::heterogeneous(5'000'000'000'000, sizes, 10007, 3);
  std::int64_t sum = 0;
  for (int p = 0; p < axis.nprocs; ++p) sum += axis.local_size(p);
  EXPECT_EQ(sum, axis.n);
  for (std::int64_t i = 4'999'999'000'000; i < axis.n; i += 9973) {
    const int p = axis.owner(i);
    const std::int64_t i_loc = axis.to_local(i);
    ASSERT_EQ(axis.to_global(i_loc, p), i);
    ASSERT_LT(i_loc, axis.local_size(p));
  }
  const Axis wide = Axis::block_cyclic(10, 1, INT_MAX, 1); // p - src + nprocs is more than an int holds
  EXPECT_EQ(wide.local_size(INT_MAX - 1), 0);
  EXPECT_EQ(wide.local_size(10), 1);
  EXPECT_TRUE(wide.stretches(INT_MAX - 1).empty());
  EXPECT_EQ(Axis::block(INT64_MAX, 2).sizes[0], std::int64_t{1} << 62);
}

TEST(Axis, SaysWhatIsWrong) {
  const auto message = [](const Axis& axis) -> std::string {
    const base::Error error = thrown_by([&] { axis.validate(); });
    EXPECT_TRUE(error.status() == base::Status::bad_argument || error.status() == base::Status::success);
    return error.what();
  };
  EXPECT_EQ(message(Axis{-1, {1}, 0, 1}), "gridmap: axis: n is -1, expected at least 0");
  EXPECT_EQ(message(Axis{4, {1}, 0, 0}), "gridmap: axis: nprocs is 0, expected at least 1");
  EXPECT_EQ(message(Axis{4, {1}, 2, 2}), "gridmap: axis: src is 2, expected 0 .. 1");
  EXPECT_EQ(message(Axis{4, {}, 0, 2}), "gridmap: axis: no block sizes, expected at least one");
  EXPECT_EQ(message(Axis{4, {2, -3}, 0, 2}), "gridmap: axis: block size 1 is -3, expected at least 0");
  EXPECT_EQ(message(Axis{4, {0, 0}, 0, 2}), "gridmap: axis: all block sizes are 0, but n is 4");
  EXPECT_NE(message(Axis{4, {std::int64_t{1} << 62, std::int64_t{1} << 62}, 0, 2}), "no error");
  EXPECT_NE(message(Axis{4, {std::int64_t{1} << 62}, 0, 2}), "no error");
  EXPECT_EQ(message(Axis{0, {0}, 0, 1}), "no error");
  EXPECT_EQ(message(Axis{4, {2, 2}, 0, 2, {1}}), "gridmap: axis: 1 owners, expected one for each of 2 blocks");
  EXPECT_EQ(message(Axis{4, {2, 2}, 0, 2, {1, 2}}), "gridmap: axis: owner of block 1 is 2, expected 0 .. 1");
  EXPECT_EQ(message(Axis{4, {2, 2}, 0, 2, {-1, 1}}), "gridmap: axis: owner of block 0 is -1, expected 0 .. 1");
}
} // namespace
