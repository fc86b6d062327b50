// SPDX-License-Identifier: BSD-3-Clause
// The lists of numbers in C++ against those of C; fortran_test.f90 compares the Fortran ones.
#include <gtest/gtest.h>

#include "advise/balance.hpp"
#include "advise/topology.hpp"
#include "base/status.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/selection.hpp"

extern "C" int number_of(const char* name);

namespace {
using namespace base;
using namespace advise;
using namespace gridmap;

template <class Enum> void same(const char* name, Enum value) {
  EXPECT_EQ(number_of(name), static_cast<int>(value)) << name;
}

TEST(Numbers, TheSameInCAndCpp) {
  same("DYNGRID_SUCCESS", Status::success);
  same("DYNGRID_ERR_ARGUMENT", Status::bad_argument);
  same("DYNGRID_ERR_NULL", Status::null_pointer);
  same("DYNGRID_ERR_TYPE", Status::bad_type);
  same("DYNGRID_ERR_SHAPE", Status::shape_mismatch);
  same("DYNGRID_ERR_DESCRIPTOR", Status::bad_descriptor);
  same("DYNGRID_ERR_MISMATCH", Status::rank_mismatch);
  same("DYNGRID_ERR_STATE", Status::bad_state);
  same("DYNGRID_ERR_NOT_FOUND", Status::not_found);
  same("DYNGRID_ERR_UNSUPPORTED", Status::unsupported);
  same("DYNGRID_ERR_MEMORY", Status::out_of_memory);
  same("DYNGRID_ERR_IO", Status::io_failure);
  same("DYNGRID_ERR_SLOTS", Status::no_slots);
  same("DYNGRID_ERR_SPAWN", Status::spawn_failure);
  same("DYNGRID_ERR_TIMEOUT", Status::timeout);
  same("DYNGRID_ERR_MPI", Status::mpi_failure);
  same("DYNGRID_ERR_INTERNAL", Status::internal);
  same("DYNGRID_OPTIMAL", Placement::optimal);
  same("DYNGRID_GLOBAL", Placement::global);
  same("DYNGRID_LOCAL1", Placement::local1);
  same("DYNGRID_LOCAL2", Placement::local2);
  same("DYNGRID_PREFER_COLUMNS", Dominance::columns);
  same("DYNGRID_PREFER_ROWS", Dominance::rows);
  same("DYNGRID_MAP_BEST", MapMethod::best);
  same("DYNGRID_MAP_SVD", MapMethod::svd);
  same("DYNGRID_MAP_NATURAL", MapMethod::natural);
  same("DYNGRID_SELECT_BEST", Strategy::best);
  same("DYNGRID_SELECT_GLOBAL", Strategy::global);
  same("DYNGRID_SELECT_LOCAL", Strategy::local);
  same("DYNGRID_SELECT_MIXED", Strategy::mixed);
  same("DYNGRID_BALANCE_STAY", BalanceAction::stay);
  same("DYNGRID_BALANCE_REBALANCE", BalanceAction::rebalance);
  same("DYNGRID_BALANCE_REMOVE", BalanceAction::remove);
  same("DYNGRID_BALANCE_TAKE_BACK", BalanceAction::take_back);
  same("DYNGRID_BALANCE_REPLACE", BalanceAction::replace);
}

TEST(Numbers, EveryStatusHasAName) {
  for (int status = DYNGRID_ERR_INTERNAL; status <= DYNGRID_SUCCESS; ++status)
    EXPECT_STRNE(to_string(static_cast<Status>(status)), "unknown status") << status;
}
} // namespace
