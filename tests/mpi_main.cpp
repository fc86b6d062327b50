// SPDX-License-Identifier: BSD-3-Clause
// main of the tests that run under mpirun: the exit code is the worst over all ranks.
#include <cstring>

#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) { // one voice is enough, unless something fails
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    struct Failures : ::testing::EmptyTestEventListener {
      int rank;
      explicit Failures(int r) : rank(r) {}
      void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (result.failed())
          std::fprintf(stderr, "[rank %d] %s:%d %s\n", rank, result.file_name(), result.line_number(),
                       result.summary());
      }
    };
    listeners.Append(new Failures(rank));
  }
  int worst = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
