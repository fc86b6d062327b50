// SPDX-License-Identifier: BSD-3-Clause
// Fields: every element's owner and local index against formulas written out here, dimension by dimension.
#include "gridmap/field.hpp"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "../errors.hpp"

namespace {
using gridmap::Axis;
using gridmap::FieldDimension;
using gridmap::FieldDimensions;

std::int64_t block_of(const FieldDimension& d, int parts) {
  return d.block > 0 ? d.block : std::max<std::int64_t>(1, (d.extent + parts - 1) / parts);
}

/// All index tuples in the order of the array, the first index running fastest.
void for_all(const FieldDimensions& dimensions, const std::function<void(const std::vector<std::int64_t>&)>& f) {
  std::vector<std::int64_t> i(dimensions.size(), 0);
  for (const FieldDimension& d : dimensions)
    if (d.extent == 0) return;
  for (;;) {
    f(i);
    std::size_t d = 0;
    while (d < i.size() && ++i[d] == dimensions[d].extent) i[d++] = 0;
    if (d == i.size()) return;
  }
}

/// The position of each element, and its place in that position's dense array of local extents.
void expect_dense(const FieldDimensions& dimensions, int nprocs) {
  const std::vector<int> parts = gridmap::parts_of(dimensions, nprocs);
  const Axis axis = gridmap::field_axis(dimensions, nprocs);
  SCOPED_TRACE(axis.describe());
  axis.validate();
  ASSERT_EQ(axis.nprocs, nprocs);
  std::int64_t number = 0;
  for_all(dimensions, [&](const std::vector<std::int64_t>& i) {
    std::int64_t p = 0, at = 0, positions = 1, stride = 1;
    std::vector<int> mine;
    for (std::size_t d = 0; d < i.size(); ++d) {
      const std::int64_t nb = block_of(dimensions[d], parts[d]), np = parts[d], n = dimensions[d].extent;
      const std::int64_t c = i[d] / nb % np;
      p += positions * c;
      positions *= np;
      std::int64_t extent = 0; // local
      for (std::int64_t k = 0; k < n; ++k) extent += k / nb % np == c;
      at += stride * (i[d] / (nb * np) * nb + i[d] % nb);
      stride *= extent;
      mine.push_back(static_cast<int>(c));
    }
    ASSERT_EQ(positions, nprocs);
    ASSERT_EQ(axis.owner(number), p) << "element " << number;
    ASSERT_EQ(axis.to_local(number), at) << "element " << number;
    ASSERT_EQ(axis.local_size(static_cast<int>(p)), stride);
    ASSERT_EQ(gridmap::coordinates(parts, static_cast<int>(p)), mine);
    ++number;
  });
  ASSERT_EQ(axis.n, number);
}

TEST(Field, EachLocalPartIsADenseArray) {
  std::mt19937 random(3);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  int cut_twice = 0;
  for (int round = 0; round < 3000; ++round) {
    FieldDimensions dimensions;
    for (int d = pick(1, 5); d > 0; --d)
      dimensions.push_back({pick(0, 20) == 0 ? 0 : pick(1, 6), pick(0, 1) * pick(1, 4), pick(0, 2) == 0 ? 1 : 0});
    if (gridmap::count_cut(dimensions) == 0) dimensions[0].parts = 0;
    cut_twice += gridmap::count_cut(dimensions) > 1;
    expect_dense(dimensions, pick(1, 12));
  }
  EXPECT_GT(cut_twice, 1000);
}

/// Three fixed cuts, as many as 3 x 2 x 2.
TEST(Field, CutAsAsked) {
  for (int a = 1; a <= 3; ++a)
    for (int b = 1; b <= 2; ++b)
      for (int c = 1; c <= 2; ++c)
        for (const std::int64_t block : {0, 1, 2, 3}) {
          const FieldDimensions dimensions{{5, block, a}, {7, 0, b}, {2, 0, 1}, {4, block, c}};
          expect_dense(dimensions, a * b * c);
          EXPECT_EQ(gridmap::parts_of(dimensions, a * b * c), (std::vector<int>{a, b, 1, c}));
        }
}

/// Brute force over all products of parts, by the definition in the header.
TEST(Field, TheLargestPartHasTheFewestElements) {
  for (const FieldDimensions& dimensions :
       {FieldDimensions{{100, 0, 0}, {100, 0, 0}, {100, 0, 0}}, FieldDimensions{{5, 0, 1}, {64, 0, 0}, {300, 8, 0}},
        FieldDimensions{{7, 0, 0}, {9, 2, 0}, {11, 0, 2}}, FieldDimensions{{3, 0, 0}, {200, 0, 0}}})
    for (int nprocs = 2; nprocs <= 24; nprocs += 2) {
      double least = 1e300;
      std::vector<int> best, now(dimensions.size(), 1);
      const std::function<void(std::size_t)> count_from = [&](std::size_t d) {
        if (d < now.size()) {
          for (now[d] = 1; now[d] <= nprocs; ++now[d]) count_from(d + 1);
          return;
        }
        double elements = 1;
        int product = 1;
        for (std::size_t k = 0; k < now.size(); ++k) {
          if (dimensions[k].parts > 0 && dimensions[k].parts != now[k]) return;
          product *= now[k];
          const std::int64_t nb = block_of(dimensions[k], now[k]), n = dimensions[k].extent;
          std::int64_t local = 0; // of the first part
          for (std::int64_t i = 0; i < n; ++i) local += i / nb % now[k] == 0;
          elements *= static_cast<double>(local + 2);
        }
        if (product != nprocs || elements >= least) return;
        least = elements;
        best = now;
      };
      count_from(0);
      EXPECT_EQ(gridmap::parts_of(dimensions, nprocs), best) << nprocs;
    }
  EXPECT_EQ(gridmap::parts_of({{100, 0, 0}, {100, 0, 0}, {100, 0, 0}}, 8), (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(gridmap::parts_of({{100, 0, 0}, {900, 0, 0}}, 3), (std::vector<int>{1, 3}));
}

TEST(Field, RowsEndBeforeTheLastDimensionThatIsCut) {
  const auto rows_of = [](const std::vector<int>& parts) {
    FieldDimensions all;
    for (const int count : parts) all.push_back({4, 0, count});
    const auto [rows, columns] = gridmap::rows_and_columns(all);
    EXPECT_EQ(rows.size() + columns.size(), all.size());
    return rows.size();
  };
  EXPECT_EQ(rows_of({1, 2, 3, 2}), 3U);
  EXPECT_EQ(rows_of({1, 0, 0, 1}), 2U);
  EXPECT_EQ(rows_of({0, 1, 1, 0, 1}), 3U);
  EXPECT_EQ(rows_of({1, 0, 1}), 2U); // one alone
  EXPECT_EQ(rows_of({0}), 1U);
  EXPECT_EQ(rows_of({1, 1, 1}), 1U);
}

/// Lists are as short as can be: what is not cut does not lengthen them.
TEST(Field, ListsAreShort) {
  EXPECT_TRUE(gridmap::field_axis({{5, 0, 1}, {64, 0, 0}}, 4).is_uniform());
  EXPECT_TRUE(gridmap::field_axis({{64, 0, 0}, {50, 0, 1}}, 4).is_uniform());
  EXPECT_EQ(gridmap::field_axis({{66, 0, 0}, {1000, 0, 1}}, 4).sizes.size(), 4U);
  EXPECT_EQ(gridmap::field_axis({{5, 0, 1}, {64, 0, 4}, {100, 0, 2}}, 8).sizes.size(), 400U);
}

TEST(Field, CoordinatesOfAPosition) {
  EXPECT_EQ(gridmap::coordinates({2, 1, 3, 2}, 7), (std::vector<int>{1, 0, 0, 1})); // 1 + 2 (0 + 1 (0 + 3 (1)))
}

std::string error_of(const FieldDimensions& dimensions, int nprocs) {
  const base::Error error = thrown_by([&] { gridmap::field_axis(dimensions, nprocs); });
  EXPECT_TRUE(error.status() == base::Status::bad_argument || error.status() == base::Status::success);
  return error.what();
}

TEST(Field, Refused) {
  EXPECT_EQ(
      error_of({{8, 0, 1}, {9, 0, 3}}, 4),
      "gridmap: dimensions of extents 8 x 9 cannot be cut over 4 processes by process_dims 1 x 3, expected numbers "
      "whose product is 4 or, with 0 among them, divides it");
  EXPECT_NE(error_of({{8, 0, 3}, {9, 0, 0}}, 4), "no error");
  EXPECT_NE(error_of({{8, 0, 8}, {9, 0, 0}}, 4), "no error");
  EXPECT_EQ(error_of({{8192, 1, 2}, {2049, 0, 2}}, 4),
            "gridmap: a field of 8192 x 2049 elements needs a list of 8192 x 2049 runs, expected at most 16777216; "
            "choose larger blocks, or cut later dimensions alone");
  EXPECT_EQ(error_of({{8192, 2, 2}, {2049, 0, 2}}, 4), "no error");
}

} // namespace
