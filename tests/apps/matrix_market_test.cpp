// SPDX-License-Identifier: BSD-3-Clause
#include "common/matrix_market.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <unistd.h>

#include "../errors.hpp"

namespace {

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

class MatrixMarket : public ::testing::Test {
protected:
  void write(const std::string& text) { std::ofstream(path_) << text; }
  Entries read() const {
    Entries entries;
    apps::read_matrix_market(path_, [&](std::int64_t i, std::int64_t j, double value) { entries[{i, j}] += value; });
    return entries;
  }
  std::string complaint() const {
    return message_of<std::runtime_error>([this] { read(); });
  }
  void TearDown() override { std::remove(path_.c_str()); }

  std::string path_ = ::testing::TempDir() + "mm_" + std::to_string(getpid()) + ".mtx";
};

TEST_F(MatrixMarket, reads_a_dense_matrix_down_its_columns) {
  write("%%MatrixMarket matrix array real general\n% words\n2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(read(), (Entries{{{0, 0}, 1}, {{1, 0}, 2}, {{0, 1}, 3}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}}));
}

TEST_F(MatrixMarket, reads_a_sparse_matrix) {
  write("%%MatrixMarket matrix coordinate real general\n%\n\n3 3 2\n3 1 -1.5e2\n1 2 4\n");
  EXPECT_EQ(read(), (Entries{{{2, 0}, -150}, {{0, 1}, 4}}));
}

TEST_F(MatrixMarket, fills_in_the_other_half_of_symmetric_matrices) {
  write("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 3\n");
  EXPECT_EQ(read(), (Entries{{{0, 0}, 7}, {{1, 0}, 3}, {{0, 1}, 3}}));
  write("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(read(), (Entries{{{0, 0}, 1},
                             {{1, 0}, 2},
                             {{0, 1}, 2},
                             {{2, 0}, 3},
                             {{0, 2}, 3},
                             {{1, 1}, 4},
                             {{2, 1}, 5},
                             {{1, 2}, 5},
                             {{2, 2}, 6}}));
  write("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n");
  EXPECT_EQ(read(), (Entries{{{1, 0}, 1}, {{0, 1}, -1}, {{2, 0}, 2}, {{0, 2}, -2}, {{2, 1}, 3}, {{1, 2}, -3}}));
}

TEST_F(MatrixMarket, says_what_is_wrong) {
  write("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
  EXPECT_TRUE(says(complaint(), "field is 'complex'"));
  write("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
  EXPECT_TRUE(says(complaint(), "entry 2 of 2"));
  write("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  EXPECT_TRUE(says(complaint(), "(3, 1)"));
  write("hello\n");
  EXPECT_TRUE(says(complaint(), "does not begin"));
}

} // namespace
