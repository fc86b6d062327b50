// SPDX-License-Identifier: BSD-3-Clause
#include <climits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "brute.hpp"
#include "dyngrid/redist.h"
#include "redist/descriptor.hpp"

using namespace redist;

extern "C" int numroc_(const int* n, const int* nb, const int* iproc, const int* isrcproc, const int* nprocs);
extern "C" int indxg2p_(const int* i, const int* nb, const int* iproc, const int* isrcproc, const int* nprocs);
extern "C" int indxg2l_(const int* i, const int* nb, const int* iproc, const int* isrcproc, const int* nprocs);
extern "C" int indxl2g_(const int* i, const int* nb, const int* iproc, const int* isrcproc, const int* nprocs);

namespace {

constexpr GridPosition grid{2, 3, 1, 2};

// 10 x 9, rows in blocks of 3,0,2, columns in blocks of 1,4; process (1, 2) holds rows 8 9 10 (worked out by
// hand: blocks 3 0 2 3 0 2 on rows 1 0 1 0 1 0 with RSRC 1, so row 1 holds 0-2, 3-4 and nothing: 5 rows)
std::vector<int> good() {
  return {601, 0, 10, 9, 3, 2, 1, 0, 5, 3, 0, 2, 1, 4};
}

TEST(Descriptor, InfoNamesTheFirstBadEntry) {
  const auto info = [](int entry, int value) {
    std::vector<int> desc = good();
    desc[static_cast<std::size_t>(entry - 1)] = value;
    return check_descriptor(desc.data(), desc.size(), grid, 4);
  };
  EXPECT_EQ(check_descriptor(good().data(), 0, grid, 4), 0);
  EXPECT_EQ(info(1, 501), -401);
  EXPECT_EQ(info(3, -1), -403);
  EXPECT_EQ(info(4, -1), -404);
  EXPECT_EQ(info(5, 0), -405);
  EXPECT_EQ(info(5, 6), -405); // more row sizes than there are integers
  EXPECT_EQ(info(5, 5), -406); // so no room is left for the column sizes
  EXPECT_EQ(info(6, 0), -406);
  EXPECT_EQ(info(6, 3), -406);
  EXPECT_EQ(info(6, INT_MAX), -406);
  EXPECT_EQ(info(7, -1), -407);
  EXPECT_EQ(info(7, 2), -407);
  EXPECT_EQ(info(8, 3), -408);
  EXPECT_EQ(info(9, 4), -409);
  EXPECT_EQ(info(9, 0), -409);
  EXPECT_EQ(info(10, -3), -410);
  EXPECT_EQ(info(12, -1), -412);
  EXPECT_EQ(info(13, -1), -413);
  const std::vector<int> nothing{601, 0, 10, 9, 2, 1, 0, 0, 10, 0, 0, 3};
  EXPECT_EQ(check_descriptor(nothing.data(), nothing.size(), grid, 2), -210);
  const std::vector<int> large{
      601,     0,       10,      10,      1,       9,       0,       0,       10, 4,
      1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1}; // 9 * 2^30 columns to each
                                                                                  // of 2^30 positions
  EXPECT_EQ(check_descriptor(large.data(), large.size(), {2, 1 << 30, 0, 0}, 2), -211);
  EXPECT_EQ(check_descriptor(large.data(), large.size(), {2, 1 << 29, 0, 0}, 2), 0);
  EXPECT_EQ(check_descriptor(good().data(), 5, grid, 1), -101);
  EXPECT_EQ(check_descriptor(good().data(), 0, {0, 3, 0, 0}, 1), -102);
  EXPECT_EQ(check_descriptor(good().data(), 0, {2, 3, 2, 0}, 1), -102);
  EXPECT_EQ(check_descriptor(good().data(), 0, {}, 1), 0); // outside the grid
}

TEST(Descriptor, IntegersOfEightBytes) {
  const int wide[18] = {1, 0, 0, 0, 10, 0, 9, 0, 3, 0, 2, 0, 0, 0, 0, 0, 5, 0};
  EXPECT_TRUE(has_wide_integers(wide));
  EXPECT_TRUE(says(message_of([&] { read_descriptor(wide, 0, grid); }), "8 bytes (ILP64)"));
  EXPECT_FALSE(has_wide_integers(good().data()));
  const int narrow[9] = {1, 0, 10, 0, 3, 2, 0, 0, 5}; // no columns
  EXPECT_FALSE(has_wide_integers(narrow));
}

TEST(Descriptor, TypeOneIsScaLapacks) {
  std::vector<int> desc{1, 0, 10, 9, 3, 2, 1, 0, 4};
  EXPECT_EQ(check_descriptor(desc.data(), desc.size(), {2, 2, 0, 0}, 1), 0); // row 0 holds rows 3-5 and 9
  desc[8] = 3;
  EXPECT_EQ(check_descriptor(desc.data(), desc.size(), {2, 2, 0, 0}, 1), -109);
  desc[4] = 0;
  EXPECT_EQ(check_descriptor(desc.data(), desc.size(), {2, 2, 0, 0}, 1), -105);
}

TEST(Descriptor, ThereAndBack) {
  const std::vector<int> listed = good();
  EXPECT_EQ(write_descriptor(read_descriptor(listed.data(), 0, grid)), listed);
  const std::vector<int> uniform{1, 0, 10, 9, 3, 2, 1, 0, 6};
  EXPECT_EQ(write_descriptor(read_descriptor(uniform.data(), 0, grid)), uniform);
  Descriptor descriptor = read_descriptor(listed.data(), 0, grid);
  descriptor.dtype = 1;
  EXPECT_THROW(write_descriptor(descriptor), base::Error);
  descriptor.dtype = 601;
  descriptor.rows.n = 1LL << 40;
  EXPECT_THROW(write_descriptor(descriptor), base::Error);
  EXPECT_THROW(read_descriptor(nullptr, 0, grid), base::Error);
}

TEST(Descriptor, MapsOfScaLapack) {
  std::mt19937 random(7);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 300; ++round) {
    const int n = pick(1, 60), nb = pick(1, 9), nprocs = pick(1, 6), src = pick(0, nprocs - 1), zero = 0;
    const int one[] = {1, 0, n, 7, nb, 2, src, 0, 60};
    const int listed[] = {601, 0, 7, n, 1, 1, 0, src, 60, 2, nb};
    for (int p = 0; p < nprocs; ++p) {
      const int mine = numroc_(&n, &nb, &p, &src, &nprocs);
      EXPECT_EQ(dyngrid_desc_numroc(one, 'R', p, nprocs), mine);
      EXPECT_EQ(dyngrid_desc_numroc(listed, 'C', p, nprocs), mine);
      for (int i = 1; i <= mine; ++i) {
        EXPECT_EQ(dyngrid_desc_indxl2g(one, 'R', i, p, nprocs), indxl2g_(&i, &nb, &p, &src, &nprocs));
        EXPECT_EQ(dyngrid_desc_indxl2g(listed, 'C', i, p, nprocs), indxl2g_(&i, &nb, &p, &src, &nprocs));
      }
    }
    for (int i = 1; i <= n; ++i) {
      EXPECT_EQ(dyngrid_desc_indxg2p(one, 'R', i, nprocs), indxg2p_(&i, &nb, &zero, &src, &nprocs));
      EXPECT_EQ(dyngrid_desc_indxg2l(listed, 'C', i, nprocs), indxg2l_(&i, &nb, &zero, &src, &nprocs));
    }
  }
}

