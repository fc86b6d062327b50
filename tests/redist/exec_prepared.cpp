// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that are prepared once: runs with changing arrays, what a run allocates, errors of one rank.
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "../errors.hpp"
#include "exec_brute.hpp"
#include "redist/exchange.hpp"
#include "redist/executor.hpp"
#include "redist/shared_array.hpp"
#include "resources.hpp"
#include "world.hpp"

namespace {
std::atomic<long> allocations{0};
} // namespace

// All of the program, the library among them: it is linked in. Not inlined, or GCC takes free() for a mismatch.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* at = std::malloc(bytes > 0 ? bytes : 1)) return at;
  throw std::bad_alloc();
}
__attribute__((noinline)) void* operator new(std::size_t bytes, std::align_val_t align) {
  ++allocations;
  const auto to = static_cast<std::size_t>(align);
  if (void* at = std::aligned_alloc(to, (bytes + to - 1) / to * to)) return at;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* at) noexcept {
  std::free(at);
}
__attribute__((noinline)) void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
__attribute__((noinline)) void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);
}
__attribute__((noinline)) void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}

namespace {

using brute::Problem;
using brute::Share;
using redist::Exchange;
using redist::ExecuteOptions;
using redist::Executor;
using redist::Pointers;
using redist::RankPlan;
using redist::Transport;

/// Matrices of several types, one of them transposed and one conjugated, on grids that grow.
struct Matrices {
  static constexpr char types[] = "dzsc";
  std::vector<Problem> problems;
  std::vector<RankPlan> plans;

  Matrices() {
    const int p = world_size();
    const redist::Grid row = redist::Grid::row_major(1, p - 1), column = redist::Grid::row_major(p, 1);
    problems.push_back(brute::whole(brute::uniform(700, 90, 64, 7, row), brute::uniform(700, 90, 64, 9, column)));
    problems.push_back(brute::whole(brute::uniform(90, 300, 8, 16, row), brute::uniform(300, 90, 16, 8, column)));
    problems.back().op = redist::Op::transpose;
    problems.push_back(brute::whole(brute::uniform(100, 100, 3, 5, column), brute::uniform(100, 100, 50, 2, row)));
    problems.push_back(brute::whole(brute::uniform(80, 60, 8, 16, row), brute::uniform(60, 80, 16, 8, column)));
    problems.back().op = redist::Op::conjugate_transpose;
    for (const Problem& x : problems)
      plans.push_back(brute::plan_of(x, world_rank(), types[plans.size()], redist::Schedule::automatic));
  }

  std::vector<const RankPlan*> what() const {
    std::vector<const RankPlan*> all;
    for (const RankPlan& plan : plans) all.push_back(&plan);
    return all;
  }
};

/// The shares of this rank, fresh ones.
struct Arrays {
  std::vector<Share> from, to;
  std::vector<redist::SharedArray> shared; ///< of the sources, where they lie there
  std::vector<Pointers> pointers;

