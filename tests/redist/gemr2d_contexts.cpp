// SPDX-License-Identifier: BSD-3-Clause
// Copies in contexts that are opened for them and closed again, as libraries do it: what is kept for a set of
// processes, that overlapping sets do not disturb each other, and that nothing is left behind.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../sanitized.hpp"
#include "gemr2d_routines.hpp"
#include "redist/gemr2d.hpp"
#include "resources.hpp"
#include "world.hpp"

namespace {

using resources::next_communicator;
using resources::open_files;
using resources::resident_pages;

/// n x n from columns of 2 to columns of 3 over these processes, in a context of its own. Called by all of
/// the world.
void copy_over(std::vector<int> ranks, int n) {
  const int size = static_cast<int>(ranks.size());
  int ctxt = 0, nprow = 0, npcol = 0, p = -1, q = -1;
  Cblacs_get(-1, 0, &ctxt);
  Cblacs_gridmap(&ctxt, ranks.data(), 1, 1, size);
  if (std::find(ranks.begin(), ranks.end(), world_rank()) == ranks.end()) return;
  Cblacs_gridinfo(ctxt, &nprow, &npcol, &p, &q);
  int from[9] = {1, ctxt, n, n, n, 2, 0, 0, n}, to[9] = {1, ctxt, n, n, n, 3, 0, size - 1, n};
  const auto columns = [&](int nb, int src) {
    std::vector<int> mine;
    for (int j = 0; j < n; ++j)
      if ((j / nb + src) % size == q) mine.push_back(j);
    return mine;
  };
  const std::vector<int> mine = columns(2, 0), wanted = columns(3, size - 1);
  std::vector<double> a(mine.size() * static_cast<std::size_t>(n) + 1),
      b(wanted.size() * static_cast<std::size_t>(n) + 1, -1);
  for (std::size_t j = 0; j < mine.size(); ++j)
    for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i) + j * static_cast<std::size_t>(n)] = i * 4096.0 + mine[j];
  Cpdgemr2d(n, n, a.data(), 1, 1, from, b.data(), 1, 1, to, ctxt);
  int wrong = 0;
  for (std::size_t j = 0; j < wanted.size(); ++j)
    for (int i = 0; i < n; ++i)
      wrong += b[static_cast<std::size_t>(i) + j * static_cast<std::size_t>(n)] == i * 4096.0 + wanted[j] ? 0 : 1;
  EXPECT_EQ(wrong, 0) << "n = " << n << " over " << size << " processes";
  Cblacs_gridexit(ctxt);
}

std::vector<int> everybody() {
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;
  for (int r = 0; r < world; ++r) ranks.push_back(r);
  return ranks;
}

/// No communicator is left that was not there when next_communicator() gave `before`. With MPICH 5 only more than a
/// dozen are noticed; each test here makes more.
void expect_no_more_communicators(int before) {
  constexpr int number = 0xfff; // of MPICH's handle
  if (resources::is_mpich_5)
    EXPECT_LE(next_communicator() & number, (before & number) + 12);
  else
    EXPECT_EQ(next_communicator(), before);
}

TEST(Gemr2dContexts, OneExecutorForAllContextsOfASet) {
  const int communicators = next_communicator(), files = open_files();
  copy_over(everybody(), 20);
  EXPECT_EQ(redist::remembered_executors(), 0u); // not worth one
  for (int k = 0; k < 40; ++k) copy_over(everybody(), 20 + k % 3);
  EXPECT_EQ(redist::remembered_executors(), 1u);
  EXPECT_EQ(redist::remembered_contexts(), 0u);
  redist::forget_process_sets();
  EXPECT_EQ(redist::remembered_executors(), 0u);
  expect_no_more_communicators(communicators);
  EXPECT_EQ(open_files(), files);
  copy_over(everybody(), 1100); // 9.7 MB at once
  EXPECT_EQ(redist::remembered_executors(), 1u);
  redist::forget_process_sets();
}

/// Random subsets in random orders, more of them than may stay, of sizes that need an executor and that do
/// not: every process takes part in sets that the others know nothing of.
TEST(Gemr2dContexts, OverlappingSetsInTurn) {
  const int communicators = next_communicator(), files = open_files();
  std::mt19937 random(7);
  std::vector<std::vector<int>> sets;
  for (int k = 0; k < 14; ++k) {
    std::vector<int> ranks = everybody();
    std::shuffle(ranks.begin(), ranks.end(), random);
    ranks.resize(1 + random() % ranks.size());
    sets.push_back(ranks);
  }
  for (int k = 0; k < 300; ++k)
    copy_over(sets[random() % sets.size()], random() % 25 == 0 ? 1100 : 5 + static_cast<int>(random() % 60));
  EXPECT_LE(redist::remembered_executors(), 8u);
  EXPECT_EQ(redist::remembered_contexts(), 0u);
  for (int k = 0; k < 30; ++k) copy_over(everybody(), 30);
  redist::forget_process_sets();
  expect_no_more_communicators(communicators);
  EXPECT_EQ(open_files(), files);
}

TEST(Gemr2dContexts, ManyContextsLeaveNothingBehind) {
  std::vector<int> odd = everybody();
  std::reverse(odd.begin(), odd.end());
  const auto calls = [&](int count) {
    for (int k = 0; k < count; ++k) copy_over(k % 3 == 0 ? odd : everybody(), 8 + k % 5);
  };
  calls(300);
  const int communicators = next_communicator(), files = open_files();
  const long pages = resident_pages();
  calls(2000);
  EXPECT_EQ(next_communicator(), communicators);
  EXPECT_EQ(open_files(), files);
  const long pages_after = resident_pages();
  if (!is_sanitized) {
    EXPECT_LE(pages_after, pages + 128) << "pages of 4 KiB after 2000 contexts";
  }
  if (world_rank() == 0) std::printf("2000 contexts: resident %ld -> %ld KiB\n", pages * 4, pages_after * 4);
  EXPECT_EQ(redist::remembered_executors(), 2u);
  redist::forget_process_sets();
}

} // namespace