TEST(Descriptor, MapsOfListedSizesByDealing) {
  std::mt19937 random(8);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 300; ++round) {
    const int nprocs = pick(1, 5), n = pick(1, 60);
    std::vector<int> desc{601, 0, n, 1, pick(1, 6), 1, pick(0, nprocs - 1), 0, 60};
    for (int k = 0; k < desc[4]; ++k) desc.push_back(pick(0, 4));
    desc[9] = pick(1, 4);
    desc.push_back(1);
    const gridmap::Axis axis{n, {desc.begin() + 9, desc.begin() + 9 + desc[4]}, desc[6], nprocs};
    const auto dealt = brute::places_of(axis);
    std::vector<int> mine(static_cast<std::size_t>(nprocs), 0);
    for (int i = 1; i <= n; ++i) {
      const auto& one = dealt[static_cast<std::size_t>(i - 1)];
      ++mine[static_cast<std::size_t>(one.position)];
      EXPECT_EQ(dyngrid_desc_indxg2p(desc.data(), 'R', i, nprocs), one.position);
      EXPECT_EQ(dyngrid_desc_indxg2l(desc.data(), 'R', i, nprocs), one.local + 1);
      EXPECT_EQ(dyngrid_desc_indxl2g(desc.data(), 'R', static_cast<int>(one.local) + 1, one.position, nprocs), i);
    }
    for (int p = 0; p < nprocs; ++p)
      EXPECT_EQ(dyngrid_desc_numroc(desc.data(), 'R', p, nprocs), mine[static_cast<std::size_t>(p)]);
  }
}

