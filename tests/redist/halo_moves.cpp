// SPDX-License-Identifier: BSD-3-Clause
// Borders over MPI, every element compared.
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../errors.hpp"
#include "halo_brute.hpp"
#include "world.hpp"

using namespace redist;
using gridmap::Axis;

namespace {

/// Byte k of element (i, j) in round `time`; places outside are all 0xee.
unsigned char byte_of(std::int64_t i, std::int64_t j, int time, int k) {
  return static_cast<unsigned char>((i * 31 + j * 7 + time * 3 + k * 101) % 233);
}
constexpr unsigned char outside = 0xee;

struct Ghosted {
  std::vector<brute::GhostedPlace> rows, cols;
  std::int64_t lld = 1;
  int bytes = 1;
  bool corners = true;

  std::vector<unsigned char> expected(int time) const {
    std::vector<unsigned char> array(static_cast<std::size_t>(lld * bytes) * cols.size(), outside);
    for (std::size_t j = 0; j < cols.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].glo >= 0 && cols[j].glo >= 0 && (corners || !rows[i].border || !cols[j].border))
          for (int k = 0; k < bytes; ++k) at(array, i, j)[k] = byte_of(rows[i].glo, cols[j].glo, time, k);
    return array;
  }
  unsigned char* at(std::vector<unsigned char>& array, std::size_t i, std::size_t j) const {
    return array.data() + (i + j * static_cast<std::size_t>(lld)) * static_cast<std::size_t>(bytes);
  }
  void set_interior(std::vector<unsigned char>& array, int time) const {
    for (std::size_t j = 0; j < cols.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (!rows[i].border && !cols[j].border)
          for (int k = 0; k < bytes; ++k) at(array, i, j)[k] = byte_of(rows[i].glo, cols[j].glo, time, k);
  }
};

TEST(HaloMoves, RandomLayoutsElementForElement) {
  std::mt19937 random(20261121);
  const int size = world_size(), rank = world_rank();
  for (int round = 0; round < 150; ++round) {
    int P = 1 + static_cast<int>(random() % static_cast<unsigned>(size));
    const int Q = size / P;
    const Layout layout =
        brute::random_layout(random, P, Q, static_cast<int>(random() % static_cast<unsigned>(size - P * Q + 1)), 40);
    const HaloOptions options = brute::random_options(random);
    const int bytes_of[] = {1, 4, 8, 16, 24};
    const int bytes = bytes_of[round % 5];
    Halo halo(MPI_COMM_WORLD, HaloPlan(layout, options), bytes);
    const auto [p, q] = layout.grid.position_of(rank);
    Ghosted mine;
    if (p >= 0) {
      mine.rows = brute::ghosted(layout.rows, p, options.rows);
      mine.cols = brute::ghosted(layout.cols, q, options.cols);
    }
    ASSERT_EQ(halo.rows(), static_cast<std::int64_t>(mine.rows.size()));
    ASSERT_EQ(halo.cols(), static_cast<std::int64_t>(mine.cols.size()));
    mine.bytes = bytes;
    mine.corners = options.neighbours == Neighbours::eight;
    mine.lld = halo.rows() + round % 3;
    const std::int64_t lld = round % 3 == 0 ? 0 : mine.lld;
    std::vector<unsigned char> array(static_cast<std::size_t>(mine.lld * bytes) * mine.cols.size(), outside);
    for (int time = 0; time < 4; ++time) {
      mine.set_interior(array, time);
      if (time % 2 == 0) {
        halo.exchange(array.data(), lld);
      } else {
        halo.start(array.data(), lld);
        halo.finish();
      }
      ASSERT_TRUE(array == mine.expected(time))
          << "round " << round << " time " << time << ": " << layout.rows.describe() << " x " << layout.cols.describe();
    }
    halo.close();
  }
}

TEST(HaloMoves, LocalArraysThereAndBack) {
  const int size = world_size(), rank = world_rank();
  const Layout layout{Axis::block_cyclic(50, 3, size), Axis::block_cyclic(20, 4, 1), Grid::row_major(size, 1)};
  Halo halo(MPI_COMM_WORLD, HaloPlan(layout), 8);
  const std::int64_t m = layout.local_rows(rank), lld = m + 2;
  std::vector<double> local(static_cast<std::size_t>(lld * 20)), back(local.size(), -1),
      ghosted(static_cast<std::size_t>(halo.rows() * halo.cols()));
  for (std::size_t k = 0; k < local.size(); ++k) local[k] = static_cast<double>(k) + rank * 10000;
  const double boundary = 0.25;
  halo.fill(ghosted.data(), &boundary);
  halo.to_ghosted(local.data(), lld, ghosted.data());
  halo.exchange(ghosted.data());
  halo.from_ghosted(ghosted.data(), back.data(), lld);
  for (std::int64_t j = 0; j < 20; ++j)
    for (std::int64_t i = 0; i < lld; ++i)
      ASSERT_EQ(back[static_cast<std::size_t>(i + j * lld)],
                i < m ? local[static_cast<std::size_t>(i + j * lld)] : -1.0);
  EXPECT_EQ(ghosted[0], boundary); // the corner outside the matrix
  halo.close();
  EXPECT_THROW(halo.exchange(ghosted.data()), base::Error);
}

TEST(HaloMoves, ThousandsOfExchanges) {
  // fast ranks are one exchange ahead of slow ones
  const int size = world_size(), rank = world_rank();
  const Layout layout{Axis::variable(std::vector<std::int64_t>(static_cast<std::size_t>(size), 3)), Axis::block(5, 1),
                      Grid::row_major(size, 1)};
  Halo halo(MPI_COMM_WORLD, HaloPlan(layout, {{1, 1, true}, {}}), 4);
  std::vector<int> u(static_cast<std::size_t>(halo.rows() * halo.cols()), -1);
  for (int time = 0; time < 3000; ++time) {
    for (int j = 1; j <= 5; ++j)
      for (int i = 1; i <= 3; ++i) u[static_cast<std::size_t>(i + j * halo.rows())] = time * 1000 + rank * 10 + i;
    halo.exchange(u.data());
    for (int j = 1; j <= 5; ++j) {
      ASSERT_EQ(u[static_cast<std::size_t>(j * halo.rows())], time * 1000 + (rank + size - 1) % size * 10 + 3);
      ASSERT_EQ(u[static_cast<std::size_t>(4 + j * halo.rows())], time * 1000 + (rank + 1) % size * 10 + 1);
    }
  }
  Halo moved(std::move(halo));
  moved.exchange(u.data());
}

TEST(HaloMoves, Refusals) {
  const int size = world_size();
  const Layout layout{Axis::block(4 * size, size), Axis::block(5, 1), Grid::row_major(size, 1)};
  const HaloPlan plan(layout);
  // one rank is wrong, all report it
  EXPECT_EQ(status_of([&] { Halo(MPI_COMM_WORLD, plan, world_rank() == size - 1 ? 0 : 8); }),
            base::Status::bad_argument);
  Layout elsewhere = layout;
  elsewhere.grid = Grid::row_major(size, 1, 1);
  EXPECT_EQ(status_of([&] { Halo(MPI_COMM_WORLD, HaloPlan(elsewhere), 8); }), base::Status::bad_argument);
  constexpr int widest = std::numeric_limits<int>::max();
  const HaloPlan wide(Layout{Axis::block(2 * size, size), Axis::block(2, 1), Grid::row_major(size, 1)},
                      {{widest, widest}, {widest, widest}});
  EXPECT_EQ(status_of([&] { Halo(MPI_COMM_WORLD, wide, 8); }), base::Status::out_of_memory); // 2^64 elements
  Halo halo(MPI_COMM_WORLD, plan, 8);
  EXPECT_EQ(status_of([&] { halo.start(nullptr); }), base::Status::null_pointer);
  std::vector<double> u(static_cast<std::size_t>(halo.rows() * halo.cols()));
  EXPECT_EQ(status_of([&] { halo.start(u.data(), 1); }), base::Status::bad_argument);
  EXPECT_EQ(status_of([&] { halo.finish(); }), base::Status::bad_state);
  halo.start(u.data());
  EXPECT_EQ(status_of([&] { halo.start(u.data()); }), base::Status::bad_state);
  halo.close(); // waits for what is under way
}

} // namespace
