// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/mpi/check.hpp"
#include "base/tags.hpp"

namespace base {
namespace {
/// 20 us at first, then longer, up to 1 ms: a quick answer costs little, a slow one no core.
class Backoff {
public:
  void pause() {
    std::this_thread::sleep_for(std::chrono::microseconds(us_));
    us_ = std::min(us_ * 5 / 4 + 1, 1000);
  }

private:
  int us_ = 20;
};
} // namespace

void wait_asleep(MPI_Request* request) {
  Backoff backoff;
  for (int done = 0, spins = 0; !done; ++spins) {
    check_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done && spins > 50) backoff.pause();
  }
}

void let_mpi_progress(MPI_Comm comm) {
  // a look that finds a message may end without moving on the others
  int is_there = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_of_no_message, comm, &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

void call_off(int count, MPI_Request* requests) noexcept {
  for (MPI_Request* request = requests; request != requests + count; ++request) {
    if (*request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(request);
    MPI_Request_free(request);
  }
}

} // namespace base