TEST(Descriptor, MapsRefuseInStatuses) {
  const std::vector<int> desc = good();
  EXPECT_EQ(dyngrid_desc_numroc(nullptr, 'R', 0, 2), DYNGRID_ERR_NULL);
  EXPECT_EQ(dyngrid_desc_numroc(desc.data(), 'X', 0, 2), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_desc_numroc(desc.data(), 'R', 2, 2), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_desc_indxg2p(desc.data(), 'R', 0, 2), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_desc_indxg2p(desc.data(), 'R', 11, 2), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_desc_indxl2g(desc.data(), 'R', 6, 1, 2), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_desc_numroc(desc.data(), 'R', 0, 1), DYNGRID_ERR_ARGUMENT); // RSRC_ is 1
  std::vector<int> bad = desc;
  bad[4] = 0;
  EXPECT_EQ(dyngrid_desc_numroc(bad.data(), 'R', 0, 2), DYNGRID_ERR_DESCRIPTOR);
}

TEST(Descriptor, InitInfoIsMinusTheArgument) {
  // outside every grid, so that no BLACS is needed here; the C test has a grid
  std::vector<int> desc(14, 77);
  const int rows[] = {3, 0, 2}, cols[] = {1, 4}, none[] = {0, 0}, minus[] = {1, -1};
  int info = 5;
  EXPECT_EQ(dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, cols, 1, 0, -1, 5, &info), DYNGRID_SUCCESS);
  EXPECT_EQ(info, 0);
  std::vector<int> wanted = good();
  wanted[1] = -1;
  EXPECT_EQ(desc, wanted);
  EXPECT_EQ(dyngrid_desc_init(nullptr, 10, 9, 3, rows, 2, cols, 1, 0, -1, 5, &info), DYNGRID_ERR_NULL);
  EXPECT_EQ(info, -1);
  const auto failing = [&](int argument, int status) {
    EXPECT_EQ(status, argument == 5 || argument == 7 ? status : DYNGRID_ERR_DESCRIPTOR);
    EXPECT_EQ(info, -argument);
    EXPECT_EQ(desc, wanted); // left alone
  };
  failing(2, dyngrid_desc_init(desc.data(), -1, 9, 3, rows, 2, cols, 1, 0, -1, 5, &info));
  failing(3, dyngrid_desc_init(desc.data(), 10, -9, 3, rows, 2, cols, 1, 0, -1, 5, &info));
  failing(4, dyngrid_desc_init(desc.data(), 10, 9, 0, rows, 2, cols, 1, 0, -1, 5, &info));
  failing(5, dyngrid_desc_init(desc.data(), 10, 9, 3, nullptr, 2, cols, 1, 0, -1, 5, &info));
  failing(5, dyngrid_desc_init(desc.data(), 10, 9, 2, minus, 2, cols, 1, 0, -1, 5, &info));
  failing(5, dyngrid_desc_init(desc.data(), 10, 9, 2, none, 2, cols, 1, 0, -1, 5, &info));
  failing(6, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, -2, cols, 1, 0, -1, 5, &info));
  failing(7, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, nullptr, 1, 0, -1, 5, &info));
  failing(7, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, minus, 1, 0, -1, 5, &info));
  failing(8, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, cols, -1, 0, -1, 5, &info));
  failing(9, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, cols, 1, -1, -1, 5, &info));
  failing(10, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, cols, 1, 0, -2, 5, &info));
  failing(11, dyngrid_desc_init(desc.data(), 10, 9, 3, rows, 2, cols, 1, 0, -1, 0, &info));
  EXPECT_EQ(dyngrid_desc_check(desc.data(), 14, 3, 2, 3, 1, 2, nullptr), DYNGRID_SUCCESS);
  desc[8] = 4;
  EXPECT_EQ(dyngrid_desc_check(desc.data(), 14, 3, 2, 3, 1, 2, &info), DYNGRID_ERR_DESCRIPTOR);
  EXPECT_EQ(info, -309);
}

