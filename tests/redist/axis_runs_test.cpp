// SPDX-License-Identifier: BSD-3-Clause
// One axis against another, judged by dealing out the blocks one index at a time.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../sanitized.hpp"
#include "brute.hpp"
#include "plan/axis_table.hpp"

using gridmap::Axis;
using redist::RunList;
using redist::detail::AxisTable;
using redist::detail::Neighbour;
using redist::detail::overlap;
using redist::detail::runs_from;
using redist::detail::runs_to;
using redist::detail::Span;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>; ///< sorted

Pairs pieces(const RunList& list) {
  Pairs pairs = brute::pairs_of(list);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

bool same_runs(const RunList& l, const RunList& r) {
  if (l.total != r.total || l.runs.size() != r.runs.size()) return false;
  for (std::size_t i = 0; i < l.runs.size(); ++i) {
    const redist::Run &a = l.runs[i], &b = r.runs[i];
    if (a.from != b.from || a.to != b.to || a.len != b.len || a.count != b.count || a.from_step != b.from_step ||
        a.to_step != b.to_step)
      return false;
  }
  return true;
}

/// An axis, dealt out by hand and by the code.
struct Side {
  Axis axis;
  std::vector<brute::Placed> dealt;
  AxisTable table;
  Side(Axis of) : axis(std::move(of)), dealt(brute::places_of(axis)), table(axis) {} // NOLINT: an axis is a side
};

/// An element that goes from a position to a position, in the order of pairs of positions.
struct Moved {
  int from = 0, to = 0;
  std::int64_t from_local = 0, to_local = 0;
};
bool operator<(const Moved& a, const Moved& b) {
  return std::tie(a.from, a.to, a.from_local, a.to_local) < std::tie(b.from, b.to, b.from_local, b.to_local);
}

/// Fails with `what` when runs or the table of the pair of axes are not what dealing out by hand gives.
void check(const Side& from, std::int64_t begin_from, const Side& to, std::int64_t begin_to, std::int64_t length) {
  const auto what = [&] {
    return from.axis.describe() + " from " + std::to_string(begin_from) + " -> " + to.axis.describe() + " from " +
           std::to_string(begin_to) + ", " + std::to_string(length);
  };
  std::vector<Moved> expected;
  expected.reserve(static_cast<std::size_t>(length));
  for (std::int64_t x = 0; x < length; ++x) {
    const auto a = from.dealt[static_cast<std::size_t>(begin_from + x)];
    const auto b = to.dealt[static_cast<std::size_t>(begin_to + x)];
    expected.push_back({a.position, b.position, a.local, b.local});
  }
  std::sort(expected.begin(), expected.end());
  const Span span_from{&from.table, begin_from}, span_to{&to.table, begin_to};
  std::vector<std::vector<Neighbour>> received; // by position
  for (int q = 0; q < to.axis.nprocs; ++q) received.push_back(runs_to(span_from, span_to, length, q));
  std::vector<std::size_t> seen(received.size(), 0);
  const auto table = overlap(span_from, span_to, length);
  std::size_t meet = 0;
  auto at = expected.begin();
  for (int p = 0; p < from.axis.nprocs; ++p)
    for (const Neighbour& sent : runs_from(span_from, span_to, length, p)) {
      const auto begin = at;
      while (at != expected.end() && at->from == p && at->to == sent.position) ++at;
      Pairs all;
      std::transform(begin, at, std::back_inserter(all), [](const Moved& m) {
        return std::pair{m.from_local, m.to_local};
      });
      ASSERT_FALSE(all.empty()) << what();
      ASSERT_TRUE(pieces(sent.list) == all) << what();
      ASSERT_EQ(sent.list.total, static_cast<std::int64_t>(all.size())) << what();
      ASSERT_EQ(table.at(p, sent.position), sent.list.total) << what();
      const auto q = static_cast<std::size_t>(sent.position);
      ASSERT_LT(seen[q], received[q].size()) << what();
      const Neighbour& got = received[q][seen[q]++];
      ASSERT_TRUE(got.position == p && same_runs(sent.list, got.list)) << what();
      ++meet;
    }
  ASSERT_TRUE(at == expected.end()) << what();
  for (std::size_t q = 0; q < received.size(); ++q) ASSERT_EQ(seen[q], received[q].size()) << what();
  ASSERT_EQ(table.entries.size(), meet) << what();
}

TEST(AxisRuns, EveryBlockCyclicPairUpTo6x6) {
  for (int P = 1; P <= 6; ++P)
    for (int Q = 1; Q <= 6; ++Q)
      for (int a = 1; a <= 4; ++a)
        for (int b = 1; b <= 4; ++b)
          for (int n = 0; n <= 13; ++n)
            for (int src = 0; src < P; ++src)
              for (int dst = 0; dst < Q; ++dst) {
                check(Axis::block_cyclic(n, a, P, src), 0, Axis::block_cyclic(n, b, Q, dst), 0, n);
                if (HasFatalFailure()) return;
              }
}

constexpr int stride = is_sanitized ? 7 : 1;

// Every kind against every uniform block-cyclic axis over up to 6 with blocks of up to 4, and against its own
// kind.
template <class Check> void each_uniform(std::int64_t n, Check&& against) {
  static int turn = 0;
  static std::map<std::int64_t, std::vector<Side>> sides;
  std::vector<Side>& of_n = sides[n];
  if (of_n.empty())
    for (int Q = 1; Q <= 6; ++Q)
      for (int nb = 1; nb <= 4; ++nb) of_n.emplace_back(Axis::block_cyclic(n, nb, Q, (Q - 1) / 2));
  for (const Side& side : of_n)
    if (turn++ % stride == 0) against(side);
}

TEST(AxisRuns, EveryBlockAxisUpTo6) {
  for (int P = 1; P <= 6; ++P)
    for (int n = 0; n <= 13; ++n)
      for (int src = 0; src < P; ++src) {
        const Side block = Axis::block(n, P, src);
        each_uniform(n, [&](const Side& uniform) {
          check(block, 0, uniform, 0, n);
          check(uniform, 0, block, 0, n);
        });
        for (int Q = 1; Q <= 6; ++Q) check(block, 0, Axis::block(n, Q), 0, n);
        if (HasFatalFailure()) return;
      }
}

TEST(AxisRuns, EveryVariableBlockAxisUpTo6) {
  // all ways to give n <= 13 elements to up to 6, one block each; with 5 and 6 of them blocks of up to 4
  for (int P = 1; P <= 6; ++P)
    for (int n = 0; n <= 13; ++n) {
      const std::int64_t largest = P <= 4 ? n : 4;
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(P), 0);
      const std::function<void(int, std::int64_t)> deal = [&](int p, std::int64_t left) {
        sizes[static_cast<std::size_t>(p)] = left;
        if (p + 1 == P) {
          if (left > largest) return;
          const Side variable = Axis::variable(sizes, n % P);
          each_uniform(n, [&](const Side& uniform) {
            check(variable, 0, uniform, 0, n);
            check(uniform, 0, variable, 0, n);
          });
          check(variable, 0, Axis::variable({sizes.rbegin(), sizes.rend()}), 0, n);
          return;
        }
        for (std::int64_t mine = 0; mine <= std::min(left, largest); ++mine) {
          sizes[static_cast<std::size_t>(p)] = mine;
          deal(p + 1, left - mine);
        }
      };
      deal(0, n);
      if (HasFatalFailure()) return;
    }
}

