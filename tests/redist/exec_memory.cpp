// SPDX-License-Identifier: BSD-3-Clause
// What the executor costs in memory: an in-place exchange never holds two copies, and nothing is left after
// many executors.
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "../sanitized.hpp"
#include "base/control_groups.hpp"
#include "exec/liveness.hpp"
#include "redist/executor.hpp"
#include "redist/measure.hpp"
#include "redist/plan.hpp"
#include "redist/shared_array.hpp"
#include "resources.hpp"

namespace {

using resources::open_files;

/// A line of /proc/self/status in bytes.
std::int64_t status_bytes(const char* name) {
  return base::entry_in("/proc/self/status", name) * 1024;
}

void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

class InPlace : public ::testing::TestWithParam<redist::Sharing> {};
INSTANTIATE_TEST_SUITE_P(Homes, InPlace, ::testing::Values(redist::Sharing::no, redist::Sharing::yes));

TEST_P(InPlace, HoldsLittleMoreThanOneCopy) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int64_t n = 4096; // 128 MB over 4 ranks
  for (const auto& [nb_from, nb_to] : {std::pair<std::int64_t, std::int64_t>{64, 32}, {2048, 64}}) {
    const redist::Grid square = redist::Grid::row_major(2, 2), line = redist::Grid::row_major(1, 4);
    const redist::Layout from{gridmap::Axis::block_cyclic(n, nb_from, 2), gridmap::Axis::block_cyclic(n, nb_from, 2),
                              square};
    const redist::Layout to{gridmap::Axis::block_cyclic(n, nb_to, 1), gridmap::Axis::block_cyclic(n, nb_to, 4), line};
    redist::PlanOptions async;
    async.schedule = redist::Schedule::async;
    const redist::RankPlan plan = redist::Plan(from, to, async).for_rank(rank);
    const auto [p, q] = from.grid.position_of(rank);
    const std::int64_t share = plan.m_loc_from * plan.n_loc_from * 8;
    redist::SharedArray a(static_cast<std::size_t>(share), GetParam()),
        b(static_cast<std::size_t>(plan.m_loc_to * plan.n_loc_to * 8), GetParam());
    auto* x = static_cast<double*>(a.data());
    for (std::int64_t j = 0; j < plan.n_loc_from; ++j)
      for (std::int64_t i = 0; i < plan.m_loc_from; ++i)
        x[i + j * plan.m_loc_from] = static_cast<double>(from.rows.to_global(i, p) * n + from.cols.to_global(j, q));
    redist::Executor executor(MPI_COMM_WORLD);
    executor.execute({}, {}); // its buffers are there now
    MPI_Barrier(MPI_COMM_WORLD);
    reset_peak();
    const std::int64_t before = status_bytes("VmRSS:");
    executor.execute_in_place({&plan}, {{a.data(), plan.m_loc_from, b.data(), plan.m_loc_to}});
    const std::int64_t peak = status_bytes("VmHWM:");
    // Pages of other ranks' arrays that are mapped here count too, so this bound is for private memory only.
    if (GetParam() == redist::Sharing::no) {
      EXPECT_LT(peak - before, share * 2 / 5) << "two copies would be " << share;
    }
    if (rank == 0)
      std::printf("share %ld MB, peak over it %.1f MB\n", static_cast<long>(share >> 20),
                  static_cast<double>(peak - before) / 1048576.0);
    const auto* y = static_cast<const double*>(b.data());
    bool right = true;
    for (std::int64_t j = 0; j < plan.n_loc_to; ++j)
      for (std::int64_t i = 0; i < plan.m_loc_to; ++i)
        right = right && y[i + j * plan.m_loc_to] == static_cast<double>(i * n + to.cols.to_global(j, rank));
    EXPECT_TRUE(right);
    executor.close();
  }
}

TEST(Executors, ComeAndGoWithoutATrace) {
  const auto come_and_go = [](int count) {
    for (int k = 0; k < count; ++k) {
      redist::Executor executor(MPI_COMM_WORLD);
      executor.execute({}, {});
      if (k % 2 == 0) executor.close(); // otherwise by its destructor
    }
  };
  come_and_go(resources::is_mpich_5 ? 100 : 3);
  const int files = open_files();
  const std::int64_t resident = status_bytes("VmRSS:");
  come_and_go(100);
  EXPECT_EQ(open_files(), files); // segments in shared memory are files without a name
  if (!is_sanitized) {
    EXPECT_LE(status_bytes("VmRSS:"), resident + (2 << 20));
  }
}