TEST(Layouts, PlansInC) {
  const int desc[] = {601, 0, 6, 4, 2, 1, 0, 0, 6, 2, 1, 4};
  const std::int64_t row_sizes[] = {1, 2, 3}, col_sizes[] = {4};
  const int row_owners[] = {1, 0, 1}, col_owners[] = {0}, ranks[] = {5, 3};
  dyngrid_layout *listed = nullptr, *blocks = nullptr, *everywhere = nullptr;
  ASSERT_EQ(dyngrid_layout_create(desc, 2, 1, nullptr, &listed), DYNGRID_SUCCESS) << dyngrid_last_message();
  ASSERT_EQ(
      dyngrid_layout_create_block_list(6, 4, 3, row_sizes, row_owners, 1, col_sizes, col_owners, 2, 1, ranks, &blocks),
      DYNGRID_SUCCESS);
  ASSERT_EQ(dyngrid_layout_create_replicated(6, 4, 1, 2, ranks, &everywhere), DYNGRID_SUCCESS);
  dyngrid_layout* too_large = nullptr;
  EXPECT_EQ(dyngrid_layout_create_replicated(6, 4, 1 << 16, 1 << 16, nullptr, &too_large), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(too_large, nullptr);
  std::int64_t rows = -1, cols = -1;
  EXPECT_EQ(dyngrid_layout_local_size(blocks, 3, &rows, &cols), DYNGRID_SUCCESS); // grid row 1: 1 + 3 rows
  EXPECT_EQ(rows, 4);
  EXPECT_EQ(cols, 4);
  EXPECT_EQ(dyngrid_layout_local_size(blocks, 0, &rows, &cols), DYNGRID_SUCCESS);
  EXPECT_EQ(rows + cols, 0);
  dyngrid_plan* plan = nullptr;
  ASSERT_EQ(dyngrid_plan_create(blocks, everywhere, 'N', DYNGRID_SCHEDULE_MATCHING, 8, &plan), DYNGRID_SUCCESS)
      << dyngrid_last_message();
  dyngrid_plan_figures figures;
  EXPECT_EQ(dyngrid_plan_get_figures(plan, &figures), DYNGRID_SUCCESS);
  // rank 5 has 2 of the 6 rows, rank 3 has 4; each sends its own to the other
  EXPECT_EQ(figures.messages, 2);
  EXPECT_EQ(figures.moved, 24);
  EXPECT_EQ(figures.kept, 24);
  EXPECT_EQ(figures.max_out, 16);
  EXPECT_EQ(figures.max_in, 16);
  EXPECT_EQ(figures.sum_of_largest, 16);
  std::int64_t sends = 0, out = 0;
  EXPECT_EQ(dyngrid_plan_of_rank(plan, 5, &sends, nullptr, &out, nullptr, nullptr), DYNGRID_SUCCESS);
  EXPECT_EQ(sends, 1);
  EXPECT_EQ(out, 8);
  const char* text = nullptr;
  EXPECT_EQ(dyngrid_plan_describe(plan, &text), DYNGRID_SUCCESS);
  EXPECT_TRUE(says(text, "replicated"));
  EXPECT_EQ(dyngrid_plan_destroy(&plan), DYNGRID_SUCCESS);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(dyngrid_plan_create(listed, nullptr, 'N', 0, 8, &plan), DYNGRID_ERR_NULL);
  EXPECT_EQ(dyngrid_plan_create(listed, blocks, 'X', 0, 8, &plan), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_plan_create(listed, blocks, 'N', 9, 8, &plan), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_plan_create(listed, blocks, 'T', 0, 8, &plan), DYNGRID_ERR_SHAPE);
  EXPECT_EQ(plan, nullptr);
  for (dyngrid_layout** one : {&listed, &blocks, &everywhere}) {
    EXPECT_EQ(dyngrid_layout_destroy(one), DYNGRID_SUCCESS);
    EXPECT_EQ(*one, nullptr);
  }
  EXPECT_EQ(dyngrid_layout_create_replicated(6, -4, 1, 2, ranks, &everywhere), DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_layout_create_replicated(6, 4, 0, 2, ranks, &everywhere), DYNGRID_ERR_ARGUMENT);
  const int far_owners[] = {1, 0, 2};
  EXPECT_EQ(
      dyngrid_layout_create_block_list(6, 4, 3, row_sizes, far_owners, 1, col_sizes, col_owners, 2, 1, ranks, &blocks),
      DYNGRID_ERR_ARGUMENT);
  EXPECT_EQ(dyngrid_layout_create(nullptr, 2, 1, nullptr, &listed), DYNGRID_ERR_NULL);
}

} // namespace
