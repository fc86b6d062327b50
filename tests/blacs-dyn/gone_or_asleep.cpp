// SPDX-License-Identifier: BSD-3-Clause
// After 2x2 -> 3x3 -> 1x1 the five spawned processes have exited and the three others of mpirun sleep; then they are
// used again. With an MPI that cannot start processes mpirun has started all nine, and eight sleep.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include <unistd.h>

#include "follow.hpp"

namespace {

/// Clock ticks that a process has computed.
long ticks_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  long user = 0, system = 0;
  if (end == std::string::npos ||
      std::sscanf(text.c_str() + end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) != 2)
    return -1;
  return user + system;
}

/// Until a process takes at most a twentieth of a core.
void await_sleep_of(int pid) {
  const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (double share = 1; share > 0.05;) {
    const long before = ticks_of(pid);
    const double begun_s = MPI_Wtime();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    share = static_cast<double>(ticks_of(pid) - before) / ticks_per_s / (MPI_Wtime() - begun_s);
    std::printf("sleeper %d: %.1f %% of a core\n", pid, 100 * share);
    std::fflush(stdout);
  }
}

} // namespace

int main() {
  using follow::expect;
  expect(!dyngrid_init_grid(2, 2), "init");
  int pids[9] = {0}, step = 0;
  const int spawned = std::getenv("DYNGRID_SPARE") ? 0 : 5, sleepers = 8 - spawned;
  dyngrid_share("step", &step, sizeof step);
  const bool was_newcomer = dyngrid_is_newcomer() != 0;
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) break;
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    if (step == 1) {
      const int mine = was_newcomer ? -getpid() : getpid();
      MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, dyngrid_comm());
    }
    if (step == 2) {
      expect(nprow * npcol == 1, "alone");
      for (const int pid : pids) {
        while (pid < 0 && !follow::has_ended(-pid)) usleep(5000);
        if (pid > 0 && pid != getpid()) await_sleep_of(pid);
      }
      expect(std::count_if(pids, pids + 9, [](int pid) { return pid < 0; }) == spawned, "spawned processes");
      dyngrid_resize_report report;
      dyngrid_last_resize(&report);
      expect(report.released == spawned && report.parked == sleepers && report.spawned == 0, "the report says so");
    }
    if (step == 3) {
      dyngrid_resize_report report;
      dyngrid_last_resize(&report);
      expect(report.woken == std::min(sleepers, 5) && report.spawned == 5 - report.woken, "sleepers first");
      break;
    }
    ++step;
    if (step == 1) dyngrid_request(3, 3);
    if (step == 2) dyngrid_request(1, 1);
    if (step == 3) dyngrid_request(2, 3);
  }
  expect(!dyngrid_finalize(), "finalize");
  return 0;
}