TEST(AxisRuns, EveryHeterogeneousAxisUpTo6) {
  // all lists of up to three sizes from 0 to 4, dealt in turn to up to 6; of four sizes for n = 13
  for (std::size_t length = 1; length <= 4; ++length) {
    std::vector<std::int64_t> sizes(length, 0);
    for (;;) {
      std::size_t k = 0;
      while (k < length && sizes[k] == 4) sizes[k++] = 0;
      if (k == length) break;
      ++sizes[k];
      for (int P = 1; P <= 6; ++P)
        for (int n = length == 4 ? 13 : 0; n <= 13; ++n) {
          const Side listed = Axis::heterogeneous(n, sizes, P, (P + n) % P);
          each_uniform(n, [&](const Side& uniform) {
            check(listed, 0, uniform, 0, n);
            check(uniform, 0, listed, 0, n);
          });
          check(listed, 0, Axis::heterogeneous(n, {sizes[0], 2, 1}, 1 + (P + n) % 6), 0, n);
          if (HasFatalFailure()) return;
        }
    }
  }
}

TEST(AxisRuns, EveryBlockListOfFourBlocksUpTo6) {
  // blocks of up to 4, every owner of each of them
  for (int P = 1; P <= 6; ++P)
    for (int nb = 1; nb <= 4; ++nb)
      for (int n = 1; n <= std::min(13, 4 * nb); ++n) {
        std::vector<int> owners(static_cast<std::size_t>((n + nb - 1) / nb), 0);
        const std::vector<std::int64_t> sizes(owners.size(), nb);
        for (;;) {
          const Side listed = Axis{n, sizes, 0, P, owners};
          each_uniform(n, [&](const Side& uniform) {
            check(listed, 0, uniform, 0, n);
            check(uniform, 0, listed, 0, n);
          });
          check(listed, 0, Axis{n, sizes, 0, P, {owners.rbegin(), owners.rend()}}, 0, n);
          if (HasFatalFailure()) return;
          std::size_t k = 0;
          while (k < owners.size() && owners[k] == P - 1) owners[k++] = 0;
          if (k == owners.size()) break;
          ++owners[k];
        }
      }
}

TEST(AxisRuns, BlockListsOfUnequalBlocks) {
  for (int P = 1; P <= 6; ++P)
    for (int owner = 0; owner < P; ++owner)
      for (int other = 0; other < P; ++other)
        for (int a = 1; a <= 4; ++a)
          for (int b = 1; b <= 4; ++b)
            for (const int n : {5, 13}) {
              const int Q = 1 + (a + owner) % 6;
              const Side dealt = Axis{n, {a, b}, 0, P, {owner, other}};
              check(dealt, 0, Axis::block_cyclic(n, b, Q), 0, n);
              check(Axis::block_cyclic(n, a, Q), 0, Axis{n, {a, b, 2}, 0, P, {owner, other, 0}}, 0, n);
              check(dealt, 0, Axis{n, {a, b, 2}, 0, P, {other, 0, owner}}, 0, n);
              if (HasFatalFailure()) return;
            }
}

