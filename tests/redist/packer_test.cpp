// SPDX-License-Identifier: BSD-3-Clause
// Several messages that leave the same columns together, judged element by element.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "brute.hpp"
#include "pack/together.hpp"

using redist::Run;
using redist::RunList;
using redist::detail::copy_runs_of;
using redist::detail::CopyRun;
using redist::detail::Outgoing;
using redist::detail::PackedView;

namespace {

std::mt19937 random_bits(20261121);

std::int64_t any(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random_bits);
}

/// Deals rows 0 .. height-1 out to `members` lists in blocks of `nb`, in turn, with a last block that may be shorter;
/// the targets' rows are dense. A list that is not `in_order` is packed last run first.
std::vector<RunList> deal(std::int64_t height, std::int64_t nb, int members, bool in_order) {
  std::vector<RunList> lists(static_cast<std::size_t>(members));
  for (int k = 0; k < members; ++k) {
    RunList& list = lists[static_cast<std::size_t>(k)];
    const std::int64_t whole = height / nb, begin = k * nb;
    const std::int64_t count = whole > k ? (whole - k + members - 1) / members : 0;
    if (count > 0) list.runs.push_back({begin, 0, nb, count, members * nb, nb});
    if (height % nb > 0 && whole % members == k)
      list.runs.push_back({whole * nb, count * nb, height % nb, 1, height % nb, height % nb});
    if (!in_order) std::reverse(list.runs.begin(), list.runs.end());
    list.total = 0;
    for (const Run& run : list.runs) list.total += run.len * run.count;
  }
  return lists;
}

struct Case {
  std::int64_t height, width, nb;
  int members;
  int kept; ///< the member whose rows stay, -1: none
  int esize;
  bool in_order, non_temporal;
};

void check(const Case& c) {
  SCOPED_TRACE(testing::Message() << c.height << " x " << c.width << ", blocks of " << c.nb << ", " << c.members
                                  << " members, kept " << c.kept << ", elements of " << c.esize
                                  << (c.in_order ? "" : ", out of order") << (c.non_temporal ? ", non-temporal" : ""));
  const auto esize = static_cast<std::size_t>(c.esize);
  const std::int64_t lld = c.height + any(0, 3);
  std::vector<char> array(static_cast<std::size_t>(lld * c.width) * esize);
  for (char& byte : array) byte = static_cast<char>(random_bits());
  std::vector<RunList> rows = deal(c.height, c.nb, c.members, c.in_order);
  if (c.kept >= 0) std::swap(rows[static_cast<std::size_t>(c.kept)], rows.back());
  RunList cols; // two runs: the last columns come first
  const std::int64_t half = c.width / 2;
  if (half < c.width) cols.runs.push_back({half, 0, c.width - half, 1, 1, 1});
  if (half > 0) cols.runs.push_back({0, c.width - half, half, 1, 1, 1});
  cols.total = c.width;

  PackedView target;
  std::vector<std::vector<char>> packed(rows.size());
  std::vector<char> kept;
  Outgoing outgoing;
  outgoing.sources.resize(rows.size());
  outgoing.non_temporal = c.non_temporal;
  constexpr std::size_t margin = 64;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    PackedView& source = outgoing.sources[k];
    source.rows = &rows[k];
    source.cols = &cols;
    source.base = array.data();
    source.lld = lld;
    source.esize = c.esize;
    packed[k].assign(static_cast<std::size_t>(rows[k].total * c.width) * esize + 2 * margin, 'x');
    if (c.kept >= 0 && k + 1 == rows.size()) {
      target = source;
      target.is_source = false;
      target.lld = rows[k].total + 1;
      target.non_temporal = c.non_temporal;
      kept.assign(static_cast<std::size_t>(target.lld * c.width) * esize, 'x');
      target.base = kept.data();
      outgoing.target = target;
    } else {
      outgoing.packed.push_back(packed[k].data() + margin);
    }
  }
  const std::vector<CopyRun> runs = copy_runs_of(outgoing);
  // in two calls, as panels are filled
  const std::int64_t first = any(0, c.width);
  pack_together(outgoing, runs, 0, first);
  pack_together(outgoing, runs, first, c.width - first);

  const auto col_places = brute::pairs_of(cols);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto row_places = brute::pairs_of(rows[k]);
    for (std::int64_t j = 0; j < c.width; ++j)
      for (std::size_t i = 0; i < row_places.size(); ++i) {
        const auto [from_col, to_col] = col_places[static_cast<std::size_t>(j)];
        const char* wanted = array.data() + static_cast<std::size_t>(from_col * lld + row_places[i].first) * esize;
        const char* got =
            c.kept >= 0 && k + 1 == rows.size()
                ? kept.data() + static_cast<std::size_t>(to_col * target.lld + row_places[i].second) * esize
                : packed[k].data() + margin + (static_cast<std::size_t>(j * rows[k].total) + i) * esize;
        ASSERT_EQ(0, std::memcmp(wanted, got, esize)) << "member " << k << ", row " << i << ", column " << j;
      }
    for (std::size_t b = 0; b < margin; ++b) { // nothing beside it
      ASSERT_EQ('x', packed[k][b]);
      ASSERT_EQ('x', packed[k][packed[k].size() - 1 - b]);
    }
  }
}

TEST(Packer, MessagesThatLeaveTogetherAreWhole) {
  for (int rep = 0; rep < 3000; ++rep) {
    const int members = static_cast<int>(any(1, 5)), esizes[] = {4, 8, 16};
    check({any(1, 300), any(1, 7), any(1, rep % 2 == 0 ? 8 : 100), members, static_cast<int>(any(-1, members - 1)),
           esizes[any(0, 2)], any(0, 3) > 0, any(0, 1) == 1});
  }
}

std::vector<CopyRun> copy_runs_of(const std::vector<RunList>& rows) {
  Outgoing outgoing;
  outgoing.sources.resize(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) outgoing.sources[k].rows = &rows[k];
  return copy_runs_of(outgoing);
}

TEST(Packer, AColumnIsReadFromItsTopToItsEnd) {
  const auto runs = copy_runs_of(deal(200, 64, 2, true)); // 64 64 64 8
  ASSERT_EQ(4U, runs.size());
  std::int64_t next = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    EXPECT_EQ(k % 2, runs[k].message);
    EXPECT_EQ(next, runs[k].from);
    next += static_cast<std::int64_t>(runs[k].bytes);
  }
  EXPECT_EQ(1600, next);
}

TEST(Packer, MessageByMessageWhereTheOrderIsAnotherOrPiecesAreSmall) {
  EXPECT_TRUE(copy_runs_of(deal(200, 64, 2, false)).empty());
  EXPECT_TRUE(copy_runs_of(deal(4000, 1, 2, true)).empty());
  EXPECT_FALSE(copy_runs_of(deal(4000, 16, 2, true)).empty());
}

} // namespace