TEST(Machine, IsTheSameOnAllRanks) {
  redist::Executor executor(MPI_COMM_WORLD);
  const advise::Machine m = redist::measure_machine(MPI_COMM_WORLD, executor);
  // a copy or a message that is slower than this, or quicker, has not been timed
  EXPECT_GT(m.latency_s, 1e-8);
  EXPECT_LT(m.latency_s, 10);
  EXPECT_GT(m.bandwidth_bytes_per_s, 1e5);
  EXPECT_LT(m.bandwidth_bytes_per_s, 1e13);
  EXPECT_GT(m.pack_bytes_per_s, 1e5);
  EXPECT_LT(m.pack_bytes_per_s, 1e13);
  EXPECT_GE(m.cores, 1);
  if (executor.is_on_one_host() && executor.ranks_on_host() > 1) {
    EXPECT_EQ(m.bandwidth_bytes_per_s, m.pack_bytes_per_s); // no wire between them
  }
  executor.close();
  advise::Machine of_rank_0 = m;
  MPI_Bcast(&of_rank_0, sizeof of_rank_0, MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(of_rank_0.latency_s, m.latency_s);
  EXPECT_EQ(of_rank_0.bandwidth_bytes_per_s, m.bandwidth_bytes_per_s);
  EXPECT_EQ(of_rank_0.pack_bytes_per_s, m.pack_bytes_per_s);
  EXPECT_EQ(of_rank_0.cores, m.cores);
}

TEST(Machine, OfOneProcessHasTheRateOfItsCopies) {
  redist::Executor executor(MPI_COMM_SELF);
  const advise::Machine usual, m = redist::measure_machine(MPI_COMM_SELF, executor);
  EXPECT_GT(m.pack_bytes_per_s, 1e5);
  EXPECT_EQ(m.latency_s, usual.latency_s);
  EXPECT_EQ(m.bandwidth_bytes_per_s, usual.bandwidth_bytes_per_s);
}

/// Cores in the masks of all ranks, each counted once.
int cores_of_all() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  MPI_Allreduce(MPI_IN_PLACE, &set, sizeof set, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  return CPU_COUNT(&set);
}

TEST(Executors, CountTheCoresThatRanksHaveTogether) {
  EXPECT_EQ(redist::Executor(MPI_COMM_WORLD).cores_on_host(), cores_of_all()); // however mpirun has bound them
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mine)) cores.push_back(core);
  cpu_set_t one; // each rank bound, as mpirun --bind-to core does
  CPU_ZERO(&one);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const int together = cores_of_all();
  EXPECT_GE(together, cores.size() > 1 ? 2 : 1);
  EXPECT_EQ(redist::Executor(MPI_COMM_WORLD).cores_on_host(), together);
  ASSERT_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
}

/// While it lives this process can open no file.
class NoFiles {
public:
  NoFiles() {
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit low = before_;
    low.rlim_cur = static_cast<rlim_t>(next);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  ~NoFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;

private:
  rlimit before_{};
};

TEST(Executors, TakeNoMoreMemoryThanEachRankAllows) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  redist::Executor usual(MPI_COMM_WORLD);
  redist::ExecuteOptions options;
  options.extra_bytes = std::size_t{128} << (10 + rank);
  redist::Executor executor(MPI_COMM_WORLD, options);
  EXPECT_EQ(executor.is_on_one_host(), usual.is_on_one_host()); // all segments were found
  EXPECT_LE(executor.execute({}, {}).peak_bytes, options.extra_bytes);
  executor.close();
  usual.close();
}

TEST(Executors, SendWhatARankWithoutFilesCannotShare) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int64_t n = 100;
  const redist::Layout from{gridmap::Axis::block_cyclic(n, 7, 2), gridmap::Axis::block_cyclic(n, 7, 2),
                            redist::Grid::row_major(2, 2)},
      to{gridmap::Axis::block_cyclic(n, 3, 1), gridmap::Axis::block_cyclic(n, 3, 4), redist::Grid::row_major(1, 4)};
  const redist::RankPlan plan = redist::Plan(from, to).for_rank(rank);
  const auto [p, q] = from.grid.position_of(rank);
  std::vector<double> a(static_cast<std::size_t>(plan.m_loc_from * plan.n_loc_from)),
      b(static_cast<std::size_t>(plan.m_loc_to * plan.n_loc_to));
  std::size_t k = 0;
  for (std::int64_t j = 0; j < plan.n_loc_from; ++j)
    for (std::int64_t i = 0; i < plan.m_loc_from; ++i)
      a[k++] = static_cast<double>(from.rows.to_global(i, p) * n + from.cols.to_global(j, q));
  std::optional<NoFiles> limit;
  if (rank == 1) limit.emplace();
  {
    redist::Executor executor(MPI_COMM_WORLD);
    executor.execute({&plan}, {{a.data(), plan.m_loc_from, b.data(), plan.m_loc_to}});
  }
  limit.reset();
  k = 0;
  for (std::int64_t j = 0; j < plan.n_loc_to; ++j)
    for (std::int64_t i = 0; i < plan.m_loc_to; ++i)
      ASSERT_EQ(b[k++], static_cast<double>(i * n + to.cols.to_global(j, rank)));
}

TEST(Executors, TakeNoRankForDeadForWantOfAFile) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto mine = redist::detail::ProcessCard::mine();
  std::vector<redist::detail::ProcessCard> cards(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  const redist::detail::Liveness processes(cards, rank);
  {
    const NoFiles limit;
    EXPECT_NO_THROW(processes.check_all());
  }
  MPI_Barrier(MPI_COMM_WORLD); // all are alive until here
}

TEST(Executors, RefuseSharedTransportBetweenHosts) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  redist::ExecuteOptions options;
  options.transport = redist::Transport::shared;
  options.host_key = rank % 2;
  EXPECT_EQ(status_of([&] { redist::Executor executor(MPI_COMM_WORLD, options); }), base::Status::unsupported);
}

} // namespace
