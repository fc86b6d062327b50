// SPDX-License-Identifier: BSD-3-Clause
// Products whose panels are read where they are: exact, and not read where the kernel refuses it to one process.
#include "../../pblas/src/in_place.hpp"

#include "reading.hpp"
#include "spread.hpp"

namespace {

using namespace spread;

int number(std::uint64_t seed, int i, int j) {
  return static_cast<int>(8 * element_of<double>(seed, i, j)); // sums of products have no rounding
}

std::int64_t all(std::int64_t mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

void check_product(Random& random, const Grid& grid, int m, int n, int k) {
  auto a = random_matrix<double>(random, grid, m, k), b = random_matrix<double>(random, grid, k, n),
       c = random_matrix<double>(random, grid, m, n);
  a.fill([](int i, int j) { return number(1, i, j); });
  b.fill([](int i, int j) { return number(2, i, j); });
  c.fill([](int i, int j) { return number(3, i, j); });
  const double one = 1;
  dyngrid_pdgemm_("N", "N", &m, &n, &k, &one, a.data(), &a.i, &a.j, a.desc.data(), b.data(), &b.i, &b.j, b.desc.data(),
                  &one, c.data(), &c.i, &c.j, c.desc.data());
  const Dense<double> got = c.whole();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = number(3, i, j);
      for (int l = 0; l < k; ++l) sum += number(1, i, l) * number(2, l, j);
      ASSERT_EQ(got(i, j), sum) << i << ", " << j;
    }
  EXPECT_TRUE(c.is_kept() && a.local == a.before && b.local == b.before);
}

/// On all shapes of the grid; several panels, some slices empty. @return bytes that were read, all together
std::int64_t products() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::int64_t before = reading::bytes;
  for (int p = 1; p <= size; ++p) {
    if (size % p != 0) continue;
    const Grid grid(p, size / p);
    for (int round = 0; round < 6; ++round) {
      Random random(static_cast<unsigned>(round));
      check_product(random, grid, pick(random, 1, 40), pick(random, 1, 40), pick(random, 300, 1100));
    }
  }
  return all(reading::bytes - before);
}

TEST(InPlace, ProductsAreExact) {
  EXPECT_EQ(products(), 0); // one world: by MPI
  pblas::always_read_in_place(true);
  EXPECT_GT(products(), 40 * 300 * 8);
}

TEST(InPlace, IsLeftWhereOneIsRefused) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pblas::always_read_in_place(true);
  reading::is_refused = rank == 1;
  const Grid grid(1, size);
  const std::int64_t before = reading::bytes;
  Random random(1);
  check_product(random, grid, 20, 20, 700);
  EXPECT_EQ(all(reading::bytes - before), 8 * size * (size - 1)); // each tried once with each of the others
  reading::is_refused = false;
  pblas::always_read_in_place(false);
}

} // namespace
