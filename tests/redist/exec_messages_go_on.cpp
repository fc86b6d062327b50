// SPDX-License-Identifier: BSD-3-Clause
// Messages of the program go on while it waits for an exchange: a large one moves only while both of its ends are
// inside MPI. Without that each of these tests hangs.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "exec_brute.hpp"
#include "redist/executor.hpp"
#include "world.hpp"

namespace {

using redist::Grid;
using redist::Pointers;
using redist::RankPlan;

/// Whether a process sleeps: the third field of its status. Its helper thread does not count.
bool is_asleep(int pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
  if (file == nullptr) return false;
  char text[512] = "";
  const bool is_read = std::fgets(text, sizeof text, file) != nullptr;
  std::fclose(file);
  const char* end = std::strrchr(text, ')');
  return is_read && end != nullptr && end[1] == ' ' && end[2] == 'S';
}

enum class Wait { finish, advance };

/// Three ranks, of which ranks 0 and 1 share memory. Rank 1 sends matrices to both others, and to rank 0 more than all
/// its panels hold. So it has no helper thread, and rank 0 waits for its finish(). Before that rank 1 receives a
/// message that rank 0 has sent before the exchange.
void wait_while_a_message_is_under_way(bool rank_0_uses_mpi, Wait wait) {
  const int rank = world_rank();
  ASSERT_EQ(world_size(), 3);
  redist::ExecuteOptions options;
  options.host_key = rank / 2;
  redist::Executor executor(MPI_COMM_WORLD, options);
  const auto on = [](int only) { return Grid::row_major(1, 1, only); };
  const auto from_to = [&](std::int64_t n, int from, int to) {
    return brute::whole(brute::uniform(n, n, n, n, on(from)), brute::uniform(n, n, n, n, on(to)));
  };
  std::vector<brute::Problem> problems{from_to(1500, 1, 0), from_to(1000, 1, 2)};
  if (rank_0_uses_mpi) problems.push_back(from_to(10, 2, 0));
  std::vector<RankPlan> plans;
  std::vector<brute::Share> from, to;
  for (const brute::Problem& x : problems) {
    plans.push_back(brute::plan_of(x, rank, 'd'));
    from.push_back(brute::share_of(x.from, rank, 'd', 0, true));
    to.push_back(brute::share_of(x.to, rank, 'd', 0, false));
  }
  std::vector<const RankPlan*> moved;
  std::vector<Pointers> pointers;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    moved.push_back(&plans[k]);
    pointers.push_back({from[k].data(), from[k].lld, to[k].data(), to[k].lld});
  }

  int pid_of_0 = getpid();
  MPI_Bcast(&pid_of_0, 1, MPI_INT, 0, MPI_COMM_WORLD);
  constexpr int count = 2000000;
  std::vector<double> message(count), sent(count);
  std::iota(sent.begin(), sent.end(), 0.0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(sent.data(), count, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, &request);
  executor.start(moved, pointers);
  if (rank == 1) {
    while (wait == Wait::finish && !is_asleep(pid_of_0)) sched_yield();
    MPI_Recv(message.data(), count, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(message, sent);
  }
  while (rank == 0 && wait == Wait::advance && !executor.advance()) sched_yield();
  executor.finish();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (std::size_t k = 0; k < problems.size(); ++k)
    EXPECT_TRUE(to[k].bytes == brute::expected(problems[k], rank, 'd', 0).bytes) << "matrix " << k;
  executor.close();
}

TEST(MessagesGoOn, WhileTheHelperThreadIsWaitedFor) {
  wait_while_a_message_is_under_way(false, Wait::finish);
}
TEST(MessagesGoOn, WhileAPartnerIsWaitedFor) {
  wait_while_a_message_is_under_way(true, Wait::finish);
}
TEST(MessagesGoOn, WhileTheProgramPollsTheHelperThread) {
  wait_while_a_message_is_under_way(false, Wait::advance);
}
TEST(MessagesGoOn, WhileTheProgramPolls) {
  wait_while_a_message_is_under_way(true, Wait::advance);
}

} // namespace
