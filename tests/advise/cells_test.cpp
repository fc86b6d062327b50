// SPDX-License-Identifier: BSD-3-Clause
#include "advise/cells.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../every_partition.hpp"
#include "base/index.hpp"

namespace {
using advise::Borders;
using base::at;

TEST(Cells, ExactOnOneRowAndNeverSlowerThanEqualStretches) {
  std::mt19937 engine(24);
  const auto whole = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine); };
  const auto real = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(engine);
  };
  for (int run = 0; run < 300; ++run) {
    advise::CellsRequest request;
    request.m = whole(0, 6);
    request.n = whole(0, 6);
    request.nprow = whole(1, 2);
    request.npcol = whole(1, 3);
    request.costs.resize(at(request.m * request.n));
    for (double& cost : request.costs) cost = real(0, 5);
    request.speeds.resize(at(std::int64_t{request.nprow} * request.npcol));
    for (double& speed : request.speeds) speed = real(0.2, 2);
    const auto time = [&](const Borders& rows, const Borders& cols) {
      double seconds = 0;
      for (int i = 0; i < request.nprow; ++i)
        for (int j = 0; j < request.npcol; ++j) {
          double work = 0;
          for (std::int64_t a = rows[at(i)]; a < rows[at(i) + 1]; ++a)
            for (std::int64_t b = cols[at(j)]; b < cols[at(j) + 1]; ++b) work += request.costs[at(a * request.n + b)];
          seconds = std::max(seconds, work / request.speeds[at(i * request.npcol + j)]);
        }
      return seconds;
    };
    double least = std::numeric_limits<double>::infinity();
    every_partition(request.m, at(request.nprow), [&](const Borders& rows) {
      every_partition(request.n, at(request.npcol),
                      [&](const Borders& cols) { least = std::min(least, time(rows, cols)); });
    });
    Borders equal_rows, equal_cols;
    for (int i = 0; i <= request.nprow; ++i) equal_rows.push_back(request.m * i / request.nprow);
    for (int j = 0; j <= request.npcol; ++j) equal_cols.push_back(request.n * j / request.npcol);
    const advise::Cells cells = advise::balance_cells(request);
    ASSERT_NEAR(cells.seconds, time(cells.first_row, cells.first_col), 1e-9);
    ASSERT_LE(cells.seconds, time(equal_rows, equal_cols) + 1e-9);
    ASSERT_GE(cells.seconds, least - 1e-9);
    if (request.nprow == 1 || request.npcol == 1) {
      ASSERT_NEAR(cells.seconds, least, 1e-9) << "run " << run;
    }
  }
}

} // namespace
