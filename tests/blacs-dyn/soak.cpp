// SPDX-License-Identifier: BSD-3-Clause
// soak [CYCLES [SEED [--strict N]]]: CYCLES times a 2x2 grid changes to a random shape of 1 .. 9 processes and back, a
// matrix following, every element compared every time. Prints the resources of the first process at the beginning and
// at the end. --strict ends with an error if communicators or open files grew, or its own memory by more than N kB per
// cycle. Open MPI and PMIx keep some 80 kB for every world ever spawned, and a cycle spawns up to four. New processes
// are waited for, or start in the background (DYNGRID_WAIT).
#include <algorithm>
#include <cstring>
#include <random>

#include <unistd.h>

#include "figures.hpp"
#include "follow.hpp"

int main(int argc, char** argv) {
  using follow::expect;
  using follow::Figures;
  using follow::figures;
  const int changes = 2 * (argc > 1 ? std::atoi(argv[1]) : 300);
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  expect(dyngrid_init_grid(2, 2) == DYNGRID_SUCCESS, "dyngrid_init_grid");
  const bool was_newcomer = dyngrid_is_newcomer() != 0;
  dyngrid_matrix* a = follow::create("a", 'd', 200, 120, 8, 8);
  int cycle = 0;
  dyngrid_share("cycle", &cycle, sizeof cycle);
  if (!dyngrid_is_newcomer()) follow::fill(a, 'd', 1);
  Figures first{};
  long first_communicators = 0, last_communicators = 0; // the highest number in ten changes each
  const auto higher = [&](long& highest, long number) { highest = highest == 0 ? number : std::max(highest, number); };
  const double start = MPI_Wtime();
  double worst = 0;
  bool is_root = false;
  for (;;) {
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "a resize point");
    if (outcome == DYNGRID_LEAVE) break;
    if (outcome == DYNGRID_SAME && cycle > 0) { // new processes are being started
      usleep(2000);
      continue;
    }
    expect(follow::wrong(a, 'd', 1) == 0, "elements in cycle " + std::to_string(cycle));
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    is_root = !was_newcomer && world_rank == 0; // of all processes the only one that is never put to sleep
    if (is_root) {
      dyngrid_resize_report report;
      dyngrid_last_resize(&report);
      worst = std::max(worst, report.total_s);
      if (cycle == 20) first = figures(); // one-time allocations (buffers of MPI, the heap's first growth) exist by now
      if (cycle > 10 && cycle <= 20) higher(first_communicators, figures().communicator);
      if (cycle > changes - 10) higher(last_communicators, figures().communicator);
      if (cycle % 40 == 0) {
        const Figures f = figures();
        std::printf(
            "change %4d, on %dx%d, %6.1f s: resident %ld kB (own %ld), open files %ld, communicator number %ld\n",
            cycle, nprow, npcol, MPI_Wtime() - start, f.rss_kb, f.anon_kb, f.files, f.communicator);
        std::fflush(stdout);
      }
    }
    if (cycle == changes) break;
    // the same shape on every process: from the cycle's number alone; every second one back to 2x2
    std::mt19937 random(seed * 1000003u + static_cast<unsigned>(cycle));
    int r = 2, c = 2;
    if (cycle % 2 == 0) do {
        r = 1 + static_cast<int>(random() % 4);
        c = 1 + static_cast<int>(random() % 4);
      } while (r * c > 9 || (r == 2 && c == 2));
    ++cycle;
    expect(!dyngrid_request(r, c), "request");
  }
  if (is_root) {
    const Figures last = figures();
    std::printf("%d changes in %.1f s, the longest %.2f s\n", cycle, MPI_Wtime() - start, worst);
    std::printf("first process after 20 changes and at the end: resident %ld -> %ld kB (own %ld -> %ld), open files "
                "%ld -> %ld, highest communicator number %ld -> %ld\n",
                first.rss_kb, last.rss_kb, first.anon_kb, last.anon_kb, first.files, last.files, first_communicators,
                last_communicators);
    std::fflush(stdout);
    if (argc > 4 && !std::strcmp(argv[3], "--strict")) {
      expect(last_communicators <= first_communicators + 4, "communicators are flat");
      expect(last.files <= first.files + 8, "open files are flat");
      expect(last.anon_kb - first.anon_kb <= std::atol(argv[4]) * (changes - 20) / 2, "memory is flat");
    }
  }
  expect(dyngrid_finalize() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
