// SPDX-License-Identifier: BSD-3-Clause
// The shared state of a new process, before and after the content has arrived; no process joins here.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/status.hpp"
#include "grid/shared_state.hpp"

namespace {

using blacs_dyn::SharedState;
using control::SavedShared;

/// As the others announce and send it, a few bytes at a time.
void tell(const SharedState& from, SharedState& to, std::size_t at_once = 3) {
  const std::vector<SavedShared> told = from.list();
  to.expect(told, true);
  std::int64_t end = 0;
  for (const SavedShared& one : told) end += one.bytes;
  std::vector<char> buffer(at_once);
  for (std::int64_t at = 0; at < end; at += static_cast<std::int64_t>(at_once)) {
    buffer.resize(std::min(at_once, static_cast<std::size_t>(end - at)));
    SharedState::gather(told, at, buffer);
    to.scatter(told, at, buffer);
  }
}

TEST(SharedState, ContentThatCameFirstWaitsForItsPlace) {
  int step = 7, mine = 0;
  SharedState others, newcomer;
  others.share("step", &step, sizeof step, MPI_COMM_NULL);
  tell(others, newcomer);
  newcomer.share("step", &mine, sizeof mine, MPI_COMM_NULL);
  EXPECT_EQ(mine, 7);
  EXPECT_EQ(newcomer.count(), 1u);
}

TEST(SharedState, NoBytesAreEnteredOnceToo) {
  SharedState others, newcomer;
  others.share("nothing", nullptr, 0, MPI_COMM_NULL);
  tell(others, newcomer);
  newcomer.share("nothing", nullptr, 0, MPI_COMM_NULL);
  EXPECT_EQ(newcomer.count(), 1u);
  EXPECT_THROW(newcomer.share("nothing", nullptr, 0, MPI_COMM_NULL), base::Error); // a second time
  newcomer.unshare("nothing");
  EXPECT_EQ(newcomer.count(), 0u);
}

TEST(SharedState, ContentGoesToThePlaceThatWasGivenBefore) {
  int step = 7, mine = 0;
  SharedState others, newcomer;
  others.share("step", &step, sizeof step, MPI_COMM_NULL);
  newcomer.share("step", &mine, sizeof mine, MPI_COMM_NULL);
  tell(others, newcomer);
  EXPECT_EQ(mine, 7);
  char other = 0;
  SharedState wrong;
  wrong.share("step", &other, sizeof other, MPI_COMM_NULL);
  EXPECT_THROW(tell(others, wrong), base::Error);
}

TEST(SharedState, AllContentsAreOneRowOfBytes) {
  std::string first = "some text", second(1, 'x'), third = "and more of it", none;
  SharedState others;
  const auto share = [](SharedState& by, const char* name, std::string& text) {
    by.share(name, text.data(), text.size(), MPI_COMM_NULL);
  };
  share(others, "first", first);
  share(others, "none", none);
  share(others, "second", second);
  share(others, "third", third);
  for (std::size_t at_once = 1; at_once < 30; ++at_once) {
    std::string here(first.size(), '.'), late(third.size(), '.');
    SharedState newcomer;
    share(newcomer, "first", here);
    tell(others, newcomer, at_once);
    share(newcomer, "third", late);
    EXPECT_EQ(here, first);
    EXPECT_EQ(late, third);
    EXPECT_EQ(newcomer.count(), 4u);
  }
}

TEST(SharedState, OnlyWhatAFactorizationSharesBindsARestartToItsPlace) {
  const SharedState restarted;
  EXPECT_NO_THROW(restarted.check({{"dyngrid_step", 4}, {"dyngrid_lu", 4}}));
  EXPECT_THROW(restarted.check({{"dyngrid_lu:A", 8}}), base::Error);
  EXPECT_THROW(restarted.check({{"dyngrid_cholesky:A", 8}}), base::Error);
}

TEST(SharedState, ANewProcessHasNoMoreThanTheOthers) {
  int step = 7, mine = 0;
  SharedState others, newcomer;
  others.share("step", &step, sizeof step, MPI_COMM_NULL);
  newcomer.share("more", &mine, sizeof mine, MPI_COMM_NULL);
  EXPECT_THROW(tell(others, newcomer), base::Error);
  SharedState woken; // items that the others removed while it slept
  woken.share("more", &mine, sizeof mine, MPI_COMM_NULL);
  EXPECT_NO_THROW(woken.expect(others.list(), false));
}

TEST(SharedState, WhatWasRefusedOnceMayHaveAnotherSizeNext) {
  int step = 7, mine = 0;
  char byte = 'x';
  SharedState before, others, woken;
  before.share("step", &byte, 1, MPI_COMM_NULL);
  others.share("step", &step, sizeof step, MPI_COMM_NULL);
  woken.expect(before.list(), false);
  tell(others, woken);
  woken.share("step", &mine, sizeof mine, MPI_COMM_NULL);
  EXPECT_EQ(mine, 7);
}

} // namespace
