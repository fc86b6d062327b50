// SPDX-License-Identifier: BSD-3-Clause
// How both programs here measure.
#pragma once

#include <mpi.h>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench {

inline std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// Middle value; of an even count the mean of the two in the middle; 0 when there is none.
inline double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

/// Waits for all without burning a core: the ranks that have no part in a case must not disturb it. (Twelve that look
/// every 2 ms made a case of four 5 to 15 % longer.)
inline void quiet_barrier(MPI_Comm comm) {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    usleep(30000);
  }
}

} // namespace bench
