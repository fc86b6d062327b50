// SPDX-License-Identifier: BSD-3-Clause
// Plans carried out in one process: every rank's share is a plain array, messages are copied element by
// element.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "brute.hpp"
#include "redist/plan.hpp"
#include "redist/predict.hpp"

using namespace redist;
using base::GridShape;
using gridmap::Axis;

namespace {

using Share = std::vector<double>;

/// Shares of the matrix value(i, j), by rank, column-major with the least leading dimension.
template <class Value> std::map<int, Share> deal(const Layout& layout, Value&& value) {
  std::map<int, Share> shares;
  const auto rows = brute::places_of(layout.rows);
  const auto cols = brute::places_of(layout.cols);
  for (int p = 0; p < layout.grid.nprow; ++p)
    for (int q = 0; q < layout.grid.npcol; ++q) {
      Share& share = shares[layout.grid.rank_at(p, q)];
      for (std::size_t j = 0; j < cols.size(); ++j)
        for (std::size_t i = 0; i < rows.size(); ++i)
          if ((layout.rows_replicated || rows[i].position == p) && (layout.cols_replicated || cols[j].position == q))
            share.push_back(value(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
    }
  return shares;
}

/// Carries out the plan on plain arrays, piece by piece in the order of the schedule, and compares every
/// element.
void check(const Layout& from, const Layout& to, const PlanOptions& options) {
  const Plan plan(from, to, options);
  const Window wf = plan.options().from, wt = plan.options().to;
  const bool transposed = options.op != Op::none;
  const auto source = deal(from, [](std::int64_t i, std::int64_t j) { return static_cast<double>(1 + i * 1000 + j); });
  auto target = deal(to, [](std::int64_t, std::int64_t) { return -1.0; });
  const auto wanted = deal(to, [&](std::int64_t i, std::int64_t j) {
    const std::int64_t r = i - wt.i, c = j - wt.j;
    if (r < 0 || r >= wt.m || c < 0 || c >= wt.n) return -1.0;
    return static_cast<double>(1 + (wf.i + (transposed ? c : r)) * 1000 + wf.j + (transposed ? r : c));
  });
  std::vector<int> ranks = from.grid.ranks;
  ranks.insert(ranks.end(), to.grid.ranks.begin(), to.grid.ranks.end());
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::map<int, RankPlan> plans;
  for (const int rank : ranks) plans.emplace(rank, plan.for_rank(rank));

  PlanTotals counted;
  const std::vector<std::int64_t> none;
  const auto pack = [&](const RankPlan& mine, const Message& message) {
    std::vector<double> wire;
    const Share& share = source.at(mine.rank);
    for (const std::int64_t c : brute::indices_of(*message.cols, true))
      for (const std::int64_t r : brute::indices_of(*message.rows, true))
        wire.push_back(
            share.at(static_cast<std::size_t>(transposed ? c + r * mine.m_loc_from : r + c * mine.m_loc_from)));
    return wire;
  };
  const auto unpack = [&](const RankPlan& mine, const Message& message, const std::vector<double>& wire) {
    Share& share = target.at(mine.rank);
    auto next = wire.begin();
    for (const std::int64_t c : brute::indices_of(*message.cols, false))
      for (const std::int64_t r : brute::indices_of(*message.rows, false)) {
        double& element = share.at(static_cast<std::size_t>(r + c * mine.m_loc_to));
        ASSERT_EQ(element, -1.0) << "written twice";
        element = *next++;
      }
  };
  const ScheduleFigures figures = plan.figures();
  std::vector<std::int64_t> starts{0}; // when each step begins, in elements' time
  for (const std::int64_t largest : figures.largest) starts.push_back(starts.back() + largest);
  // what travels, by step, sender, receiver and offset: both ends must say the same
  using Key = std::tuple<int, int, int, std::int64_t, std::int64_t>;
  std::vector<Key> sent, received;
  for (const auto& entry : plans) { // clang 14 captures no bindings
    const int rank = entry.first;
    const RankPlan& mine = entry.second;
    std::int64_t out = 0, in = 0;
    if (source.count(rank)) {
      ASSERT_EQ(mine.m_loc_from * mine.n_loc_from, static_cast<std::int64_t>(source.at(rank).size()));
    }
    if (target.count(rank)) {
      ASSERT_EQ(mine.m_loc_to * mine.n_loc_to, static_cast<std::int64_t>(target.at(rank).size()));
    }
    ASSERT_TRUE(std::is_sorted(mine.sends.begin(), mine.sends.end(),
                               [](const Message& l, const Message& r) { return l.peer < r.peer; }));
    for (const Message& message : mine.keeps) {
      ASSERT_EQ(message.peer, rank);
      unpack(mine, message, pack(mine, message));
      counted.kept_elements += message.elements();
    }
    for (const Message& message : mine.sends) {
      ASSERT_NE(message.peer, rank);
      out += message.elements();
      ++counted.messages;
    }
    for (const Message& message : mine.recvs) {
      ASSERT_NE(message.peer, rank);
      in += message.elements();
      const auto& theirs = plans.at(message.peer);
      const auto found =
          std::find_if(theirs.sends.begin(), theirs.sends.end(), [&](const Message& m) { return m.peer == rank; });
      ASSERT_NE(found, theirs.sends.end());
      const std::vector<double> wire = pack(theirs, *found);
      ASSERT_EQ(static_cast<std::int64_t>(wire.size()), message.elements());
      unpack(mine, message, wire);
    }
    counted.max_out = std::max(counted.max_out, out);
    counted.max_in = std::max(counted.max_in, in);
    counted.moved_elements += in;
    const auto order = [&](const std::vector<Piece>& pieces, const std::vector<Message>& messages, bool sends) {
      std::vector<std::int64_t> covered(messages.size(), 0);
      int step = 0;
      std::int64_t busy_until = 0;
      std::int64_t in_step = 0;
      for (const Piece& piece : pieces) {
        ASSERT_GE(piece.step, step);
        ASSERT_LT(piece.step, mine.steps);
        in_step = piece.step > step ? 1 : in_step + 1;
        step = piece.step;
        const Message& message = messages.at(static_cast<std::size_t>(piece.message));
        ASSERT_EQ(piece.first, covered[static_cast<std::size_t>(piece.message)]);
        ASSERT_GT(piece.count, 0);
        covered[static_cast<std::size_t>(piece.message)] += piece.count;
        ASSERT_LE(in_step, figures.contention.at(static_cast<std::size_t>(step)));
        if (plan.schedule() != Schedule::async) { // one partner at a time, within the time of the figures
          ASSERT_LE(busy_until, starts.at(static_cast<std::size_t>(step)));
          busy_until = starts[static_cast<std::size_t>(step)] + piece.count;
          ASSERT_LE(busy_until, figures.sum_of_largest);
        }
        (sends ? sent : received)
            .emplace_back(piece.step, sends ? rank : message.peer, sends ? message.peer : rank, piece.first,
                          piece.count);
      }
      for (std::size_t i = 0; i < messages.size(); ++i) ASSERT_EQ(covered[i], messages[i].elements());
    };
    order(mine.send_order, mine.sends, true);
    order(mine.recv_order, mine.recvs, false);
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  ASSERT_EQ(sent, received);
  ASSERT_EQ(target, wanted);
  const PlanTotals totals = plan.totals();
  EXPECT_EQ(totals.messages, counted.messages);
  EXPECT_EQ(totals.moved_elements, counted.moved_elements);
  EXPECT_EQ(totals.kept_elements, counted.kept_elements);
  EXPECT_EQ(totals.max_in, counted.max_in);
  EXPECT_EQ(totals.max_out, counted.max_out);
  EXPECT_EQ(figures.lower_bound, std::max(counted.max_in, counted.max_out));
  EXPECT_GE(figures.sum_of_largest, figures.lower_bound);
  EXPECT_EQ(figures.steps, static_cast<std::int64_t>(figures.largest.size()));
  if (plan.schedule() == Schedule::matching) {
    EXPECT_EQ(figures.sum_of_largest, figures.lower_bound);
  }
}

struct Random {
  std::mt19937 engine{4711};
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); }
  Grid grid(int max_ranks) {
    const int nprow = pick(1, 4), npcol = pick(1, 4);
    std::vector<int> ranks(static_cast<std::size_t>(max_ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), engine);
    ranks.resize(static_cast<std::size_t>(nprow * npcol));
    return {nprow, npcol, ranks};
  }
  Axis axis(std::int64_t n, int nprocs) { return naive::random_axis(engine, n, nprocs); }
  /// Of every kind: a product of axes, replicated along one axis or both.
  Layout layout(std::int64_t m, std::int64_t n) {
    const Grid g = grid(20);
    const int kind = pick(0, 9);
    if (kind == 0) return Layout::replicated_on(g, m, n);
    if (kind >= 8) return {axis(m, g.nprow), axis(n, 1), g, false, true};
    if (kind == 7) return {axis(m, 1), axis(n, g.npcol), g, true, false};
    return {axis(m, g.nprow), axis(n, g.npcol), g};
  }
};

TEST(Plan, RandomLayoutsWindowsAndOperations) {
  Random random;
  for (int round = 0; round < 6000; ++round) {
    PlanOptions options;
    options.schedule = static_cast<Schedule>(random.pick(0, 4));
    options.op = static_cast<Op>(random.pick(0, 2));
    if (random.pick(0, 1)) options.machine = {1e-9, 1e3, 1e12, 1.0, 0}; // so slow that automatic takes one with steps
    const bool transposed = options.op != Op::none;
    const int m = random.pick(0, 25), n = random.pick(0, 25);
    options.from = {random.pick(0, 6), random.pick(0, 6), m, n};
    options.to = {random.pick(0, 6), random.pick(0, 6), transposed ? n : m, transposed ? m : n};
    const Layout from = random.layout(options.from.i + m + random.pick(0, 4), options.from.j + n + random.pick(0, 4));
    const Layout to =
        random.layout(options.to.i + options.to.m + random.pick(0, 4), options.to.j + options.to.n + random.pick(0, 4));
    SCOPED_TRACE(Plan(from, to, options).describe());
    check(from, to, options);
    if (HasFailure()) return;
  }
}

/// The element at each local index of each position of an axis.
std::vector<std::vector<std::int64_t>> globals(const std::vector<brute::Placed>& dealt, int nprocs) {
  std::vector<std::vector<std::int64_t>> of(static_cast<std::size_t>(nprocs));
  for (std::size_t i = 0; i < dealt.size(); ++i)
    of[static_cast<std::size_t>(dealt[i].position)].push_back(static_cast<std::int64_t>(i));
  return of;
}

// The sparse columns of DRMS: a vector of all elements, cut into columns, each with any owner.
TEST(Plan, SparseColumnsOnRandomOwners) {
  constexpr std::int64_t elements = 5308247;
  constexpr std::size_t columns = 35588;
  std::mt19937 random(20261127);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::vector<std::int64_t> cuts{0, elements}, sizes;
  while (cuts.size() < columns + 1) cuts.push_back(pick(0, elements)); // some columns are empty
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t j = 0; j < columns; ++j) sizes.push_back(cuts[j + 1] - cuts[j]);
  const auto on = [&](int nprocs) {
    std::vector<int> owners(columns);
    for (int& owner : owners) owner = static_cast<int>(pick(0, nprocs - 1));
    return Layout::row_major(Axis::owned(sizes, owners, nprocs), Axis::block(1, 1));
  };
  const Layout from = on(64), to = on(60);
  EXPECT_LE(from.rows.sizes.size() * sizeof from.rows.sizes[0] + from.rows.owners.size() * sizeof from.rows.owners[0],
            16 * columns);
  const auto now_ms = [] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double begun_ms = now_ms();
  const Plan plan(from, to);
  const double planned_ms = now_ms() - begun_ms;
  double slowest_ms = 0;
  const auto here = globals(brute::places_of(from.rows), 64);
  const auto there = brute::places_of(to.rows);
  std::vector<char> is_done(elements, 0);
  for (int rank = 0; rank < 64; ++rank) {
    const double rank_begun_ms = now_ms();
    const RankPlan mine = plan.for_rank(rank);
    slowest_ms = std::max(slowest_ms, now_ms() - rank_begun_ms);
    ASSERT_EQ(mine.m_loc_from, static_cast<std::int64_t>(here[static_cast<std::size_t>(rank)].size()));
    for (const std::vector<Message>* messages : {&mine.sends, &mine.keeps})
      for (const Message& message : *messages) {
        const std::vector<std::int64_t> first = brute::indices_of(*message.rows, true),
                                        last = brute::indices_of(*message.rows, false);
        for (std::size_t k = 0; k < first.size(); ++k) {
          const auto i =
              static_cast<std::size_t>(here[static_cast<std::size_t>(rank)][static_cast<std::size_t>(first[k])]);
          ASSERT_EQ(there[i].position, message.peer);
          ASSERT_EQ(there[i].local, last[k]);
          ASSERT_EQ(is_done[i]++, 0) << "sent twice";
        }
      }
  }
  EXPECT_EQ(std::count(is_done.begin(), is_done.end(), 1), elements);
  std::printf("planned in %.1f ms, and in %.1f ms for the process that took longest\n", planned_ms, slowest_ms);
}

TEST(Plan, GridsOfTheBenchmarks) {
  const int grids[][4] = {{1, 2, 2, 2}, {2, 2, 3, 3}, {2, 2, 2, 4}, {3, 3, 4, 4},
                          {4, 4, 3, 3}, {2, 2, 4, 4}, {4, 4, 4, 4}};
  for (const auto& g : grids)
    for (const int nb : {1, 3, 8})
      for (const int to_nb : {nb, 2 * nb, 50 / g[2] + 1}) {
        const Layout from{Axis::block_cyclic(50, nb, g[0]), Axis::block_cyclic(50, nb, g[1]),
                          Grid::row_major(g[0], g[1])};
        const Layout to{Axis::block_cyclic(50, to_nb, g[2]), Axis::block_cyclic(50, to_nb, g[3]),
                        Grid::row_major(g[2], g[3])};
        for (const Schedule schedule :
             {Schedule::automatic, Schedule::caterpillar, Schedule::circulant, Schedule::matching, Schedule::async}) {
          PlanOptions options;
          options.schedule = schedule;
          check(from, to, options);
          EXPECT_EQ(Plan(from, to, options).schedule() == schedule, schedule != Schedule::automatic);
        }
      }
}

TEST(Plan, SameLayoutMovesNothing) {
  const Layout layout{Axis::block_cyclic(100, 7, 3, 1), Axis::block_cyclic(90, 5, 2), Grid::row_major(3, 2)};
  const Plan plan(layout, layout);
  EXPECT_EQ(plan.totals().messages, 0);
  EXPECT_EQ(plan.totals().kept_elements, 9000);
  EXPECT_EQ(plan.for_rank(3).steps, 0);
}

/// 12 rows cut over the process rows, a copy on each process column.
Layout on_each_column(Axis rows, Grid grid) {
  return {std::move(rows), Axis::block(1, 1), std::move(grid), false, true};
}

TEST(Plan, CopiesStayWhereTheyAre) {
  const Layout from = on_each_column(Axis::block_cyclic(12, 2, 2), Grid::row_major(2, 2));
  EXPECT_EQ(Plan(from, from).totals().messages, 0);
  EXPECT_EQ(Plan(from, from).totals().kept_elements, 24);
  // a process column more: both of its processes get their 6 rows from one of the old columns
  const PlanTotals more = Plan(from, on_each_column(from.rows, {2, 3, {0, 1, 4, 2, 3, 5}})).totals();
  EXPECT_EQ(more.messages, 2);
  EXPECT_EQ(more.moved_elements, 12);
  EXPECT_EQ(more.kept_elements, 24);
  EXPECT_EQ(more.max_out, 6);
}

TEST(Plan, CopiesShareWhatTheyGive) {
  // 4 processes, none of which has a part, take 3 rows each: of the 4 that have one, each gives 3
  const Grid old = Grid::row_major(2, 2);
  for (const auto& [from, to] : {std::pair{Axis::block(12, 2), Axis::block(12, 4)},
                                 std::pair{Axis::block_cyclic(12, 1, 2), Axis::block_cyclic(12, 1, 4)}})
    EXPECT_EQ(Plan(on_each_column(from, old), {to, Axis::block(1, 1), Grid::row_major(4, 1, 4)}).totals().max_out, 3);
  // two new processes, the first in the target's order: its source is not the one that gives to process 0 already
  const Layout whole = Layout::replicated_on(Grid::row_major(1, 2), 12, 1);
  EXPECT_EQ(Plan(whole, Layout::replicated_on({1, 4, {2, 3, 0, 1}}, 12, 1)).totals().max_out, 12);
}

TEST(Plan, RankInNeitherGrid) {
  const Layout layout{Axis::block_cyclic(10, 1, 1), Axis::block_cyclic(10, 1, 1), Grid::row_major(1, 1)};
  const RankPlan outside = Plan(layout, layout).for_rank(5);
  EXPECT_TRUE(outside.sends.empty() && outside.recvs.empty() && outside.keeps.empty());
  EXPECT_EQ(outside.m_loc_from + outside.m_loc_to, 0);
}

TEST(Plan, OpenWindowsTakeTheOtherSize) {
  const Layout a{Axis::block_cyclic(10, 2, 2), Axis::block_cyclic(8, 2, 2), Grid::row_major(2, 2)};
  PlanOptions options;
  options.from = {1, 2, 3, 4};
  options.to = {5, 1};
  EXPECT_EQ(Plan(a, a, options).options().to.m, 3);
  EXPECT_EQ(Plan(a, a, options).options().to.n, 4);
  options.from = {};
  EXPECT_THROW(Plan(a, a, options), base::Error);
}

TEST(Plan, RefusesWhatDoesNotFit) {
  const Layout a{Axis::block_cyclic(10, 2, 2), Axis::block_cyclic(8, 2, 2), Grid::row_major(2, 2)};
  const auto status = [](const Layout& from, const Layout& to, PlanOptions options) {
    return status_of([&] { Plan(from, to, options); });
  };
  Layout b = a;
  b.rows.n = 11;
  EXPECT_EQ(status(a, b, {}), base::Status::shape_mismatch);
  b = a;
  b.grid.ranks[1] = 0;
  EXPECT_EQ(status(a, b, {}), base::Status::bad_argument);
  b = a;
  b.grid.ranks.pop_back();
  EXPECT_EQ(status(a, b, {}), base::Status::shape_mismatch);
  b = a;
  b.rows.nprocs = 3;
  EXPECT_EQ(status(a, b, {}), base::Status::shape_mismatch);
  b = a;
  b.cols.sizes = {0};
  EXPECT_EQ(status(a, b, {}), base::Status::bad_argument);
  b = a;
  b.cols_replicated = true; // and still cut over 2
  EXPECT_EQ(status(a, b, {}), base::Status::shape_mismatch);
  PlanOptions options;
  options.from = {5, 0, 6, 2};
  EXPECT_EQ(status(a, a, options), base::Status::bad_argument);
  options.op = Op::transpose;
  options.from = {};
  EXPECT_EQ(status(a, a, options), base::Status::shape_mismatch);
}

// ---- the processes that have elements

/// Of a matrix of single elements on a grid of 2x3.
GridShape used_of(std::int64_t m, std::int64_t n, Over over, GridShape most = {1, 1}) {
  return used_grid({{m, n, 1, 1, 8, over, most}}, {2, 3});
}

TEST(UsedGrid, OfAMatrixInOneRowOrColumnOfProcesses) {
  for (const Over over : {Over::row, Over::column}) {
    const auto used = [&](int count) { return over == Over::row ? used_of(9, count, over) : used_of(count, 9, over); };
    EXPECT_EQ(used(6), (GridShape{2, 3}));
    EXPECT_EQ(used(4), (GridShape{2, 3}));
    EXPECT_EQ(used(3), (GridShape{1, 3}));
    EXPECT_EQ(used(2), (GridShape{1, 2}));
    EXPECT_EQ(used(0).size(), 0);
  }
}

TEST(UsedGrid, OfCopiesAndParts) {
  EXPECT_EQ(used_of(1, 1, Over::all), (GridShape{2, 3}));
  EXPECT_EQ(used_of(1, 2, Over::each_row), (GridShape{2, 2}));
  EXPECT_EQ(used_of(1, 9, Over::each_column), (GridShape{1, 3}));
  EXPECT_EQ(used_of(9, 1, Over::first, {2, 2}), (GridShape{2, 1}));
  EXPECT_EQ(used_of(9, 9, Over::first, {3, 2}), (GridShape{2, 2}));
  EXPECT_EQ(used_of(1, 3, Over::grid), (GridShape{1, 3}));
}

TEST(UsedGrid, OfSeveralMatricesIsWhatHoldsThemAll) {
  EXPECT_EQ(used_grid({{9, 1, 1, 1, 8}, {1, 2, 1, 1, 8}}, {2, 3}), (GridShape{2, 2}));
  EXPECT_EQ(used_grid({}, {2, 3}), (GridShape{2, 3}));
}

} // namespace
