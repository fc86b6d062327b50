// SPDX-License-Identifier: BSD-3-Clause
// What a plan takes, counted at operator new: a rank's own part in proportion to its neighbours, whatever the
// machine; the whole machine's tables in proportion to processes and to pairs of one axis, never to pairs of
// processes.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "redist/plan.hpp"

namespace {

std::int64_t live_bytes = 0, live_blocks = 0;

struct Counted {
  alignas(16) std::size_t bytes;
};

void* counted(std::size_t bytes) {
  auto* block = static_cast<Counted*>(std::malloc(sizeof(Counted) + bytes));
  if (block == nullptr) throw std::bad_alloc();
  block->bytes = bytes;
  live_bytes += static_cast<std::int64_t>(bytes);
  ++live_blocks;
  return block + 1;
}

void uncounted(void* memory) {
  if (memory == nullptr) return;
  Counted* block = static_cast<Counted*>(memory) - 1;
  live_bytes -= static_cast<std::int64_t>(block->bytes);
  --live_blocks;
  std::free(block);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
// the sanitizers' own does not come here by way of the first one, as libstdc++'s does
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return counted(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept {
  uncounted(memory);
}
void operator delete[](void* memory) noexcept {
  uncounted(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  uncounted(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  uncounted(memory);
}

namespace {

using namespace redist;
using gridmap::Axis;

struct Taken {
  std::int64_t whole = 0, rank = 0, blocks = 0;
  std::size_t neighbours = 0;
};

Taken taken(std::int64_t n, int from_side, int to_side) {
  const Layout from{Axis::block_cyclic(n, 64, from_side), Axis::block_cyclic(n, 64, from_side),
                    Grid::row_major(from_side, from_side)};
  const Layout to{Axis::block_cyclic(n, 64, to_side), Axis::block_cyclic(n, 64, to_side),
                  Grid::row_major(to_side, to_side)};
  PlanOptions options;
  options.schedule = Schedule::matching;
  Taken sum;
  const std::int64_t before = live_bytes;
  const double t0 = now();
  const Plan plan(from, to, options);
  sum.whole = live_bytes - before;
  const std::int64_t middle = live_bytes, blocks = live_blocks;
  const RankPlan mine = plan.for_rank(from_side + 7);
  const double t1 = now();
  sum.rank = live_bytes - middle;
  sum.blocks = live_blocks - blocks;
  sum.neighbours = mine.sends.size() + mine.recvs.size() + mine.keeps.size();
  std::printf("%d x %d -> %d x %d: plan %lld bytes, rank %lld bytes in %lld blocks, %zu neighbours, %.2f ms\n",
              from_side, from_side, to_side, to_side, static_cast<long long>(sum.whole),
              static_cast<long long>(sum.rank), static_cast<long long>(sum.blocks), sum.neighbours, 1e3 * (t1 - t0));
  return sum;
}

TEST(PlanMemory, OfARankIsInProportionToItsNeighbours) {
  const Taken usual = taken(1000000, 64, 96);
  EXPECT_LE(usual.neighbours, 13u);
  EXPECT_LE(usual.rank, static_cast<std::int64_t>(usual.neighbours) * 300 + 1000);
  // sixteen times as many processes, as many neighbours: the same
  const Taken larger = taken(1000000, 256, 384);
  EXPECT_LE(larger.neighbours, 13u);
  EXPECT_LE(larger.rank, static_cast<std::int64_t>(larger.neighbours) * 300 + 1000);
  // nor does it depend on the order of the matrix
  const Taken huge = taken(64000000, 64, 96);
  EXPECT_LE(huge.rank, static_cast<std::int64_t>(huge.neighbours) * 300 + 1000);
}

TEST(PlanMemory, OfTheWholeMachineIsInProportionToProcesses) {
  // 4096 + 9216 processes and their 36,768 messages: a list of the pairs alone would be 16 bytes for each
  // message
  EXPECT_LE(taken(1000000, 64, 96).whole, (4096 + 9216) * 30 + 50000);
  EXPECT_LE(taken(1000000, 256, 384).whole, (65536 + 147456) * 30 + 200000);
}

} // namespace
