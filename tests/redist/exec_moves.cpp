// SPDX-License-Identifier: BSD-3-Clause
// Element-exact moves through MPI for every executor. Random problems under every schedule: exec_schedules.cpp.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "../errors.hpp"
#include "exec_brute.hpp"
#include "exec_transports.hpp"
#include "redist/executor.hpp"
#include "redist/shared_array.hpp"
#include "world.hpp"

namespace {

using namespace brute;
using redist::Executor;
using redist::Pointers;
using redist::RankPlan;
using redist::Schedule;

Home home = Home::ordinary;

void move_and_compare(Executor& executor, const Problem& x, Schedule schedule, const std::string& what) {
  const int rank = world_rank();
  const RankPlan plan = plan_of(x, rank, 'd', schedule);
  Share from = share_of(x.from, rank, 'd', 3, true), to = share_of(x.to, rank, 'd', 2, false);
  const Share before = from;
  redist::SharedArray array;
  void* source = from.data();
  if (!from.bytes.empty() && (home == Home::shared || (home == Home::mixed && rank % 2 == 0))) {
    array = redist::SharedArray(from.bytes.size() + 64, redist::Sharing::yes);
    source = static_cast<char*>(array.data()) + 64;
    std::memcpy(source, from.data(), from.bytes.size());
  }
  executor.execute({&plan}, {{source, from.lld, to.data(), to.lld}});
  EXPECT_TRUE(to.bytes == expected(x, rank, 'd', 2).bytes) << what;
  EXPECT_TRUE(from.bytes.empty() || std::memcmp(source, before.bytes.data(), before.bytes.size()) == 0)
      << what << ": the source changed";
}

/// A whole matrix in block columns over all ranks, to block rows.
Problem columns_to_rows(std::int64_t n, std::int64_t nb_from, std::int64_t nb_to) {
  const int p = world_size();
  return whole(uniform(n, n, nb_from, nb_from, redist::Grid::row_major(1, p)),
               uniform(n, n, nb_to, nb_to, redist::Grid::row_major(p, 1)));
}

class EveryTransport : public OnTransport {
protected:
  void SetUp() override { home = GetParam().home; }
};

INSTANTIATE_TEST_SUITE_P(Executors, EveryTransport, transports(), name_of_transport);

TEST_P(EveryTransport, OnePlanForMatricesOfSeveralTypes) {
  // as the library plans: messages that leave the same columns share their lists and go together
  const int p = world_size(), rank = world_rank();
  Executor executor(MPI_COMM_WORLD, options());
  const redist::Grid row = redist::Grid::row_major(1, p), column = redist::Grid::row_major(p, 1);
  for (const Problem& x : {whole(uniform(700, 90, 64, 64, row), uniform(700, 90, 64, 64, column)),
                           whole(uniform(700, 90, 7, 20, row), uniform(700, 90, 70, 9, column)),
                           whole(uniform(700, 90, 100, 30, column), uniform(700, 90, 33, 30, row))}) {
    const redist::Plan plan(x.from, x.to);
    for (const std::string letters : {"d", "ds", "sd", "zsdci", "iz", "ddsd"}) {
      std::vector<Share> from, to;
      std::map<char, RankPlan> of_type;
      for (const char type : letters) {
        of_type.emplace(type, plan.for_rank(rank, type));
        from.push_back(share_of(x.from, rank, type, 3, true));
        to.push_back(share_of(x.to, rank, type, 2, false));
      }
      std::vector<const RankPlan*> moved;
      std::vector<Pointers> pointers;
      for (std::size_t k = 0; k < letters.size(); ++k) {
        moved.push_back(&of_type.at(letters[k]));
        pointers.push_back({from[k].data(), from[k].lld, to[k].data(), to[k].lld});
      }
      executor.execute(moved, pointers);
      for (std::size_t k = 0; k < letters.size(); ++k)
        EXPECT_TRUE(to[k].bytes == expected(x, rank, letters[k], 2).bytes)
            << "transfer " << k << " of types " << letters;
    }
  }
  executor.close();
}

TEST_P(EveryTransport, LargePanelsOverDisjointNestedAndOverlappingGrids) {
  const int p = world_size();
  Executor executor(MPI_COMM_WORLD, options());
  std::vector<Problem> problems;
  const auto line = [](int first, int count) { return redist::Grid::row_major(1, count, first); };
  problems.push_back(
      whole(uniform(700, 500, 64, 64, line(0, p / 2)), uniform(700, 500, 32, 48, line(p / 2, p - p / 2)))); // disjoint
  problems.push_back(whole(uniform(700, 500, 64, 64, line(0, 1)),
                           uniform(700, 500, 50, 3, redist::Grid::row_major(p, 1), p - 1, 0))); // nested
  problems.push_back(whole(uniform(900, 300, 450, 1, redist::Grid::row_major(2, 1)),
                           uniform(900, 300, 1, 300, redist::Grid::row_major(2, 1, p - 2), 1, 0)));
  problems.push_back(whole(uniform(700, 500, 64, 64, redist::Grid::row_major(p, 1)),
                           uniform(700, 500, 64, 64, redist::Grid::row_major(p, 1))));
  problems.push_back(
      whole(uniform(1000, 800, 1000, 200, line(0, p)), uniform(1000, 800, 1000, 400, line(0, p)))); // contiguous pieces
  for (std::size_t k = 0; k < problems.size(); ++k)
    for (const Schedule schedule : {Schedule::async, Schedule::caterpillar, Schedule::matching})
      move_and_compare(executor, problems[k], schedule, "grids " + std::to_string(k));
  executor.close();
}

TEST_P(EveryTransport, ArraysThatAreOfferedInSomeExchangesOnly) {
  // fast ranks begin the next exchange while slow ones are still in this one; one that nobody reads from may offer its
  // array there, while others begin to read
  Executor executor(MPI_COMM_WORLD, options());
  const int p = world_size();
  const Problem x =
      whole(uniform(40, 40, 3, 5, redist::Grid::row_major(1, p)), uniform(40, 40, 4, 2, redist::Grid::row_major(p, 1)));
  for (int round = 0; round < 200; ++round) {
    if (home != Home::ordinary) home = round % 2 == 0 ? Home::mixed : Home::shared;
    move_and_compare(executor, x, Schedule::async, "round " + std::to_string(round));
  }
  executor.close();
}

TEST_P(EveryTransport, StartAndFinish) {
  Executor executor(MPI_COMM_WORLD, options());
  const int rank = world_rank();
  const Problem x = columns_to_rows(300, 16, 8);
  const RankPlan plan = plan_of(x, rank, 'd');
  Share from = share_of(x.from, rank, 'd', 0, true), to = share_of(x.to, rank, 'd', 0, false);
  executor.start({&plan}, {{from.data(), from.lld, to.data(), to.lld}});
  EXPECT_THROW(executor.start({}, {}), base::Error);
  volatile double busy = 0;
  for (int k = 0; k < 1000000; ++k) busy = busy + 1;
  const redist::ExecuteReport report = executor.finish();
  EXPECT_TRUE(to.bytes == expected(x, rank, 'd', 0).bytes);
  EXPECT_EQ(report.bytes_out + report.bytes_kept, plan.m_loc_from * plan.n_loc_from * 8);
  EXPECT_EQ(report.bytes_in + report.bytes_kept, plan.m_loc_to * plan.n_loc_to * 8);
  EXPECT_LE(report.peak_bytes, GetParam().extra_bytes + 65536); // control words beside the panels
  EXPECT_THROW(executor.finish(), base::Error);
  executor.close();
  EXPECT_THROW(executor.execute({}, {}), base::Error);
}

TEST_P(EveryTransport, ClosesAfterWhatIsUnderWay) {
  Executor executor(MPI_COMM_WORLD, options());
  const int rank = world_rank();
  const Problem x = columns_to_rows(300, 16, 8);
  const RankPlan plan = plan_of(x, rank, 'z', Schedule::matching);
  Share from = share_of(x.from, rank, 'z', 0, true), to = share_of(x.to, rank, 'z', 0, false);
  executor.start({&plan}, {{from.data(), from.lld, to.data(), to.lld}});
  executor.close();
  EXPECT_TRUE(to.bytes == expected(x, rank, 'z', 0).bytes);
}

/// Columns of more than a page that are turned into rows, beside others in the columns of one array.
struct InOneArray {
  static constexpr std::int64_t tall = 1500, lld = 2 * tall;
  static constexpr double other = 7;

