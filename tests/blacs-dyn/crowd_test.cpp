// SPDX-License-Identifier: BSD-3-Clause
// A process that waits, by a clock of the test: how often it yields and how often it sleeps.
#include "processes/crowd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr std::int64_t us = 1000, ms = 1000 * us, slice_ns = 3 * ms;
constexpr std::int64_t sleep_ns = 25 * us, quick_yield_ns = 2 * us;

/// A core that the process shares with another one.
class Core {
public:
  /// An empty poll. The other process computes until then.
  void wait(std::int64_t until_ns) {
    if (is_crowded(&crowd_, now_ns_)) {
      ++sleeps;
      now_ns_ += sleep_ns;
      return;
    }
    ++yields;
    const std::int64_t entered_ns = now_ns_;
    now_ns_ = std::max(now_ns_ + quick_yield_ns, std::min(until_ns, now_ns_ + slice_ns));
    note_yield(&crowd_, entered_ns, now_ns_);
  }
  std::int64_t now_ns() const { return now_ns_; }

  int sleeps = 0, yields = 0;

private:
  crowd crowd_{};
  std::int64_t now_ns_ = 12345;
};

/// Each yield costs a slice. It yields once in 64 ms, after 8 times that were shorter.
TEST(Crowd, BesideAnEndlessLoop) {
  Core core;
  constexpr std::int64_t end_ns = 4000 * ms;
  while (core.now_ns() < end_ns) core.wait(end_ns);
  EXPECT_LE(core.yields, 4000 / (64 + 3) + 10);
  EXPECT_GE(core.sleeps, 9 * (core.yields * slice_ns) / sleep_ns);
}

/// As in an LU factorization: the other process works for 5 ms, and 1000 short messages follow.
TEST(Crowd, BesideAProcessOfTheProgram) {
  Core core;
  int slept = 0;
  constexpr int cycles = 100, messages = 1000;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const std::int64_t works_until_ns = core.now_ns() + 5 * ms;
    while (core.now_ns() < works_until_ns) core.wait(works_until_ns);
    const int before = core.sleeps;
    for (int message = 0; message < messages; ++message) core.wait(0);
    slept += core.sleeps - before;
  }
  EXPECT_LE(slept, cycles * messages / 20);
}

/// The loop ends: at most 64 ms later waits yield, and the next long yield is one of the first again.
TEST(Crowd, AfterTheLoop) {
  Core core;
  const std::int64_t end_ns = core.now_ns() + 2000 * ms;
  while (core.now_ns() < end_ns) core.wait(end_ns);
  const std::int64_t calm_ns = core.now_ns() + longest_crowd_ns;
  while (core.now_ns() <= calm_ns) core.wait(0);
  core.sleeps = 0;
  for (int wait = 0; wait < 100'000; ++wait) core.wait(0);
  EXPECT_EQ(core.sleeps, 0);
  core.wait(core.now_ns() + 2 * ms);
  for (int wait = 0; wait < 100'000; ++wait) core.wait(0);
  EXPECT_LE(core.sleeps, shortest_crowd_ns / sleep_ns);
}

} // namespace
