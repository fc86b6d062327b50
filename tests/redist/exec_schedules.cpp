// SPDX-License-Identifier: BSD-3-Clause
// Element-exact moves through MPI: the plans' own schedules x every way the executor has, over random
// distributions of every kind, windows, operations and types. Owners are dealt out one index at a time.
#include <sched.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "exec_brute.hpp"
#include "exec_transports.hpp"
#include "redist/executor.hpp"
#include "redist/shared_array.hpp"
#include "world.hpp"

using namespace brute;
using namespace redist;

namespace {

constexpr char types[] = "sdczi";

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
          problems.push_back(random_problem(random, world_size(), round == 0 ? 150 : 40, true));
        std::vector<RankPlan> plans;
        std::vector<Share> from, to, wanted;
        std::vector<SharedArray> arrays;
        for (const Problem& x : problems) {
          const char type = types[random() % 5];
          plans.push_back(plan_of(x, world_rank(), type, schedule));
          messages += static_cast<std::int64_t>(plans.back().sends.size());
          split += static_cast<std::int64_t>(plans.back().send_order.size() - plans.back().sends.size());
          from.push_back(share_of(x.from, world_rank(), type, 3, true));
          to.push_back(share_of(x.to, world_rank(), type, 2, false));
          wanted.push_back(expected(x, world_rank(), type, 2));
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
              << name << ", matrix " << k << " of type " << plans[k].type << ": " << problems[k].from.rows.describe()
              << " x " << problems[k].from.cols.describe() << " -> " << problems[k].to.rows.describe() << " x "
              << problems[k].to.cols.describe();
        for (std::size_t k = 0; way != Way::in_place && k < problems.size(); ++k) {
          const Share before = share_of(problems[k].from, world_rank(), plans[k].type, 3, true);
          const void* source = arrays[k].data() != nullptr ? arrays[k].data() : from[k].data();
          EXPECT_TRUE(before.bytes.empty() || std::memcmp(source, before.bytes.data(), before.bytes.size()) == 0)
              << name << ": the source changed";
        }
      }
  // the test reaches what it is for
  MPI_Allreduce(MPI_IN_PLACE, &split, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(split, 20);
  EXPECT_GT(messages, 1000);
  executor.close();
}

} // namespace
