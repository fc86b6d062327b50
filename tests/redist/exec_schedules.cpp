// SPDX-License-Identifier: BSD-3-Clause
// Element-exact moves through MPI: the plans' own schedules x every way the executor has, over random
// distributions of every kind, windows, operations and types. Owners are dealt out one index at a time.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "exec_brute.hpp"
#include "exec_transports.hpp"
#include "redist/executor.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"
#include "world.hpp"

using namespace redist;
using brute::Share;
using gridmap::Axis;

namespace {

constexpr char types[] = "sdczi";

/// Where the indices of one axis of a layout are.
struct Places {
  std::vector<brute::Placed> of;
  bool everywhere = false;
  std::int64_t mine(int position) const {
    return std::count_if(of.begin(), of.end(),
                         [&](const brute::Placed& d) { return everywhere || d.position == position; });
  }
  bool has(std::int64_t i, int position) const {
    return everywhere || of[static_cast<std::size_t>(i)].position == position;
  }
  std::int64_t local(std::int64_t i) const { return of[static_cast<std::size_t>(i)].local; }
};

Places places(const Axis& axis, bool everywhere) {
  return {brute::places_of(axis), everywhere};
}

struct Problem {
  Layout from, to;
  PlanOptions options;
  std::int64_t m = 0, n = 0; ///< of the window, as it lies in the target
  char type = 'd';
  bool turned() const { return options.op != Op::none; }

  Share share(bool of_source, int pad) const {
    const Layout& layout = of_source ? from : to;
    Share s;
    s.type = type;
    const auto [p, q] = layout.grid.position_of(world_rank());
    if (p < 0) return s;
    const Places rows = places(layout.rows, layout.rows_replicated), cols = places(layout.cols, layout.cols_replicated);
    s.lld = std::max<std::int64_t>(1, rows.mine(p)) + pad;
    s.bytes.assign(static_cast<std::size_t>(s.lld * std::max<std::int64_t>(1, cols.mine(q)) * brute::size_of(type)),
                   '\x5a');
    if (!of_source) return s;
    for (std::int64_t j = 0; j < layout.cols.n; ++j)
      for (std::int64_t i = 0; i < layout.rows.n; ++i)
        if (rows.has(i, p) && cols.has(j, q)) brute::element(type, i, j, s.at(rows.local(i), cols.local(j)));
    return s;
  }

  Share expected(int pad) const {
    Share s = share(false, pad);
    const auto [p, q] = to.grid.position_of(world_rank());
    if (p < 0) return s;
    const Places rows = places(to.rows, to.rows_replicated), cols = places(to.cols, to.cols_replicated);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        const std::int64_t it = options.to.i + i, jt = options.to.j + j;
        if (!rows.has(it, p) || !cols.has(jt, q)) continue;
        const std::int64_t is = options.from.i + (turned() ? j : i), js = options.from.j + (turned() ? i : j);
        brute::element(type, is, js, s.at(rows.local(it), cols.local(jt)), options.op == Op::conjugate_transpose);
      }
    return s;
  }
};

Problem random_problem(std::mt19937& random, Schedule schedule, int largest) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto layout = [&](std::int64_t m, std::int64_t n) {
    std::vector<int> ranks(static_cast<std::size_t>(world_size()));
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
    if (pick(0, 2) > 0) std::shuffle(ranks.begin(), ranks.end(), random);
    const int nprow = pick(1, world_size());
    const int npcol = pick(1, world_size() / nprow);
    ranks.resize(static_cast<std::size_t>(nprow * npcol));
    const Grid grid{nprow, npcol, ranks};
    Layout made;
    made.grid = grid;
    made.rows_replicated = pick(0, 5) == 0;
    made.cols_replicated = pick(0, 5) == 0;
    made.rows = naive::random_axis(random, m, made.rows_replicated ? 1 : nprow);
    made.cols = naive::random_axis(random, n, made.cols_replicated ? 1 : npcol);
    return made;
  };
  Problem x;
  x.options.schedule = schedule;
  x.options.op = static_cast<Op>(std::max(0, pick(-2, 2)));
  x.type = types[pick(0, 4)];
  x.m = pick(0, largest);
  x.n = pick(0, largest);
  int beside[4] = {0, 0, 0, 0}; // whole matrices as often as windows
  if (pick(0, 1) == 0)
    for (int& one : beside) one = pick(0, 9);
  const std::int64_t m_from = x.turned() ? x.n : x.m, n_from = x.turned() ? x.m : x.n;
  x.options.from = {beside[0], beside[1], m_from, n_from};
  x.options.to = {beside[2], beside[3], x.m, x.n};
  x.from = layout(beside[0] + m_from + beside[2], beside[1] + n_from + beside[3]);
  x.to = layout(beside[2] + x.m + beside[1], beside[3] + x.n + beside[0]);
  return x;
}

