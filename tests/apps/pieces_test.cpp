// SPDX-License-Identifier: BSD-3-Clause
#include "common/pieces.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Pieces, HaveEachElementOnce) {
  for (const std::size_t size : {0, 1, 3, 4, 5, 8, 11}) {
    std::vector<double> array(size);
    std::vector<int> counts;
    const auto add_one = [&](double* first, int count) {
      counts.push_back(count);
      for (int k = 0; k < count; ++k) first[k] += 1;
    };
    apps::in_pieces(array, add_one, 4);
    EXPECT_EQ(array, std::vector<double>(size, 1));
    ASSERT_EQ(counts.size(), (size + 3) / 4);
    for (std::size_t k = 0; k + 1 < counts.size(); ++k) EXPECT_EQ(counts[k], 4);
  }
}

} // namespace
