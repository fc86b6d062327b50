// SPDX-License-Identifier: BSD-3-Clause
#include "gridmap/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "base/index.hpp"
#include "gridmap/mapping.hpp"
#include "naive.hpp"

namespace {
using gridmap::Axis;
using gridmap::Placement;
using gridmap::PlacementRequest;
using gridmap::PlacementResult;

using base::at;

PlacementRequest block(std::int64_t m, std::int64_t n, int p, int q, int p_new, int q_new, Placement method) {
  return {Axis::block(m, p), Axis::block(n, q), Axis::block(m, p_new), Axis::block(n, q_new), method, {}};
}
std::vector<int> grid(std::int64_t m, std::int64_t n, int p, int q, int p_new, int q_new, Placement method) {
  return place(block(m, n, p, q, p_new, q_new, method)).grid;
}
double moved(std::int64_t m, std::int64_t n, int p, int q, int p_new, int q_new, Placement method) {
  return static_cast<double>(place(block(m, n, p, q, p_new, q_new, method)).moved_elements) /
         static_cast<double>(m * n);
}

/// Elements common to old process i and new position k, counted one by one: table[i][k].
std::vector<std::vector<std::int64_t>> common(const PlacementRequest& r) {
  const auto a = naive::owners(r.rows_from), b = naive::owners(r.cols_from), c = naive::owners(r.rows_to),
             d = naive::owners(r.cols_to);
  std::vector<std::vector<std::int64_t>> table(at(r.rows_from.nprocs * r.cols_from.nprocs),
                                               std::vector<std::int64_t>(at(r.rows_to.nprocs * r.cols_to.nprocs), 0));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j)
      ++table[at(a[i] * r.cols_from.nprocs + b[j])][at(c[i] * r.cols_to.nprocs + d[j])];
  return table;
}

/// The counts of a result, and that it names each process once, from the elements.
void expect_exact(const PlacementRequest& r, const PlacementResult& result) {
  const auto table = common(r);
  const std::size_t old_count = table.size(), new_count = table[0].size();
  ASSERT_EQ(result.grid.size(), new_count);
  std::vector<int> sorted = result.grid;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_TRUE(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  ASSERT_GE(sorted.front(), 0);
  const std::size_t remaining = old_count - r.leave.size();
  ASSERT_LT(sorted.back(), static_cast<int>(old_count + (new_count > remaining ? new_count - remaining : 0)));
  for (const int process : r.leave) ASSERT_FALSE(std::binary_search(sorted.begin(), sorted.end(), process));
  int next_new = static_cast<int>(old_count);
  std::int64_t retained = 0, all = 0, max_in = 0, max_out = 0;
  std::vector<std::int64_t> out(old_count, 0);
  for (std::size_t i = 0; i < old_count; ++i)
    out[i] = std::accumulate(table[i].begin(), table[i].end(), std::int64_t{0});
  for (std::size_t k = 0; k < new_count; ++k) {
    std::int64_t in = 0;
    for (std::size_t i = 0; i < old_count; ++i) in += table[i][k];
    all += in;
    const std::size_t process = at(result.grid[k]);
    if (process >= old_count) {
      ASSERT_EQ(result.grid[k], next_new++) << "new processes come row-major";
      ASSERT_EQ(result.kept[process], 0);
    } else {
      ASSERT_EQ(result.kept[process], table[process][k]);
      retained += table[process][k];
      in -= table[process][k];
      out[process] -= table[process][k];
      ASSERT_EQ(result.out[process], out[process]);
    }
    ASSERT_EQ(result.in[process], in);
    max_in = std::max(max_in, in);
  }
  max_out = *std::max_element(out.begin(), out.end());
  ASSERT_EQ(result.retained_elements, retained);
  ASSERT_EQ(result.moved_elements, all - retained);
  ASSERT_EQ(result.max_in, max_in);
  ASSERT_EQ(result.max_out, max_out);
  if (r.keep_first && std::count(r.leave.begin(), r.leave.end(), 0) == 0) {
    ASSERT_EQ(result.grid[0], 0) << "process 0 stays at (0,0)";
  }
  const PlacementResult again = figures_of(r, result.grid);
  ASSERT_EQ(again.kept, result.kept);
  ASSERT_EQ(again.in, result.in);
  ASSERT_EQ(again.out, result.out);
}

/// Most elements (plus bonus) that any placement keeps: all injections of processes into positions, or the
/// other way round; keep_first: of those that have process 0 at position 0.
std::int64_t brute_force(const std::vector<std::vector<std::int64_t>>& table, const std::vector<std::int64_t>& bonus,
                         bool keep_first) {
  const std::size_t old_count = table.size(), new_count = table[0].size();
  std::vector<std::size_t> longer(std::max(old_count, new_count));
  std::iota(longer.begin(), longer.end(), 0);
  const std::size_t pairs = std::min(old_count, new_count);
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  do {
    if (keep_first && longer[0] != 0) break; // ascending from here on
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < pairs; ++s) {
      const std::size_t i = old_count >= new_count ? longer[s] : s, k = old_count >= new_count ? s : longer[s];
      sum += table[i][k] + (bonus.empty() || old_count <= new_count ? 0 : bonus[i]);
    }
    best = std::max(best, sum);
    std::reverse(longer.begin() + static_cast<std::ptrdiff_t>(pairs),
                 longer.end()); // skip orders of the unused ones
  } while (std::next_permutation(longer.begin(), longer.end()));
  return best;
}