enum class Way { execute, start_finish, in_place, several };

class EverySchedule : public OnTransport {};

INSTANTIATE_TEST_SUITE_P(Executors, EverySchedule, transports(), name_of_transport);
INSTANTIATE_TEST_SUITE_P(Hosts, EverySchedule,
                         ::testing::Values(TransportCase{Transport::automatic, 100000, "one_rank_alone", "aabaaaa"},
                                           TransportCase{Transport::automatic, std::size_t{64} << 20,
                                                         "some_in_place_reads", "aabbaaa", Home::mixed}),
                         name_of_transport);

TEST_P(EverySchedule, MovesEveryElement) {
  const TransportCase& how = GetParam();
  Executor executor(MPI_COMM_WORLD, options());
  int wanted_on_host = 0;
  for (int r = 0; r < world_size(); ++r)
    wanted_on_host += how.transport == Transport::mpi ? r == world_rank() : how.host_of(r) == how.host_of(world_rank());
  ASSERT_EQ(executor.ranks_on_host(), wanted_on_host);
  std::mt19937 random(20261121);
  std::int64_t split = 0, messages = 0;
  for (const Schedule schedule :
       {Schedule::caterpillar, Schedule::circulant, Schedule::matching, Schedule::async, Schedule::automatic})
    for (const Way way : {Way::execute, Way::start_finish, Way::in_place, Way::several})
      for (int round = 0; round < 12; ++round) {
        const std::string name = std::string(to_string(schedule)) + ", way " + std::to_string(static_cast<int>(way)) +
                                 ", round " + std::to_string(round);
        std::vector<Problem> problems;
        for (int k = way == Way::several ? 3 : 1; k > 0; --k)
          problems.push_back(random_problem(random, schedule, round == 0 ? 150 : 40));
        std::vector<RankPlan> plans;
        std::vector<Share> from, to, wanted;
        std::vector<SharedArray> arrays;
        for (const Problem& x : problems) {
          plans.push_back(Plan(x.from, x.to, x.options).for_rank(world_rank(), x.type));
          messages += static_cast<std::int64_t>(plans.back().sends.size());
          split += static_cast<std::int64_t>(plans.back().send_order.size() - plans.back().sends.size());
          from.push_back(x.share(true, 3));
          to.push_back(x.share(false, 2));
          wanted.push_back(x.expected(2));
          const bool array = how.home == Home::shared || (how.home == Home::mixed && world_rank() % 2 == 0);
          // the source of an exchange in place is given up, so it always has memory of its own
          if (array || way == Way::in_place) {
            arrays.emplace_back(from.back().bytes.size(), array ? Sharing::yes : Sharing::no);
            if (!from.back().bytes.empty())
              std::memcpy(arrays.back().data(), from.back().data(), from.back().bytes.size());
          } else {
            arrays.emplace_back();
          }
        }
        std::vector<const RankPlan*> what;
        std::vector<Pointers> where;
        for (std::size_t k = 0; k < problems.size(); ++k) {
          what.push_back(&plans[k]);
          where.push_back(
              {arrays[k].data() != nullptr ? arrays[k].data() : from[k].data(), from[k].lld, to[k].data(), to[k].lld});
        }
        switch (way) {
        case Way::execute:
        case Way::several:
          executor.execute(what, where);
          break;
        case Way::start_finish:
          executor.start(what, where);
          while (round % 2 == 0 && !executor.advance()) sched_yield();
          executor.finish();
          break;
        case Way::in_place:
          executor.execute_in_place(what, where, 1 + round % 5);
          break;
        }
        for (std::size_t k = 0; k < problems.size(); ++k)
          EXPECT_TRUE(to[k].bytes == wanted[k].bytes)
              << name << ", matrix " << k << " of type " << problems[k].type << ": " << problems[k].from.rows.describe()
              << " x " << problems[k].from.cols.describe() << " -> " << problems[k].to.rows.describe() << " x "
              << problems[k].to.cols.describe();
      }
  // the test reaches what it is for
  MPI_Allreduce(MPI_IN_PLACE, &split, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(split, 20);
  EXPECT_GT(messages, 1000);
  executor.close();
}

} // namespace
