// SPDX-License-Identifier: BSD-3-Clause
// waiting on|off: whether waiting processes sleep (libdyngrid-yield.so preloaded) or only yield their cores. Rank 0
// keeps the others waiting until each has slept often, which the kernel counts as voluntary switches. Its polls of them
// are its only activity; then all check a sum.
// waiting crowded: all processes share one core with an endless loop. Their waits are short, but each yield gives the
// loop a time slice: each process must sleep in its waits from the first such yield on.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
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

/// Whether all sums are right.
bool sums_are_right(int rank, int size, int times) {
  double sum = 0;
  const double mine = rank + 1;
  bool right = true;
  for (int k = 0; k < times; ++k) {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    right = right && sum == size * (size + 1) / 2.0;
  }
  return right;
}

/// Every process, and a loop beside them, on the first core that rank 0 may use. Whether this one slept often in 1000
/// short waits: with yields alone it sleeps in none.
bool sleeps_beside_a_loop(int rank, int size) {
  cpu_set_t mine, first;
  sched_getaffinity(0, sizeof mine, &mine);
  int core = 0;
  while (!CPU_ISSET(core, &mine)) ++core;
  MPI_Bcast(&core, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CPU_ZERO(&first);
  CPU_SET(core, &first);
  sched_setaffinity(0, sizeof first, &first);
  std::atomic<bool> ends{false};
  std::thread loop; // inherits the core
  if (rank == 0)
    loop = std::thread([&ends] {
      while (!ends) {
      }
    });
  const long before = times_slept(getpid());
  const bool right = sums_are_right(rank, size, 1000);
  const long slept = times_slept(getpid()) - before;
  ends = true;
  if (loop.joinable()) loop.join();
  constexpr long often = 100;
  if (slept < often)
    std::fprintf(stderr, "waiting: rank %d slept %ld times beside a loop on its core, expected at least %ld\n", rank,
                 slept, often);
  return right && slept >= often;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool should_sleep = argc > 1 && std::strcmp(argv[1], "on") == 0;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && std::strcmp(argv[1], "crowded") == 0) {
    const bool good = sleeps_beside_a_loop(rank, size);
    MPI_Finalize();
    return good ? 0 : 1;
  }
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
  if (!sums_are_right(rank, size, 200)) failed = 1;
  MPI_Finalize();
  return failed;
}