TEST(AxisRuns, Windows) {
  for (int P = 1; P <= 4; ++P)
    for (int Q = 1; Q <= 4; ++Q)
      for (int a = 1; a <= 3; ++a)
        for (int b = 1; b <= 3; ++b)
          for (int i = 0; i <= 5; ++i)
            for (int j = 0; j <= 5; ++j)
              for (int length : {0, 1, 4, 13, 40}) {
                check(Axis::block_cyclic(i + length + a % 2, a, P, i % P), i,
                      Axis::block_cyclic(j + length + b, b, Q, j % Q), j, length);
                if (HasFatalFailure()) return;
              }
}

TEST(AxisRuns, RandomHeterogeneous) {
  std::mt19937 random(20261121);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 6000; ++round) {
    const auto axis = [&](std::int64_t n) {
      const int nprocs = pick(1, 7);
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(pick(1, 9)));
      for (auto& size : sizes) size = pick(0, 5);
      sizes[static_cast<std::size_t>(pick(0, static_cast<int>(sizes.size()) - 1))] = pick(1, 5);
      return Axis::heterogeneous(n, sizes, nprocs, pick(0, nprocs - 1));
    };
    const int length = pick(0, 300), i = pick(0, 20), j = pick(0, 20);
    check(axis(i + length + pick(0, 9)), i, axis(j + length + pick(0, 9)), j, length);
    if (HasFatalFailure()) return;
  }
}

TEST(AxisRuns, LongPeriodicPatterns) {
  // long enough for lists that are kept as one strided run per piece of a period
  std::mt19937 random(17);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::size_t interleaved = 0;
  for (int round = 0; round < 60; ++round) {
    const auto axis = [&](std::int64_t n) {
      const int nprocs = pick(1, 3);
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(pick(1, 3)));
      for (auto& size : sizes) size = pick(1, 3);
      return Axis::heterogeneous(n, sizes, nprocs, pick(0, nprocs - 1));
    };
    const int length = pick(4000, 15000), i = pick(0, 20), j = pick(0, 20);
    const Axis from = axis(i + length), to = axis(j + length);
    check(from, i, to, j, length);
    if (HasFatalFailure()) return;
    const AxisTable table_from(from), table_to(to);
    for (const Neighbour& neighbour : runs_from({&table_from, i}, {&table_to, j}, length, 0)) {
      const auto& runs = neighbour.list.runs;
      EXPECT_LE(runs.size(), 1100u);
      if (runs.size() > 1 && runs[1].from < runs[0].from + (runs[0].count - 1) * runs[0].from_step) ++interleaved;
    }
  }
  EXPECT_GT(interleaved, 5u); // the test reaches what it is for
}

TEST(AxisRuns, PeriodicPatternsStaySmall) {
  // nb = 1: one strided run per neighbour, whatever n
  const AxisTable one(Axis::block_cyclic(1000000, 1, 2)), two(Axis::block_cyclic(1000000, 1, 3));
  for (const Neighbour& neighbour : runs_from({&one, 0}, {&two, 0}, 1000000, 0))
    EXPECT_LE(neighbour.list.runs.size(), 1u);
  // one element of each source block goes to every other local place of the target: one run per period
  const AxisTable three(Axis::block_cyclic(4000, 1, 2)), four(Axis::block_cyclic(4000, 64, 3));
  for (const Neighbour& neighbour : runs_from({&three, 0}, {&four, 0}, 4000, 1))
    EXPECT_LE(neighbour.list.runs.size(), 22u);
}

TEST(AxisRuns, MoreThan2To31) {
  const std::int64_t n = 3'000'000'000;
  const Axis a = Axis::block_cyclic(n, 64, 4, 1), b = Axis::block_cyclic(n, 100, 6, 2);
  const AxisTable from(a), to(b);
  std::int64_t sum = 0;
  for (int p = 0; p < 4; ++p)
    for (const Neighbour& neighbour : runs_from({&from, 0}, {&to, 0}, n, p)) {
      sum += neighbour.list.total;
      EXPECT_EQ(neighbour.list.total, overlap({&from, 0}, {&to, 0}, n).at(p, neighbour.position));
      // the last piece of a run, back in global indices
      for (const redist::Run& run : neighbour.list.runs) {
        const std::int64_t i_from = run.from + (run.count - 1) * run.from_step + run.len - 1;
        const std::int64_t i_to = run.to + (run.count - 1) * run.to_step + run.len - 1;
        ASSERT_EQ(a.to_global(i_from, p), b.to_global(i_to, neighbour.position));
      }
    }
  EXPECT_EQ(sum, n);
}

} // namespace
