// SPDX-License-Identifier: BSD-3-Clause
// Whole exchanges of many ranks in one process, without MPI: what each rank has to do, its groups of streams, panels
// filled and emptied by hand. Every element of every target is compared with the owner found index by index.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "brute.hpp"
#include "exec/group.hpp"
#include "exec/turn.hpp"
#include "exec/work.hpp"
#include "redist/plan.hpp"

using gridmap::Axis;
using redist::Grid;
using redist::Layout;
using redist::Piece;
using redist::Plan;
using redist::PlanOptions;
using redist::Pointers;
using redist::RankPlan;
using redist::detail::Group;
using redist::detail::LocalCopy;
using redist::detail::Outgoing;
using redist::detail::Slab;
using redist::detail::Stream;
using redist::detail::Turn;
using redist::detail::Work;

namespace {

constexpr double untouched = -1;

bool is_shared(int) {
  return true;
}

/// One matrix on all ranks; element (i,j) is i*n + j + its number times a million.
struct Matrix {
  Layout from, to;
  std::vector<RankPlan> plans;
  std::vector<std::vector<double>> source, target;
  double base;

  Matrix(Layout from_, Layout to_, redist::Schedule schedule, int size, int number)
      : from(std::move(from_)), to(std::move(to_)), base(1e6 * number) {
    PlanOptions options;
    options.schedule = schedule;
    const Plan plan(from, to, options);
    const auto rows = brute::places_of(from.rows), cols = brute::places_of(from.cols);
    for (int r = 0; r < size; ++r) {
      plans.push_back(plan.for_rank(r));
      const RankPlan& mine = plans.back();
      source.emplace_back(static_cast<std::size_t>(mine.m_loc_from * mine.n_loc_from), untouched);
      target.emplace_back(static_cast<std::size_t>(mine.m_loc_to * mine.n_loc_to), untouched);
      const auto [p, q] = from.grid.position_of(r);
      for (std::size_t j = 0; j < cols.size(); ++j)
        for (std::size_t i = 0; i < rows.size(); ++i)
          if (rows[i].position == p && cols[j].position == q)
            source.back()[static_cast<std::size_t>(rows[i].local + cols[j].local * mine.m_loc_from)] = value(i, j);
    }
  }
  double value(std::size_t i, std::size_t j) const {
    return base + static_cast<double>(i) * static_cast<double>(from.cols.n) + static_cast<double>(j);
  }

  const RankPlan* plan(int r) const { return &plans[static_cast<std::size_t>(r)]; }
  Pointers pointers(int r) {
    const auto k = static_cast<std::size_t>(r);
    return {source[k].data(), std::max<std::int64_t>(1, plans[k].m_loc_from), target[k].data(),
            std::max<std::int64_t>(1, plans[k].m_loc_to)};
  }

  std::int64_t wrong_elements() const {
    const auto rows = brute::places_of(to.rows), cols = brute::places_of(to.cols);
    std::int64_t wrong = 0;
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const auto [p, q] = to.grid.position_of(static_cast<int>(r));
      for (std::size_t j = 0; j < cols.size(); ++j)
        for (std::size_t i = 0; i < rows.size(); ++i)
          if (rows[i].position == p && cols[j].position == q)
            wrong +=
                target[r][static_cast<std::size_t>(rows[i].local + cols[j].local * plans[r].m_loc_to)] == value(i, j)
                    ? 0
                    : 1;
    }
    return wrong;
  }
};

struct Host {
  int size;
  std::size_t panel_bytes, most_members;
  std::size_t largest_group = 0, joined_copies = 0;

  void exchange(std::vector<Matrix>& matrices, Slab slab) {
    std::deque<Work> works;
    for (int r = 0; r < size; ++r) {
      std::vector<const RankPlan*> plans;
      std::vector<Pointers> pointers;
      for (Matrix& m : matrices) {
        plans.push_back(m.plan(r));
        pointers.push_back(m.pointers(r));
      }
      works.emplace_back(plans, slab, r, size, is_shared);
      works.back().bind(pointers);
    }
    for (int r = 0; r < size; ++r) send(works, r);
    for (Work& work : works) {
      for (const auto* streams : {&work.out, &work.in})
        for (const Stream& stream : *streams) EXPECT_EQ(stream.bytes_left, 0);
      for (const Piece& keep : work.keeps) {
        const LocalCopy copy = work.copy_of(keep);
        copy_direct(copy.source, copy.target, copy.first, copy.count);
      }
    }
  }

private:
  void send(std::deque<Work>& works, int r) {
    Work& mine = works[static_cast<std::size_t>(r)];
    const std::size_t keeps = mine.keeps.size();
    std::vector<Group> groups = redist::detail::form_groups(mine, panel_bytes, most_members);
    joined_copies += keeps - mine.keeps.size();
    std::vector<int> in_groups(mine.out.size(), 0);
    std::vector<std::size_t> leads;
    std::vector<std::size_t> group_of(mine.out.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      EXPECT_LE(groups[g].streams.size(), most_members);
      largest_group = std::max(largest_group, groups[g].streams.size());
      for (std::size_t s : groups[g].streams) ++in_groups[s];
      group_of[groups[g].streams.front()] = g;
      leads.push_back(groups[g].streams.front());
    }
    Turn turn(&mine.out, leads);
    turn.begin();
    EXPECT_EQ(in_groups, std::vector<int>(mine.out.size(), 1));
    int last_step = 0;
    while (!turn.done()) {
      EXPECT_GE(turn.next().step(), last_step);
      last_step = turn.next().step();
      const Group& group = groups[group_of[turn.next_index()]];
      std::vector<std::vector<char>> memory(group.streams.size(), std::vector<char>(panel_bytes));
      Outgoing outgoing;
      for (auto& panel : memory) outgoing.packed.push_back(panel.data());
      outgoing.room.assign(memory.size(), panel_bytes);
      fill_panels(group, mine, outgoing);
      for (std::size_t k = 0; k < memory.size(); ++k) {
        ASSERT_LT(outgoing.room[k], panel_bytes);
        const std::size_t bytes = panel_bytes - outgoing.room[k];
        Work& other = works[static_cast<std::size_t>(mine.out[group.streams[k]].peer)];
        Stream& in = other.in[other.in_of_rank.at(r)];
        in.unpack(in.place, memory[k].data(), bytes);
        in.skip(bytes);
      }
      turn.advance();
    }
  }
};

