// SPDX-License-Identifier: BSD-3-Clause
// What a newcomer shares, before and after the content has come; no process joins anything here.
#include <gtest/gtest.h>

#include "base/status.hpp"
#include "shared_state.hpp"

namespace {

using blacs_dyn::Packet;
using blacs_dyn::SharedState;

/// As the others send it.
Packet sent(const SharedState& from) {
  Packet packet;
  from.write(packet);
  return packet;
}

TEST(SharedState, ContentThatCameFirstWaitsForItsPlace) {
  int step = 7, mine = 0;
  SharedState others, newcomer;
  others.share("step", &step, sizeof step, MPI_COMM_NULL);
  Packet packet = sent(others);
  newcomer.read(packet);
  newcomer.share("step", &mine, sizeof mine, MPI_COMM_NULL);
  EXPECT_EQ(mine, 7);
  EXPECT_EQ(newcomer.count(), 1u);
}

TEST(SharedState, NoBytesAreEnteredOnceToo) {
  SharedState others, newcomer;
  others.share("nothing", nullptr, 0, MPI_COMM_NULL);
  Packet packet = sent(others);
  newcomer.read(packet);
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
  Packet packet = sent(others);
  newcomer.read(packet);
  EXPECT_EQ(mine, 7);
  char other = 0;
  SharedState wrong;
  wrong.share("step", &other, sizeof other, MPI_COMM_NULL);
  Packet again = sent(others);
  EXPECT_THROW(wrong.read(again), base::Error);
}

} // namespace