std::int64_t score(const PlacementResult& result, const PlacementRequest& r) {
  std::int64_t sum = result.retained_elements;
  if (r.rows_to.nprocs * r.cols_to.nprocs < r.rows_from.nprocs * r.cols_from.nprocs && !r.stay_bonus.empty())
    for (const int i : result.grid) sum += r.stay_bonus[at(i)];
  return sum;
}

constexpr Placement all_methods[] = {Placement::optimal, Placement::global, Placement::local1, Placement::local2};

// Chinnusamy 2004, figures 4.1, 4.2, 4.3
TEST(Placement, FiguresOfTheThesis) {
  EXPECT_EQ(grid(36, 36, 2, 2, 3, 3, Placement::global), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(grid(36, 36, 2, 2, 3, 3, Placement::local1), (std::vector<int>{0, 1, 4, 2, 3, 5, 6, 7, 8}));
  EXPECT_EQ(grid(12, 12, 1, 4, 1, 6, Placement::local1), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(grid(12, 12, 1, 4, 1, 6, Placement::local2), (std::vector<int>{0, 4, 1, 2, 5, 3}));
}

// REFERENCES.md: 2x2 -> 3x3 block, Local1 3/4, Local2 5/9, Global 5/6
TEST(Placement, FractionsOf2x2To3x3) {
  EXPECT_DOUBLE_EQ(moved(36, 36, 2, 2, 3, 3, Placement::global), 5.0 / 6);
  EXPECT_DOUBLE_EQ(moved(36, 36, 2, 2, 3, 3, Placement::local1), 3.0 / 4);
  EXPECT_DOUBLE_EQ(moved(36, 36, 2, 2, 3, 3, Placement::local2), 5.0 / 9);
  EXPECT_DOUBLE_EQ(moved(36, 36, 2, 2, 3, 3, Placement::optimal), 5.0 / 9);
}

// Section 4.5: n(2nr - n)/(2r) for Local1 when r divides p, n^2/4 (p + 2r)/(p + r) for Local2 when 2r divides
// p; here in units of n^2.
TEST(Placement, FormulaeOfTheThesisWhereTheyHold) {
  for (int p = 1; p <= 12; ++p)
    for (int r = 1; r <= p; ++r) {
      if (p % r != 0) continue;
      const std::int64_t n = 2 * p * (p + r); // divisible by both
      const double local1 = moved(n, n, p, p, p, p + r, Placement::local1);
      EXPECT_DOUBLE_EQ(local1, (2.0 * r - 1) / (2.0 * r)) << p << '+' << r;
      if (p % (2 * r) != 0) continue;
      const double local2 = moved(n, n, p, p, p, p + r, Placement::local2);
      EXPECT_DOUBLE_EQ(local2, 0.25 * (p + 2.0 * r) / (p + r)) << p << '+' << r;
    }
}

// REFERENCES.md: rounding half up is optimal for equal blocks (3 -> 5 moves 0.400; with floor it would be 0.467)
TEST(Placement, Local2RoundsHalfUpAndIsOptimalForEqualBlocks) {
  EXPECT_DOUBLE_EQ(moved(30, 30, 1, 3, 1, 5, Placement::local2), 0.4);
  for (int p = 1; p <= 16; ++p)
    for (int r = 0; r <= 20; ++r) {
      const std::int64_t n = std::int64_t{p} * (p + r);
      EXPECT_DOUBLE_EQ(moved(1, n, 1, p, 1, p + r, Placement::local2), moved(1, n, 1, p, 1, p + r, Placement::optimal))
          << p << '+' << r;
      EXPECT_DOUBLE_EQ(moved(1, n, 1, p + r, 1, p, Placement::local2), moved(1, n, 1, p + r, 1, p, Placement::optimal))
          << p << '+' << r;
    }
}

// REFERENCES.md: one dimension up, the other down
TEST(Placement, TwoDimensionalOptimum) {
  EXPECT_DOUBLE_EQ(moved(16, 16, 2, 8, 4, 4, Placement::optimal), 0.5);
  EXPECT_DOUBLE_EQ(moved(16, 16, 4, 4, 2, 8, Placement::optimal), 0.5);
  EXPECT_NEAR(moved(180, 180, 10, 10, 12, 9, Placement::optimal), 0.483, 0.0005);
}

TEST(Placement, ShrinkingIsTheInverseOfGrowth) {
  EXPECT_EQ(grid(12, 12, 1, 6, 1, 4, Placement::local1), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(grid(12, 12, 1, 6, 1, 4, Placement::local2), (std::vector<int>{0, 2, 3, 5}));
  EXPECT_EQ(grid(12, 12, 3, 3, 2, 2, Placement::local1), (std::vector<int>{0, 1, 3, 4}));
  EXPECT_EQ(grid(12, 12, 3, 3, 2, 2, Placement::local2), (std::vector<int>{0, 2, 6, 8}));
  EXPECT_EQ(grid(12, 12, 3, 3, 2, 2, Placement::global), (std::vector<int>{0, 1, 2, 3}));
  for (const Placement method : {Placement::local1, Placement::local2, Placement::optimal})
    for (int p = 1; p <= 5; ++p)
      for (int q = 1; q <= 5; ++q) {
        const std::int64_t n = 60;
        EXPECT_EQ(moved(n, n, p, q, p + 2, q + 1, method), moved(n, n, p + 2, q + 1, p, q, method)) << p << 'x' << q;
      }
}

// One axis up, the other down: dropped processes take the free positions, row-major and ascending; nobody
// leaves without need.
TEST(Placement, LocalMethodsPerAxis) {
  EXPECT_EQ(grid(16, 16, 1, 4, 2, 2, Placement::local1), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(grid(16, 16, 2, 3, 3, 2, Placement::local1), (std::vector<int>{0, 1, 3, 4, 2, 5}));
  EXPECT_EQ(grid(16, 16, 4, 1, 2, 3, Placement::local1), (std::vector<int>{0, 2, 3, 1, 4, 5}));
  EXPECT_EQ(grid(16, 16, 3, 3, 4, 2, Placement::local1), (std::vector<int>{0, 1, 3, 4, 6, 7, 2, 5}));
}

TEST(Placement, SameGridMovesNothing) {
  for (const Placement method : all_methods) {
    const PlacementResult result = place(block(100, 70, 3, 4, 3, 4, method));
    EXPECT_EQ(result.moved_elements, 0);
    EXPECT_EQ(result.retained_elements, 7000);
    EXPECT_EQ(result.max_in, 0);
    EXPECT_EQ(result.max_out, 0);
    for (int k = 0; k < 12; ++k) EXPECT_EQ(result.grid[at(k)], k);
  }
}

// The data, not the coordinates, decide: the amount moved is the same for any source process.
TEST(Placement, AnySource) {
  for (const Placement method : {Placement::local1, Placement::local2, Placement::optimal})
    for (int src = 0; src < 4; ++src)
      for (int src_new = 0; src_new < 6; ++src_new) {
        PlacementRequest r = block(24, 36, 2, 4, 3, 6, method);
        r.keep_first = false;
        const std::int64_t without = place(r).moved_elements;
        r.cols_from.src = src;
        r.cols_to.src = src_new;
        r.rows_from.src = src % 2;
        r.rows_to.src = src_new % 3;
        const PlacementResult result = place(r);
        expect_exact(r, result);
        EXPECT_EQ(result.moved_elements, without);
        r.keep_first = true; // a condition on the coordinates
        expect_exact(r, place(r));
      }
}

// Where the published positions move process 0 (r > p), it changes places with what they have at 0.
TEST(Placement, ProcessZeroStaysUnlessAskedOtherwise) {
  PlacementRequest r = block(12, 12, 1, 1, 1, 3, Placement::local2);
  EXPECT_EQ(place(r).grid, (std::vector<int>{0, 1, 2}));
  r.keep_first = false;
  EXPECT_EQ(place(r).grid, (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(grid(12, 12, 1, 2, 1, 7, Placement::local2), (std::vector<int>{0, 2, 3, 4, 5, 1, 6}));
  r = block(12, 12, 1, 3, 1, 1, Placement::local2); // the way back
  EXPECT_EQ(place(r).grid, std::vector<int>{0});
  r.keep_first = false;
  EXPECT_EQ(place(r).grid, std::vector<int>{1});
  for (const auto& [p, q, p_new, q_new] :
       {std::array{1, 2, 2, 4}, std::array{2, 2, 2, 4}, std::array{2, 2, 3, 4}, std::array{4, 1, 1, 4}})
    for (const Placement method : all_methods)
      for (const std::int64_t nb : {1, 8, 100}) {
        const auto axis = [&](int nprocs) { return Axis::block_cyclic(100, nb, nprocs); };
        const PlacementRequest any{axis(p), axis(q), axis(p_new), axis(q_new), method};
        expect_exact(any, place(any));
      }
}

// What keeping process 0 costs, over the 270 growths of grids of at most 4 rows, 8 columns and 24 processes in which
// neither rows nor columns become fewer. It prints the table of docs/results.md.
TEST(Placement, CostOfKeepingProcessZero) {
  std::vector<std::pair<int, int>> shapes;
  for (int p = 1; p <= 4; ++p)
    for (int q = 1; q <= 8 && p * q <= 24; ++q) shapes.emplace_back(p, q);
  std::mt19937 gen(11);
  const auto uneven = [&](std::int64_t n, int nprocs) { // shares of processors of one to three times the speed
    std::vector<double> speeds(at(nprocs));
    for (double& speed : speeds) speed = std::uniform_real_distribution<double>(1, 3)(gen);
    return Axis::variable(gridmap::natural_blocks(n, speeds));
  };
  const auto name = [](std::int64_t nb) {
    return nb < 0    ? std::string("one uneven block each")
           : nb == 0 ? "one block each"
                     : "blocks of " + std::to_string(nb);
  };
  for (const std::int64_t n : {840, 1000}) // 840: all rows and columns of a grid divide it
    for (const std::int64_t nb : {0, 1, 64, -1}) {
      int count = 0, would_move = 0, dearer = 0;
      double moved = 0, moved_free = 0, most = 0;
      std::string worst = "none";
      for (const auto& [p, q] : shapes)
        for (const auto& [p_new, q_new] : shapes) {
          if (p > p_new || q > q_new || p * q == p_new * q_new) continue;
          const auto axis = [&](int nprocs) {
            return nb < 0 ? uneven(n, nprocs) : nb == 0 ? Axis::block(n, nprocs) : Axis::block_cyclic(n, nb, nprocs);
          };
          PlacementRequest r{axis(p), axis(q), axis(p_new), axis(q_new)};
          const PlacementResult kept = place(r);
          r.keep_first = false;
          const PlacementResult free = place(r);
          EXPECT_EQ(kept.grid[0], 0);
          EXPECT_GE(kept.moved_elements, free.moved_elements);
          ++count;
          would_move += free.grid[0] != 0;
          dearer += kept.moved_elements > free.moved_elements;
          const double percent = 100 / static_cast<double>(n * n);
          const double more = percent * static_cast<double>(kept.moved_elements - free.moved_elements);
          moved += percent * static_cast<double>(kept.moved_elements);
          moved_free += percent * static_cast<double>(free.moved_elements);
          if (more > most) {
            most = more;
            worst = std::to_string(p) + 'x' + std::to_string(q) + " -> " + std::to_string(p_new) + 'x' +
                    std::to_string(q_new);
          }
        }
      std::printf("n = %4d, %-21s: %d growths, (0,0) would change hands in %3d, keeping it costs in %2d; "
                  "moved %.2f %% instead of %.2f %% (mean); dearest %s, %.2f %% more\n",
                  static_cast<int>(n), name(nb).c_str(), count, would_move, dearer, moved / count, moved_free / count,
                  worst.c_str(), most);
      EXPECT_EQ(count, 270);
      if (nb >= 0) {
        EXPECT_EQ(dearer, 0) << "with equal blocks one of the best placements keeps it";
      }
    }
}

TEST(Placement, CountsAndOptimumAgainstBruteForce) {
  std::mt19937 gen(7);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}, {2, 2}, {1, 5},
                                        {5, 1}, {2, 3}, {3, 2}, {1, 6}, {6, 1}, {1, 7}, {7, 1}};
  for (const auto& [p, q] : shapes)
    for (const auto& [p_new, q_new] : shapes)
      for (int round = 0; round < 3; ++round) {
        const std::int64_t m = pick(0, 14), n = pick(1, 14);
        PlacementRequest r{naive::random_axis(gen, m, p),
                           naive::random_axis(gen, n, q),
                           naive::random_axis(gen, m, p_new),
                           naive::random_axis(gen, n, q_new),
                           Placement::optimal,
                           {}};
        if (round == 2)
          for (int i = 0; i < p * q; ++i) r.stay_bonus.push_back(pick(-20, 20));
        for (const bool keep_first : {true, false}) {
          r.keep_first = keep_first;
          SCOPED_TRACE(testing::Message() << p << 'x' << q << " -> " << p_new << 'x' << q_new << " m " << m << " n "
                                          << n << (keep_first ? "" : ", free first"));
          std::int64_t best = 0;
          for (const Placement method : all_methods) {
            r.method = method;
            const PlacementResult result = place(r);
            ASSERT_NO_FATAL_FAILURE(expect_exact(r, result));
            if (method == Placement::optimal) best = score(result, r);
            EXPECT_LE(score(result, r), best);
          }
          EXPECT_EQ(best, brute_force(common(r), r.stay_bonus, keep_first));
        }
      }
}

// Some must leave, whatever that moves. Among all placements of the others the least movement: by brute force over the
// table without their lines.
TEST(Placement, OptimumOfThoseThatMayStayAgainstBruteForce) {
  std::mt19937 gen(18);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {2, 2}, {5, 1}, {2, 3}, {3, 2}, {1, 7}};
  int cases = 0;
  for (const auto& [p, q] : shapes)
    for (const auto& [p_new, q_new] : shapes)
      for (int subset = 1; subset < 1 << p * q; subset += 1 + (p * q > 4 ? pick(0, 9) : 0)) {
        PlacementRequest r{naive::random_axis(gen, pick(0, 14), p), naive::random_axis(gen, pick(1, 14), q), {}, {}};
        r.rows_to = naive::random_axis(gen, r.rows_from.n, p_new);
        r.cols_to = naive::random_axis(gen, r.cols_from.n, q_new);
        const bool has_bonus = pick(0, 2) == 0;
        for (int i = 0; i < p * q && has_bonus; ++i) r.stay_bonus.push_back(pick(-20, 20));
        for (int i = p * q; i-- > 0;)
          if (subset >> i & 1) r.leave.push_back(i);
        r.keep_first = pick(0, 1) == 1;
        SCOPED_TRACE(testing::Message() << p << 'x' << q << " -> " << p_new << 'x' << q_new << " without " << subset);
        const auto all = common(r);
        std::vector<std::vector<std::int64_t>> table;
        std::vector<std::int64_t> bonus;
        for (int i = 0; i < p * q; ++i) {
          if (subset >> i & 1) continue;
          table.push_back(all[at(i)]);
          if (has_bonus) bonus.push_back(r.stay_bonus[at(i)]);
        }
        const auto worth = [&, old = p * q](const PlacementResult& result) { // clang 14 captures no bindings
          std::int64_t sum = result.retained_elements;
          if (has_bonus && table.size() > all[0].size())
            for (const int i : result.grid) sum += i < old ? r.stay_bonus[at(i)] : 0;
          return sum;
        };
        std::int64_t best = 0;
        for (const Placement method : all_methods) {
          r.method = method;
          const PlacementResult result = place(r);
          ASSERT_NO_FATAL_FAILURE(expect_exact(r, result));
          if (method == Placement::optimal) best = worth(result);
          EXPECT_LE(worth(result), best);
        }
        const bool has_first = (subset & 1) == 0;
        ASSERT_EQ(best, table.empty() ? 0 : brute_force(table, bonus, r.keep_first && has_first));
        ++cases;
      }
  EXPECT_GT(cases, 600);
}

TEST(Placement, OptimumOfEverySmallUniformCase) {
  const std::pair<int, int> shapes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}, {1, 4}, {2, 2},
                                        {4, 1}, {1, 5}, {5, 1}, {1, 6}, {2, 3}, {3, 2}, {6, 1}};
  int cases = 0;
  for (const auto& [p, q] : shapes)
    for (const auto& [p_new, q_new] : shapes)
      for (const std::int64_t m : {1, 4, 7})
        for (const std::int64_t n : {2, 5, 6})
          for (const std::int64_t nb : {0, 1, 2}) { // 0: one block each
            const auto axis = [&](std::int64_t size, int nprocs) {
              return nb == 0 ? Axis::block(size, nprocs) : Axis::block_cyclic(size, nb, nprocs);
            };
            PlacementRequest r{axis(m, p), axis(n, q), axis(m, p_new), axis(n, q_new)};
            for (const bool keep_first : {true, false}) {
              r.keep_first = keep_first;
              ASSERT_EQ(place(r).retained_elements, brute_force(common(r), {}, keep_first))
                  << p << 'x' << q << " -> " << p_new << 'x' << q_new << " m " << m << " n " << n << " nb " << nb
                  << (keep_first ? "" : ", free first");
            }
            ++cases;
          }
  EXPECT_EQ(cases, 14 * 14 * 27);
}

TEST(Placement, WhoMustStayStays) {
  for (const auto& [p, q, p_new, q_new] :
       {std::array{4, 4, 1, 1}, std::array{4, 4, 2, 2}, std::array{3, 5, 2, 3}, std::array{8, 2, 3, 3}}) {
    PlacementRequest r = block(60, 60, p, q, p_new, q_new, Placement::optimal);
    for (int must = 0; must < p * q; ++must) {
      r.stay_bonus.assign(at(p * q), 0);
      r.stay_bonus[at(must)] = std::numeric_limits<std::int64_t>::max();
      for (const bool keep_first : {true, false}) {
        if (keep_first && must > 0 && p_new * q_new == 1) continue; // no room for both
        r.keep_first = keep_first;
        const PlacementResult result = place(r);
        EXPECT_NE(std::find(result.grid.begin(), result.grid.end(), must), result.grid.end());
        expect_exact(r, result);
      }
    }
  }
  // more than the exact assignment takes: 72x72 -> 71x71 element-cyclic, every pair has common elements
  PlacementRequest r{Axis::block_cyclic(10224, 1, 72),
                     Axis::block_cyclic(10224, 1, 72),
                     Axis::block_cyclic(10224, 1, 71),
                     Axis::block_cyclic(10224, 1, 71),
                     Placement::optimal,
                     std::vector<std::int64_t>(72 * 72, 0)};
  for (const int must : {0, 72 * 72 - 1, 71, 5000}) {
    r.stay_bonus[at(must)] = std::numeric_limits<std::int64_t>::max();
    const PlacementResult result = place(r);
    EXPECT_NE(std::find(result.grid.begin(), result.grid.end(), must), result.grid.end());
    EXPECT_EQ(result.grid[0], 0);
  }
}

/// Most rows that stay when the old rows keep their order: dynamic programming over (old rows, new rows) in
/// data order; keep_first: with the first old row on the first new one.
std::int64_t order_preserving(const Axis& from, const Axis& to, bool keep_first) {
  const auto a = naive::owners(from), b = naive::owners(to);
  std::vector<std::vector<std::int64_t>> table(at(from.nprocs), std::vector<std::int64_t>(at(to.nprocs), 0));
  for (std::size_t i = 0; i < a.size(); ++i) ++table[at(a[i])][at(b[i])];
  std::vector<std::vector<std::int64_t>> best(at(from.nprocs + 1), std::vector<std::int64_t>(at(to.nprocs + 1), 0));
  const std::size_t first = keep_first ? 2 : 1;
  for (std::size_t p = first; p <= at(from.nprocs); ++p)
    for (std::size_t k = first; k <= at(to.nprocs); ++k)
      best[p][k] = std::max({best[p - 1][k], best[p][k - 1], best[p - 1][k - 1] + table[p - 1][k - 1]});
  return best.back().back() + (keep_first ? table[0][0] : 0);
}

TEST(Placement, EqualsTheOrderPreservingOptimumOnLargeAxes) {
  std::mt19937 gen(3);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
  for (int round = 0; round < 60; ++round) {
    const int p = pick(1, 60), p_new = pick(1, 60);
    std::vector<std::int64_t> before(at(p)), after(at(p_new), 0);
    for (auto& rows : before) rows = pick(1, 80);
    const std::int64_t n = std::accumulate(before.begin(), before.end(), std::int64_t{0});
    for (std::int64_t i = 0; i < n; ++i) ++after[at(pick(0, p_new - 1))];
    PlacementRequest r{Axis::variable(before), Axis::block(1, 1), Axis::variable(after), Axis::block(1, 1)};
    for (const bool keep_first : {true, false}) {
      r.keep_first = keep_first;
      EXPECT_EQ(place(r).retained_elements, order_preserving(r.rows_from, r.rows_to, keep_first))
          << p << " -> " << p_new;
    }
  }
}

// Both axes grow or both shrink, equal blocks: the 2-D assignment is the product of the two axes.
TEST(Placement, ProductOfAxesWhenBothGrow) {
  for (const auto& [p, q, p_new, q_new] :
       {std::array{16, 16, 24, 24}, std::array{12, 7, 19, 11}, std::array{24, 24, 16, 16}}) {
    const PlacementRequest r = block(p * p_new, q * q_new, p, q, p_new, q_new, Placement::optimal);
    EXPECT_EQ(place(r).retained_elements,
              order_preserving(r.rows_from, r.rows_to, true) * order_preserving(r.cols_from, r.cols_to, true));
  }
}

TEST(Placement, OptimalIsNeverWorse) {
  for (int p = 1; p <= 9; p += 2)
    for (int q = 1; q <= 8; q += 3)
      for (int p_new = 1; p_new <= 10; ++p_new)
        for (int q_new = 2; q_new <= 9; q_new += 3) {
          const double optimal = moved(97, 101, p, q, p_new, q_new, Placement::optimal);
          for (const Placement method : all_methods) EXPECT_LE(optimal, moved(97, 101, p, q, p_new, q_new, method));
        }
}

// For block-cyclic data with gcd(p, p') = g no placement keeps more than g/p' along an axis (REFERENCES.md)
TEST(Placement, BlockCyclicBound) {
  for (const auto& [p, p_new] : {std::pair{4, 6}, std::pair{2, 3}, std::pair{6, 9}, std::pair{4, 8}, std::pair{5, 7}}) {
    const PlacementRequest r{Axis::block_cyclic(2520, 1, p),
                             Axis::block(1, 1),
                             Axis::block_cyclic(2520, 1, p_new),
                             Axis::block(1, 1),
                             Placement::optimal,
                             {}};
    EXPECT_EQ(place(r).retained_elements, 2520 * std::gcd(p, p_new) / p_new) << p << " -> " << p_new;
  }
}

TEST(Placement, OverlapOfLongAxes) {
  // 2^33 rows: the counts are those of one common period (lcm of 4 * 64 and 6 * 96 rows) times the number of
  // periods
  const std::int64_t n = 2304 * (std::int64_t{1} << 33);
  const auto small = gridmap::overlap(Axis::block_cyclic(2304, 64, 4), Axis::block_cyclic(2304, 96, 6));
  const auto large = gridmap::overlap(Axis::block_cyclic(n, 64, 4), Axis::block_cyclic(n, 96, 6));
  for (std::size_t i = 0; i < small.counts.size(); ++i)
    EXPECT_EQ(large.counts[i], small.counts[i] * (std::int64_t{1} << 33));
  std::mt19937 gen(5);
  for (int round = 0; round < 500; ++round) {
    const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(gen); };
    const std::int64_t rows = pick(0, 300);
    const Axis a = naive::random_axis(gen, rows, pick(1, 6)), b = naive::random_axis(gen, rows, pick(1, 6));
    const auto table = gridmap::overlap(a, b);
    std::vector<std::int64_t> wanted(table.counts.size(), 0);
    const auto owners_a = naive::owners(a), owners_b = naive::owners(b);
    for (std::size_t i = 0; i < owners_a.size(); ++i) ++wanted[at(owners_a[i] * b.nprocs + owners_b[i])];
    ASSERT_EQ(table.counts, wanted) << a.describe() << " / " << b.describe();
  }
}

