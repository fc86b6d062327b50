// SPDX-License-Identifier: BSD-3-Clause
// The machine that libdyngrid.so measures for a decider of calls, and the predictions that follow from it.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "base/mpi/blacs.hpp"
#include "calls/call_decider.hpp"

extern "C" void pdgetrf_(const int*, const int*, double*, const int*, const int*, const int*, int*, int*);

namespace {

using blacs_dyn::calls::CallInHand;

struct Decider final : blacs_dyn::calls::CallDecider {
  advise::Machine machine;
  double predicted_s = 0, on_slower_s = 0;
  int calls = 0;

  bool wants(const std::string&) const override { return true; }
  void carry_out(CallInHand& call) override {
    ++calls;
    machine = call.measure_machine();
    advise::Machine slower = machine;
    slower.latency_s *= 10, slower.bandwidth_bytes_per_s /= 10, slower.pack_bytes_per_s /= 10;
    const advise::CallPlace place{{2, 2}, 64};
    predicted_s = call.predicted_copies(place, machine);
    on_slower_s = call.predicted_copies(place, slower);
    call.run_here();
  }
};

TEST(Calls, ArePredictedWithTheMachineThatIsMeasured) {
  static Decider decider; // outlives the last call
  blacs_dyn::calls::CallHost* const dyngrid = dyngrid_calls_attach(&decider);
  int ctxt = -1, me[2], shape[2];
  Cblacs_get(0, 0, &ctxt);
  Cblacs_gridinit(&ctxt, "R", 1, 4);
  Cblacs_gridinfo(ctxt, &shape[0], &shape[1], &me[0], &me[1]);
  const int n = 32, one = 1, desc[] = {1, ctxt, n, n, 4, 4, 0, 0, n};
  int info = 77;
  std::vector<double> a(32 * 8, 0); // two blocks of columns; the unit matrix
  for (std::size_t j = 0; j < 8; ++j) a[j * 32 + (j / 4 * 4 + static_cast<std::size_t>(me[1])) * 4 + j % 4] = 1;
  std::vector<int> pivots(40);
  pdgetrf_(&n, &n, a.data(), &one, &one, desc, pivots.data(), &info);
  if (dyngrid->prints_here()) dyngrid->hide();
  EXPECT_EQ(info, 0);
  EXPECT_EQ(decider.calls, 1);

  EXPECT_GE(decider.machine.cores, 1); // the default figures have none
  advise::Machine of_rank_0 = decider.machine;
  MPI_Bcast(&of_rank_0, sizeof of_rank_0, MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(of_rank_0.latency_s, decider.machine.latency_s);
  EXPECT_EQ(of_rank_0.bandwidth_bytes_per_s, decider.machine.bandwidth_bytes_per_s);
  EXPECT_EQ(of_rank_0.pack_bytes_per_s, decider.machine.pack_bytes_per_s);
  EXPECT_GT(decider.predicted_s, 0);
  EXPECT_NEAR(decider.on_slower_s, 10 * decider.predicted_s, 1e-6 * decider.on_slower_s);
}

} // namespace