  redist::SharedArray array;
  std::int64_t columns;
  explicit InOneArray(std::int64_t n)
      : array(static_cast<std::size_t>(lld * n) * sizeof(double),
              home == Home::ordinary ? redist::Sharing::no : redist::Sharing::yes),
        columns(n) {
    std::fill_n(at(0), lld * n, other);
  }
  double* at(std::int64_t row) { return static_cast<double*>(array.data()) + row; }
  /// A share from row `row` on.
  void put(Share share, std::int64_t row) {
    for (std::int64_t j = 0; j < share.n; ++j)
      std::memcpy(at(row) + j * lld, share.at(0, j), static_cast<std::size_t>(share.m) * sizeof(double));
  }
  static Problem to_rows(std::int64_t n) {
    const int p = world_size();
    return whole(uniform(tall, n, tall, 1, redist::Grid::row_major(1, p)),
                 uniform(tall, n, 64, n, redist::Grid::row_major(p, 1)));
  }
};

TEST_P(EveryTransport, InPlaceKeepsOtherRowsOfTheArray) {
  Executor executor(MPI_COMM_WORLD, options());
  const int rank = world_rank();
  const Problem x = InOneArray::to_rows(100);
  const RankPlan plan = plan_of(x, rank, 'd');
  Share to = share_of(x.to, rank, 'd', 0, false);
  InOneArray array(plan.n_loc_from);
  array.put(share_of(x.from, rank, 'd', 0, true), 0);
  executor.execute_in_place({&plan}, {{array.at(0), InOneArray::lld, to.data(), to.lld}}, 4);
  EXPECT_TRUE(to.bytes == expected(x, rank, 'd', 0).bytes);
  std::int64_t changed = 0;
  for (std::int64_t j = 0; j < array.columns; ++j)
    for (std::int64_t i = InOneArray::tall; i < InOneArray::lld; ++i)
      if (array.at(i)[j * InOneArray::lld] != InOneArray::other) ++changed;
  EXPECT_EQ(changed, 0) << "elements below the matrix";
  executor.close();
}

/// Two sources of one leading dimension in one exchange in place.
void expect_both_in_place(Executor& executor, const Problem& x, const void* from_x, const Problem& y,
                          const void* from_y, std::int64_t lld) {
  const int rank = world_rank();
  const RankPlan plan_x = plan_of(x, rank, 'd'), plan_y = plan_of(y, rank, 'd');
  Share to_x = share_of(x.to, rank, 'd', 0, false), to_y = share_of(y.to, rank, 'd', 0, false);
  executor.execute_in_place({&plan_x, &plan_y},
                            {{from_x, lld, to_x.data(), to_x.lld}, {from_y, lld, to_y.data(), to_y.lld}}, 5);
  EXPECT_TRUE(to_x.bytes == expected(x, rank, 'd', 0).bytes);
  EXPECT_TRUE(to_y.bytes == expected(y, rank, 'd', 0).bytes);
}

TEST_P(EveryTransport, InPlaceFromBothHalvesOfAnArray) {
  Executor executor(MPI_COMM_WORLD, options());
  const Problem x = InOneArray::to_rows(100), y = InOneArray::to_rows(50);
  const Share from_x = share_of(x.from, world_rank(), 'd', 0, true);
  InOneArray array(from_x.n);
  array.put(from_x, 0);
  array.put(share_of(y.from, world_rank(), 'd', 0, true), InOneArray::tall);
  expect_both_in_place(executor, x, array.at(0), y, array.at(InOneArray::tall), InOneArray::lld);
  executor.close();
}

TEST_P(EveryTransport, InPlaceFromOneSourceTwice) {
  Executor executor(MPI_COMM_WORLD, options());
  const Problem x = InOneArray::to_rows(100);
  const redist::Grid row = redist::Grid::row_major(1, world_size());
  const Problem y = whole(x.from, uniform(InOneArray::tall, 100, InOneArray::tall, 9, row));
  const Share from = share_of(x.from, world_rank(), 'd', 0, true);
  redist::SharedArray array(from.bytes.size(), home == Home::ordinary ? redist::Sharing::no : redist::Sharing::yes);
  std::memcpy(array.data(), from.bytes.data(), from.bytes.size());
  expect_both_in_place(executor, x, array.data(), y, array.data(), from.lld);
  executor.close();
}

TEST_P(EveryTransport, WrongSlabsAreSaidByAll) {
  Executor executor(MPI_COMM_WORLD, options());
  const int p = world_size(), rank = world_rank();
  const Problem x = columns_to_rows(60, 4, 8);
  const RankPlan plan = plan_of(x, rank, 'd');
  Share from = share_of(x.from, rank, 'd', 0, true), to = share_of(x.to, rank, 'd', 0, false);
  const std::vector<Pointers> pointers = {{from.data(), from.lld, to.data(), to.lld}};
  const auto status_of = [&](int slabs) {
    return thrown_by([&] { executor.execute_in_place({&plan}, pointers, slabs); }).status();
  };
  EXPECT_EQ(status_of(rank == p - 1 ? 0 : 3), base::Status::bad_argument);
  EXPECT_EQ(status_of(rank == p - 1 ? 2 : 3), base::Status::rank_mismatch);
  executor.execute({&plan}, pointers);
  EXPECT_TRUE(to.bytes == expected(x, rank, 'd', 0).bytes);
  executor.close();
}

TEST_P(EveryTransport, OneWrongRankIsEverybodysError) {
  Executor executor(MPI_COMM_WORLD, options());
  const int p = world_size(), rank = world_rank();
  const Problem x = columns_to_rows(30, 4, 4);
  const RankPlan plan = plan_of(x, rank, 'd'), wrong_type = plan_of(x, rank, 'q');
  RankPlan wrong_steps = plan_of(x, rank, 'd'); // as of another schedule
  ++wrong_steps.steps;
  Share from = share_of(x.from, rank, 'd', 0, true), to = share_of(x.to, rank, 'd', 0, false);
  const Pointers good{from.data(), from.lld, to.data(), to.lld};
  const auto status_of = [&](const RankPlan& what, const std::vector<Pointers>& pointers, std::size_t matrices = 1) {
    return thrown_by([&] { executor.execute(std::vector<const RankPlan*>(matrices, &what), pointers); }).status();
  };
  for (int wrong = 0; wrong < p; ++wrong) {
    Pointers bad = good;
    if (rank == wrong) bad.from = nullptr;
    EXPECT_EQ(status_of(plan, {bad}), base::Status::null_pointer);
    bad = good;
    if (rank == wrong) bad.lld_to = 0;
    EXPECT_EQ(status_of(plan, {bad}), base::Status::bad_argument);
    EXPECT_EQ(status_of(rank == wrong ? wrong_type : plan, {good}), base::Status::bad_type);
    EXPECT_EQ(rank == wrong ? status_of(plan, {good, good}, 2) : status_of(plan, {good}), base::Status::rank_mismatch);
    EXPECT_EQ(status_of(rank == wrong ? wrong_steps : plan, {good}), base::Status::rank_mismatch);
    EXPECT_EQ(status_of(plan, {good}), base::Status::success);
    EXPECT_TRUE(to.bytes == expected(x, rank, 'd', 0).bytes);
  }
  executor.close();
}

} // namespace