Layout layout(std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, int nprow, int npcol) {
  return {Axis::block_cyclic(m, mb, nprow), Axis::block_cyclic(n, nb, npcol), Grid::row_major(nprow, npcol)};
}

/// 1x2 -> 2x2, rows in blocks of 2: rank 0 has all rows of columns 0, 1, 4, 5, keeps rows 0, 1, 4, 5 of them and sends
/// rows 2, 3, 6, 7 to rank 2.
Matrix rows_split() {
  return {layout(8, 8, 2, 2, 1, 2), layout(8, 8, 2, 2, 2, 2), redist::Schedule::async, 4, 0};
}

struct WorkOnRank : Work {
  WorkOnRank(Matrix& matrix, int rank_, int size_, Slab slab = {})
      : Work({matrix.plan(rank_)}, slab, rank_, size_, is_shared) {
    bind({matrix.pointers(rank_)});
  }
};

} // namespace

TEST(Work, EveryElementArrives) {
  std::mt19937 random(20261121);
  const auto any = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const std::vector<redist::Schedule> schedules{redist::Schedule::async, redist::Schedule::caterpillar,
                                                redist::Schedule::circulant, redist::Schedule::matching};
  std::size_t largest_group = 0, joined_copies = 0;
  for (int round = 0; round < 300; ++round) {
    const int nprow = any(1, 4), npcol = any(1, 4), nprow_to = any(1, 4), npcol_to = any(1, 4);
    Host host{std::max(nprow * npcol, nprow_to * npcol_to), static_cast<std::size_t>(8 * any(1, 200)),
              static_cast<std::size_t>(any(1, 6))};
    std::vector<Matrix> matrices;
    const redist::Schedule schedule = schedules[static_cast<std::size_t>(any(0, 3))];
    const int mb = any(1, 9), nb = any(1, 9);
    for (int k = 0; k < any(1, 3); ++k) {
      const int m = any(1, 60), n = any(1, 60);
      const bool same_blocks = any(0, 1) == 1;
      matrices.emplace_back(
          layout(m, n, mb, nb, nprow, npcol),
          layout(m, n, same_blocks ? mb : any(1, 9), same_blocks ? nb : any(1, 9), nprow_to, npcol_to), schedule,
          host.size, k);
    }
    const int slabs = any(0, 3) == 0 ? any(2, 5) : 1;
    for (int s = 0; s < slabs; ++s) host.exchange(matrices, {s, slabs});
    for (const Matrix& m : matrices) ASSERT_EQ(m.wrong_elements(), 0) << "round " << round;
    largest_group = std::max(largest_group, host.largest_group);
    joined_copies += host.joined_copies;
  }
  EXPECT_EQ(largest_group, 4U); // as many as a target column has ranks
  EXPECT_GT(joined_copies, 100U);
}

TEST(Work, WhatIsKeptLeavesItsColumnsWithWhatGoes) {
  Matrix matrix = rows_split();
  WorkOnRank work(matrix, 0, 4);
  ASSERT_EQ(work.out.size(), 1U);
  EXPECT_EQ(work.out[0].peer, 2);
  EXPECT_EQ(work.bytes_out(), 16 * 8);
  EXPECT_EQ(work.bytes_kept, 16 * 8);
  ASSERT_EQ(work.keeps.size(), 1U);
  const std::vector<Group> groups = form_groups(work, 1024, 4);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].keeps.size(), 1U);
  EXPECT_TRUE(work.keeps.empty());
}

// A column of 4 elements does not fit a panel of 3: the message goes by itself and so does what is kept.
TEST(Work, ColumnsTallerThanAPanelGoAlone) {
  Matrix matrix = rows_split();
  WorkOnRank work(matrix, 0, 4);
  const std::vector<Group> groups = form_groups(work, 3 * 8, 4);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].keeps.empty());
  EXPECT_EQ(work.keeps.size(), 1U);
}