TEST(Placement, BadArguments) {
  const auto status = [](const PlacementRequest& request) { return status_of([&] { place(request); }); };
  PlacementRequest r = block(10, 10, 2, 2, 3, 3, Placement::optimal);
  EXPECT_EQ(status(r), base::Status::success);
  r.rows_to.n = 11;
  EXPECT_EQ(status(r), base::Status::shape_mismatch);
  r = block(10, 10, 2, 2, 3, 3, static_cast<Placement>(4));
  EXPECT_EQ(status(r), base::Status::bad_argument);
  r = block(10, 10, 2, 2, 3, 3, Placement::optimal);
  r.stay_bonus = {1, 2, 3};
  EXPECT_EQ(status(r), base::Status::bad_argument);
  r.stay_bonus.clear();
  for (const std::vector<int>& wrong : {std::vector<int>{4}, {-1}, {1, 1}}) {
    r.leave = wrong;
    EXPECT_EQ(status(r), base::Status::bad_argument);
  }
  r.leave.clear();
  r.rows_from.nprocs = 0;
  EXPECT_EQ(status(r), base::Status::bad_argument);
  r = block(std::int64_t{1} << 31, std::int64_t{1} << 31, 2, 2, 3, 3, Placement::optimal);
  EXPECT_EQ(status(r), base::Status::bad_argument);
  r = block(std::int64_t{1} << 30, std::int64_t{1} << 30, 2, 2, 3, 3, Placement::optimal);
  EXPECT_EQ(status(r), base::Status::success);
  r = block(10, 10, 2, 2, 1, 3, Placement::optimal);
  for (const std::vector<int>& wrong : {std::vector<int>{0, 1}, {0, 1, 1}, {0, 1, 4}, {0, 1, -1}, {0, 1, 2, 3}})
    EXPECT_THROW(figures_of(r, wrong), base::Error);
}
} // namespace