  Arrays(const Matrices& matrices, std::int64_t pad, bool is_shared) {
    for (std::size_t k = 0; k < matrices.problems.size(); ++k) {
      const Problem& x = matrices.problems[k];
      from.push_back(brute::share_of(x.from, world_rank(), Matrices::types[k], pad, true));
      to.push_back(brute::share_of(x.to, world_rank(), Matrices::types[k], pad + 1, false));
      shared.emplace_back(is_shared && k % 2 == 0 ? from.back().bytes.size() : 0, redist::Sharing::yes);
      if (shared.back().data() != nullptr)
        std::memcpy(shared.back().data(), from.back().data(), from.back().bytes.size());
    }
    for (std::size_t k = 0; k < from.size(); ++k)
      pointers.push_back(
          {shared[k].data() != nullptr ? shared[k].data() : from[k].data(), from[k].lld, to[k].data(), to[k].lld});
  }
  bool are_right(const Matrices& matrices, std::int64_t pad) const {
    for (std::size_t k = 0; k < to.size(); ++k)
      if (to[k].bytes != brute::expected(matrices.problems[k], world_rank(), Matrices::types[k], pad + 1).bytes)
        return false;
    return true;
  }
};

struct Way {
  const char* name;
  ExecuteOptions options;
};

class Prepared : public ::testing::TestWithParam<Way> {};

ExecuteOptions options_of(Transport transport, std::size_t extra_bytes, redist::PanelWrites writes) {
  ExecuteOptions options;
  options.transport = transport;
  options.extra_bytes = extra_bytes;
  options.panel_writes = writes;
  return options;
}

constexpr std::size_t large = std::size_t{64} << 20, small = 65536;
INSTANTIATE_TEST_SUITE_P(
    Ways, Prepared,
    ::testing::Values(Way{"mpi", options_of(Transport::mpi, large, redist::PanelWrites::automatic)},
                      Way{"shared", options_of(Transport::shared, large, redist::PanelWrites::cached)},
                      Way{"small_buffers", options_of(Transport::shared, small, redist::PanelWrites::automatic)},
                      Way{"non_temporal", options_of(Transport::shared, large, redist::PanelWrites::non_temporal)}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(Prepared, RunsWithAnyArraysAndAllocatesNothing) {
  const Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  const Exchange exchange = Exchange::prepare(matrices.what(), executor);
  for (int round = 0; round < 6; ++round) {
    Arrays arrays(matrices, round % 3, false);
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = allocations;
    exchange.run(arrays.pointers);
    EXPECT_EQ(allocations, before) << "round " << round;
    EXPECT_TRUE(arrays.are_right(matrices, round % 3)) << "round " << round;
  }
  executor.close();
  EXPECT_THROW(exchange.run(Arrays(matrices, 0, false).pointers), base::Error);
}

// Some sources are read in place in one run and go through panels in the next.
TEST_P(Prepared, RunsWithArraysThatAreSharedOrNot) {
  const Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  const Exchange exchange = Exchange::prepare(matrices.what(), executor);
  for (int round = 0; round < 12; ++round) {
    // all ranks, none, every other one; the same arrays twice are mapped once
    Arrays arrays(matrices, 0, round % 3 == 0 || (round % 3 == 1 && world_rank() % 2 == 0));
    exchange.run(arrays.pointers);
    EXPECT_TRUE(arrays.are_right(matrices, 0)) << "round " << round;
    for (Share& share : arrays.to) std::fill(share.bytes.begin(), share.bytes.end(), '\x5a');
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = allocations;
    exchange.run(arrays.pointers);
    EXPECT_EQ(allocations, before) << "round " << round;
    EXPECT_TRUE(arrays.are_right(matrices, 0)) << "round " << round << ", again";
  }
  executor.close();
}

TEST_P(Prepared, TwoExchangesTakeTurns) {
  const Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  const Exchange all = Exchange::prepare(matrices.what(), executor);
  const Exchange first = Exchange::prepare({matrices.what().front()}, executor);
  for (int round = 0; round < 10; ++round) {
    Arrays arrays(matrices, 0, false);
    if (round % 2 == 0) {
      all.run(arrays.pointers);
      EXPECT_TRUE(arrays.are_right(matrices, 0));
    } else {
      first.run({arrays.pointers.front()});
      EXPECT_TRUE(arrays.to[0].bytes == brute::expected(matrices.problems[0], world_rank(), 'd', 1).bytes);
    }
  }
  executor.close();
}

TEST_P(Prepared, OneRankIsWrongAndAllHearOfIt) {
  Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  std::vector<const RankPlan*> plans = matrices.what();
  const char type = std::exchange(matrices.plans[2].type, world_rank() == 1 ? 'x' : 's');
  EXPECT_EQ(status_of([&] { Exchange::prepare(plans, executor); }), base::Status::bad_type);
  matrices.plans[2].type = type;
  if (world_rank() == 1) plans[2] = nullptr;
  EXPECT_EQ(status_of([&] { Exchange::prepare(plans, executor); }), base::Status::null_pointer);
  plans = matrices.what();
  if (world_rank() == 1) plans.pop_back();
  EXPECT_EQ(status_of([&] { Exchange::prepare(plans, executor); }), base::Status::rank_mismatch);
  const Exchange exchange = Exchange::prepare(matrices.what(), executor);
  Arrays arrays(matrices, 0, false);
  std::vector<Pointers> wrong = arrays.pointers;
  if (world_rank() == 1) wrong[0].lld_from = 0;
  EXPECT_EQ(status_of([&] { exchange.run(wrong); }), base::Status::bad_argument);
  wrong = arrays.pointers;
  if (world_rank() == 1) wrong.pop_back();
  EXPECT_EQ(status_of([&] { exchange.run(wrong); }), base::Status::bad_argument);
  exchange.run(arrays.pointers); // nothing has come of it
  EXPECT_TRUE(arrays.are_right(matrices, 0));
  executor.close();
}

// Panels are filled before all agree. Those of a run that comes to nothing are gone, and no target was written to.
TEST_P(Prepared, WhatComesToNothingLeavesNothing) {
  const Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  const Exchange all = Exchange::prepare(matrices.what(), executor);
  const Exchange first = Exchange::prepare({matrices.what().front()}, executor);
  std::mt19937 random(11); // the same on all ranks
  for (int round = 0; round < 200; ++round) {
    const auto what = random() % 5;
    const bool is_me = static_cast<int>(random() % static_cast<unsigned>(world_size())) == world_rank();
    Arrays arrays(matrices, 0, round % 4 == 3);
    const std::vector<Share> before = arrays.to;
    if (what == 0) { // another exchange than the others
      EXPECT_FALSE(is_me ? executor.run_if_same(1, &first, {arrays.pointers.front()})
                         : executor.run_if_same(0, &all, arrays.pointers));
    } else if (what == 1) {
      EXPECT_FALSE(is_me ? executor.run_if_same(-1, nullptr, {}) : executor.run_if_same(0, &all, arrays.pointers));
    } else if (what == 2) {
      std::vector<Pointers> wrong = arrays.pointers;
      if (is_me) wrong.pop_back();
      EXPECT_EQ(status_of([&] { executor.run_if_same(0, &all, wrong); }), base::Status::bad_argument);
    } else {
      EXPECT_TRUE(executor.run_if_same(0, &all, arrays.pointers));
      EXPECT_TRUE(arrays.are_right(matrices, 0)) << "round " << round;
      continue;
    }
    for (std::size_t k = 0; k < before.size(); ++k) EXPECT_EQ(arrays.to[k].bytes, before[k].bytes) << "round " << round;
  }
  executor.close();
}

// The report says how long the whole exchange took, not its last call alone.
TEST_P(Prepared, TheReportHasTheWholeTime) {
  const Matrices matrices;
  Executor executor(MPI_COMM_WORLD, GetParam().options);
  Arrays arrays(matrices, 0, false);
  executor.start(matrices.what(), arrays.pointers);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_GE(executor.finish().transfer_s, 0.06);
  executor.close();
}

/// While it lives no file of this process grows beyond one page, memory files included.
class NoRoomForFiles {
public:
  NoRoomForFiles() {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    rlimit one_page = before_;
    one_page.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &one_page);
  }
  ~NoRoomForFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(Executors, ThatCannotBeMadeLeaveNoCommunicator) {
  const int before = resources::next_communicator();
  for (int k = 0; k < 5; ++k) {
    const NoRoomForFiles limited; // no panels in shared memory
    EXPECT_EQ(status_of([] { Executor executor(MPI_COMM_WORLD); }), base::Status::out_of_memory);
  }
  EXPECT_EQ(resources::next_communicator(), before);
}

} // namespace
