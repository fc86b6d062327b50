// SPDX-License-Identifier: BSD-3-Clause
// The cost of a resize point without any request, against MPI_Allreduce of 8 bytes over the same processes:
// mpirun --oversubscribe -np 16 resize_point_cost [batches] [calls per batch]
// The two take turns, so that other load of the machine affects both. The median over the batches counts; only rank 0
// prints. No time is judged.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

#include "dyngrid.h"

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  const int batches = argc > 1 ? std::atoi(argv[1]) : 21, calls = argc > 2 ? std::atoi(argv[2]) : 500;
  if (batches < 1 || calls < 1) {
    std::fprintf(stderr, "resize_point_cost: expected [batches] [calls per batch], both from 1\n");
    return 2;
  }
  if (dyngrid_init() != DYNGRID_SUCCESS) {
    std::fprintf(stderr, "%s\n", dyngrid_last_message());
    return 1;
  }
  std::vector<double> reduce_s, point_s, ratio;
  bool right = true;
  dyngrid_matrix* a = nullptr;
  right = right && dyngrid_matrix_create("A", 'd', 64, 64, 8, 8, &a) == DYNGRID_SUCCESS; // as a program would have it
  for (int batch = -1; batch < batches && right; ++batch) { // the first one opens connections
    long long mine = batch, sum = 0;
    MPI_Barrier(dyngrid_comm());
    const double begun = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_MAX, dyngrid_comm());
    const double between = MPI_Wtime();
    for (int i = 0; i < calls; ++i) right = dyngrid_resize_point() == DYNGRID_SAME && right;
    const double ended = MPI_Wtime();
    if (batch < 0) continue;
    reduce_s.push_back((between - begun) / calls);
    point_s.push_back((ended - between) / calls);
    ratio.push_back(point_s.back() / reduce_s.back());
  }
  int rank = 0, size = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  MPI_Comm_size(dyngrid_comm(), &size);
  if (rank == 0 && right)
    std::printf("%d processes, %d batches of %d: MPI_Allreduce of 8 bytes %.2f us, resize point %.2f us, ratio %.2f "
                "(medians; ratio %.2f .. %.2f)\n",
                size, batches, calls, median(reduce_s) * 1e6, median(point_s) * 1e6, median(ratio),
                *std::min_element(ratio.begin(), ratio.end()), *std::max_element(ratio.begin(), ratio.end()));
  return dyngrid_finalize() == DYNGRID_SUCCESS && right ? 0 : 1;
}