// 2x2 -> 1x1 in three slabs: each takes its third of the columns of every message, together all of them.
TEST(Work, SlabsTogetherAreAll) {
  Matrix matrix(layout(10, 12, 5, 1, 2, 2), layout(10, 12, 10, 12, 1, 1), redist::Schedule::async, 4, 0);
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 3; ++s) {
      const WorkOnRank work(matrix, r, 4, {s, 3});
      EXPECT_EQ(work.bytes_out() + work.bytes_kept, 5 * 2 * 8) << "rank " << r << " slab " << s;
    }
}

// Every column goes in one slab, and a slab takes its share but for rounding and one rest of a long run each, whether
// runs are long, of few pieces, or thousands of single columns.
TEST(Work, SlabsAreAboutAsLarge) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    redist::RunList list;
    const int kind = round % 4, of = 1 + static_cast<int>(below(20)), runs = 1 + static_cast<int>(below(100));
    std::int64_t long_runs = 0;
    for (int k = 0; k < runs; ++k) {
      redist::Run r;
      r.len = kind == 0 ? 1 : 1 + below(kind == 1 ? 3 : kind == 2 ? 300 : 20);
      r.count = kind == 2 ? 1 + below(4) : kind == 3 ? 1 + below(300) : 1;
      if (r.len * r.count >= 8 * of) ++long_runs;
      list.total += r.len * r.count;
      list.runs.push_back(r);
    }
    std::vector<std::vector<int>> taken;
    for (const redist::Run& r : list.runs) taken.emplace_back(static_cast<std::size_t>(r.len * r.count));
    for (int s = 0; s < of; ++s) {
      std::int64_t columns = 0;
      Slab{s, of}.each_part(list, [&](const redist::Run& r, std::int64_t skip, std::int64_t count) {
        columns += count;
        for (std::int64_t c = skip; c < skip + count; ++c)
          ++taken[static_cast<std::size_t>(&r - list.runs.data())][static_cast<std::size_t>(c)];
      });
      // a slab of a long run has at most an eighth more than its share, and a column for rounding
      const double share = static_cast<double>(list.total) / of;
      EXPECT_LE(static_cast<double>(columns), share * 1.125 + 2.0 * static_cast<double>(long_runs) + 2)
          << "round " << round << ", slab " << s << " of " << of;
    }
    for (const std::vector<int>& run : taken)
      EXPECT_TRUE(std::all_of(run.begin(), run.end(), [](int times) { return times == 1; })) << "round " << round;
  }
}

// The streams of one step take turns, and a later step waits for all of them.
TEST(Turn, ServesTheEarliestStepInTurn) {
  Matrix matrix(layout(4, 4, 4, 1, 1, 1), layout(4, 4, 4, 1, 1, 4), redist::Schedule::caterpillar, 4, 0);
  WorkOnRank work(matrix, 0, 4);
  ASSERT_EQ(work.out.size(), 3U);
  work.out[0].pieces[0].step = 5;
  work.out[1].pieces[0].step = 2;
  work.out[2].pieces[0].step = 2;
  Turn turn(&work.out, {0, 1, 2});
  turn.begin();
  std::vector<std::size_t> order;
  while (!turn.done()) {
    order.push_back(turn.next_index());
    turn.next().skip(8); // one element of four
    turn.advance();
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 2, 1, 2, 1, 2, 1, 2, 0, 0, 0, 0}));
}

// The message names what was wrong, what was got and what was expected.
TEST(Work, RefusesWrongTransfers) {
  Matrix matrix = rows_split();
  const auto status_of = [](const RankPlan* plan, const Pointers& pointers, int rank) {
    return thrown_by([&] { Work({plan}, {}, rank, 4, is_shared).bind({pointers}); }).status();
  };
  const RankPlan* plan = matrix.plan(0);
  const Pointers good = matrix.pointers(0);
  EXPECT_EQ(status_of(plan, good, 0), base::Status::success);
  EXPECT_EQ(status_of(plan, good, 1), base::Status::bad_argument); // rank 0's plan
  EXPECT_EQ(status_of(nullptr, good, 0), base::Status::null_pointer);
  matrix.plans[0].type = 'x';
  EXPECT_EQ(status_of(plan, good, 0), base::Status::bad_type);
  matrix.plans[0].type = 'd';
  Pointers bad = good;
  bad.from = nullptr;
  EXPECT_EQ(status_of(plan, bad, 0), base::Status::null_pointer);
  bad = good;
  bad.to = nullptr;
  EXPECT_EQ(status_of(plan, bad, 0), base::Status::null_pointer);
  bad = good;
  bad.lld_from = 7; // 8 rows
  EXPECT_EQ(status_of(plan, bad, 0), base::Status::bad_argument);
  bad = good;
  bad.lld_to = 3; // 4 rows
  EXPECT_EQ(status_of(plan, bad, 0), base::Status::bad_argument);
}
