// SPDX-License-Identifier: BSD-3-Clause
// waiting on|off: whether waiting processes sleep (libdyngrid-yield.so preloaded) or only yield their cores. Rank 0
// keeps the others waiting until each has slept often, which the kernel counts as voluntary switches. Its polls of them
// are its only activity; then all check a sum.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

/// How often a process has yielded its core to sleep; -1: it is gone.
long times_slept(long pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    long times = 0;
    if (word == "voluntary_ctxt_switches:" && status >> times) return times;
  }
  return -1;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool should_sleep = argc > 1 && std::strcmp(argv[1], "on") == 0;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long pid = getpid();
  std::vector<long> pids(static_cast<std::size_t>(size));
  MPI_Gather(&pid, 1, MPI_LONG, pids.data(), 1, MPI_LONG, 0, MPI_COMM_WORLD);
  int failed = 0;
  if (rank == 0) {
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
    for (int k = 0; k < 30; ++k) pause(); // they stand in MPI_Bcast by now; if not, they sleep a little less
    std::vector<long> before;
    for (const long p : pids) before.push_back(times_slept(p));
    constexpr long often =
        100; // one that does not sleep is switched voluntarily a few times at most: by a page of the kernel's, a lock
    const int looks = should_sleep ? 5000 : 100;
    bool have_all = false;
    for (int look = 0; look < looks && !have_all; ++look) {
      pause();
      have_all = true;
      for (std::size_t r = 1; r < pids.size(); ++r) have_all = have_all && times_slept(pids[r]) - before[r] >= often;
    }
    if (have_all != should_sleep) {
      failed = 1;
      for (std::size_t r = 1; r < pids.size(); ++r)
        std::fprintf(stderr, "waiting: rank %zu slept %ld times while it waited, expected %s %ld\n", r,
                     times_slept(pids[r]) - before[r], should_sleep ? "at least" : "fewer than", often);
    }
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double sum = 0, mine = rank + 1;
  for (int k = 0; k < 200; ++k) {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size + 1) / 2.0) failed = 1;
  }
  MPI_Finalize();
  return failed;
}
