// SPDX-License-Identifier: BSD-3-Clause
// Blocks for a factorization, against all ways to deal them out, and the sum over steps against counting blocks.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "gridmap/factor_mapping.hpp"

namespace {
using gridmap::FactorMapping;
using gridmap::map_for_factors;
using gridmap::MapMethod;
using gridmap::Mapping;
using gridmap::MappingRequest;
using Owners = std::vector<int>;

/// Block by block.
double counted(const Mapping& places, std::int64_t m, std::int64_t n, std::int64_t nb, const Owners& rows,
               const Owners& cols) {
  const auto size = [nb](std::int64_t all, std::size_t block) {
    return static_cast<double>(std::min(nb, all - static_cast<std::int64_t>(block) * nb));
  };
  double sum = 0;
  for (std::size_t k = 0; k < std::min(rows.size(), cols.size()); ++k) {
    std::vector<double> work(places.speeds.size());
    for (std::size_t i = k; i < rows.size(); ++i)
      for (std::size_t j = k; j < cols.size(); ++j)
        work[static_cast<std::size_t>(rows[i] * places.npcol + cols[j])] += size(m, i) * size(n, j);
    double slowest = 0;
    for (std::size_t at = 0; at < work.size(); ++at) slowest = std::max(slowest, work[at] / places.speeds[at]);
    sum += slowest;
  }
  return sum;
}

/// Calls f with all owners of `blocks` blocks.
template <class F> void for_all(std::size_t blocks, int nprocs, F&& f) {
  Owners owners(blocks, 0);
  for (;;) {
    f(owners);
    std::size_t b = 0;
    while (b < blocks && ++owners[b] == nprocs) owners[b++] = 0;
    if (b == blocks) return;
  }
}

/// Of a matrix of whole blocks.
double least_of_all(const FactorMapping& found, std::int64_t nb) {
  const auto length = [nb](const Owners& owners) { return nb * static_cast<std::int64_t>(owners.size()); };
  double least = std::numeric_limits<double>::infinity();
  for_all(found.row_owners.size(), found.map.nprow, [&](const Owners& rows) {
    for_all(found.col_owners.size(), found.map.npcol, [&](const Owners& cols) {
      least = std::min(least, counted(found.map, length(rows), length(cols), nb, rows, cols));
    });
  });
  return least;
}

TEST(FactorMapping, TimeIsCounted) {
  for (const auto& [m, n, nb] :
       {std::array<std::int64_t, 3>{24, 24, 4}, {25, 18, 4}, {7, 30, 3}, {1, 1, 5}, {0, 4, 2}}) {
    const FactorMapping f = map_for_factors({{5, 3, 2, 2, 1, 1}, 2, 3, m, n, MapMethod::best}, nb);
    EXPECT_DOUBLE_EQ(f.t_steps, counted(f.map, m, n, nb, f.row_owners, f.col_owners)) << m << "x" << n;
    Owners rows_in_turn, cols_in_turn;
    for (int b = 0; b < (m + nb - 1) / nb; ++b) rows_in_turn.push_back(b % 2);
    for (int b = 0; b < (n + nb - 1) / nb; ++b) cols_in_turn.push_back(b % 3);
    EXPECT_DOUBLE_EQ(f.t_cyclic, counted(f.map, m, n, nb, rows_in_turn, cols_in_turn));
    EXPECT_LE(f.t_least, f.t_steps * (1 + 1e-12));
    EXPECT_EQ(std::accumulate(f.map.rows.begin(), f.map.rows.end(), std::int64_t{0}), m);
    EXPECT_EQ(std::accumulate(f.map.cols.begin(), f.map.cols.end(), std::int64_t{0}), n);
  }
}

TEST(FactorMapping, IsTheLeastOnOneAxis) {
  for (const std::vector<double>& speeds :
       {std::vector<double>{1, 1, 1}, {3, 5, 8}, {1, 2, 4}, {1, 1.12, 9.2}, {10, 1}, {2, 1, 1, 1}})
    for (std::int64_t blocks = 1; blocks <= 8; ++blocks) {
      const auto p = static_cast<int>(speeds.size());
      const FactorMapping flat = map_for_factors({speeds, 1, p, 4 * blocks, 4 * blocks, MapMethod::best}, 4);
      EXPECT_NEAR(flat.t_steps, least_of_all(flat, 4), 1e-9 * flat.t_steps) << p << " columns, " << blocks;
      const FactorMapping high = map_for_factors({speeds, p, 1, 4 * blocks, 4 * blocks, MapMethod::best}, 4);
      EXPECT_NEAR(high.t_steps, flat.t_steps, 1e-9 * flat.t_steps) << p << " rows";
    }
}

/// On two axes a search: of all 2^10 owners the least, or near to it.
TEST(FactorMapping, IsNearTheLeastOnTwoAxes) {
  for (const std::vector<double>& speeds : {std::vector<double>{1, 1, 1, 1},
                                            {1, .5, .5, .25},
                                            {313, 279, 34, 25},
                                            {1, 1, 1, .5},
                                            {4, 3, 2, 1},
                                            {10, 1, 1, 1}})
    for (std::int64_t blocks = 2; blocks <= 5; ++blocks) {
      const FactorMapping f = map_for_factors({speeds, 2, 2, 4 * blocks, 4 * blocks, MapMethod::best}, 4);
      const double least = least_of_all(f, 4);
      EXPECT_GE(f.t_steps, least * (1 - 1e-12));
      EXPECT_LE(f.t_steps, 1.05 * least) << blocks << " blocks, the slowest " << speeds.back();
    }
}

/// The sets of speeds of the specification: what a product gains over equal parts, an LU gains nearly, too.
TEST(FactorMapping, GainsWhatAProductGains) {
  const auto gain = [](int p, int q, const std::vector<double>& speeds) {
    const FactorMapping f = map_for_factors({speeds, p, q, 64 * 64, 64 * 64, MapMethod::best}, 64);
    EXPECT_LE(f.t_steps, f.t_cyclic);
    return f.t_cyclic / f.t_steps;
  };
  EXPECT_GE(gain(1, 2, {1, .5}), 0.95 * 1.5);
  EXPECT_GE(gain(2, 2, {1, .5, .5, .25}), 0.95 * 2.25);
  EXPECT_GE(gain(2, 2, {313, 279, 34, 25}), 0.9 * 6.5);
  EXPECT_GE(gain(2, 2, {1, 1, 1, .5}), 0.95 * 1.5);
  EXPECT_GE(gain(2, 3, {1, 1, 1, .6, .6, .6}), 0.95 * 1.33);
  EXPECT_GE(gain(2, 3, {.9, .7, .5, .4, .3, .2}), 0.9 * 2.46);
}

/// The bounds that bench_pblas --unequal gives beside what it measures.
TEST(FactorMapping, BoundsOfAProduct) {
  const auto bound = [](int p, int q, const std::vector<double>& speeds) {
    const Mapping map = gridmap::map_processors({speeds, p, q, 1000, 1000, MapMethod::best});
    return 1e6 / (map.t_continuous * p * q * *std::min_element(speeds.begin(), speeds.end()));
  };
  EXPECT_NEAR(bound(1, 2, {1, .5}), 1.5, 0.005);
  EXPECT_NEAR(bound(2, 2, {1, .5, .5, .25}), 2.25, 0.005);
  EXPECT_NEAR(bound(2, 2, {313, 279, 34, 25}), 6.5, 0.05);
  EXPECT_NEAR(bound(2, 2, {1, 1, 1, .5}), 1.5, 0.005);
  EXPECT_NEAR(bound(2, 3, {1, 1, 1, .6, .6, .6}), 1.33, 0.005);
  EXPECT_NEAR(bound(2, 3, {.9, .7, .5, .4, .3, .2}), 2.46, 0.005);
}

TEST(FactorMapping, InPlaceNobodyMoves) {
  const FactorMapping f = map_for_factors({{1, 4, 2, 8}, 2, 2, 64, 64, MapMethod::best}, 4, true);
  EXPECT_EQ(f.map.speeds, (std::vector<double>{1, 4, 2, 8}));
  EXPECT_LT(f.t_steps, f.t_cyclic);
}

TEST(FactorMapping, RefusesWhatCannotBe) {
  EXPECT_THROW(map_for_factors({{1, 2}, 1, 2, 8, 8, MapMethod::best}, 0), base::Error);
  EXPECT_THROW(map_for_factors({{1, 0}, 1, 2, 8, 8, MapMethod::best}, 4), base::Error);
}

} // namespace
