// SPDX-License-Identifier: BSD-3-Clause
// restarted STEPS: a matrix in even and one in unequal blocks; every step computes their elements from the previous
// ones. At step 2 the grid grows to 2x2. At the end each element is computed again from nothing. With TEST_KILL_AT=STEP
// the last new process is killed before that step while it holds its parts. With TEST_STATUS=on process 0 looks at the
// job's status at the end. Local arrays are requested where they are made, where the outcome requires it, and in the
// callback of dyngrid_on_change: all three must work, at a restart too. TEST_FIRST=2x2: a restarted run changes its
// grid to that before its first resize point.
#include <csignal>

#include <unistd.h>

#include "base/parse_json.hpp"
#include "control/client.hpp"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/layout.h"
#include "follow.hpp"

namespace {

using follow::expect;

constexpr std::int64_t prime = 65521; // small enough for exact doubles

std::int64_t next_even(std::int64_t x, std::int64_t i, std::int64_t j, int step) {
  return (5 * x + i + 2 * j + step) % prime;
}
std::int64_t next_unequal(std::int64_t x, std::int64_t i, std::int64_t j, int step) {
  return (3 * x + 7 * i + j + step) % prime;
}

template <class Next> void advance(dyngrid_matrix* a, void* local, int step, Next next) {
  expect(local == dyngrid_local(a), "the local array that was asked for last is the one there is");
  auto* x = static_cast<double*>(local);
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    x[at] = static_cast<double>(next(static_cast<std::int64_t>(x[at]), i, j, step));
  });
}

template <class Next> int wrong(const dyngrid_matrix* a, int steps, Next next) {
  const auto* x = static_cast<const double*>(dyngrid_local(a));
  int bad = 0;
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    std::int64_t value = 0;
    for (int step = 0; step < steps; ++step) value = next(value, i, j, step);
    bad += x[at] != static_cast<double>(value);
  });
  return bad;
}

struct Notices {
  dyngrid_matrix* even = nullptr;
  void* local = nullptr; ///< of it
  int before = 0, after = 0;
};

} // namespace

int main(int argc, char** argv) {
  expect(dyngrid_init() == DYNGRID_SUCCESS && argc == 2, "dyngrid_init");
  const int steps = std::atoi(argv[1]);
  dyngrid_matrix *even = nullptr, *unequal = nullptr;
  int step = 0, seed = 42;
  expect(!dyngrid_matrix_create("even", 'd', 143, 61, 4, 3, &even) &&
             !dyngrid_matrix_create_by("unequal", 'd', 83, 107, follow::unequal, &seed, &unequal),
         "create");
  expect(!dyngrid_share("step", &step, sizeof step), "share");
  void* local_unequal = dyngrid_local(unequal);
  Notices notices;
  notices.even = even;
  notices.local = dyngrid_local(even);
  expect(!dyngrid_on_change([](void* data) { ++static_cast<Notices*>(data)->before; },
                            [](void* data) {
                              auto* n = static_cast<Notices*>(data);
                              n->local = dyngrid_local(n->even);
                              ++n->after;
                            },
                            &notices),
         "on_change");
  const bool must_restore = dyngrid_is_restarted() != 0 && dyngrid_context() >= 0;
  const bool came_later = dyngrid_is_newcomer() != 0;
  bool is_first = !came_later;
  bool was_woken = false; // at the others' resize point
  int outcome = DYNGRID_SAME;
  if (const char* first = std::getenv("TEST_FIRST")) {
    int nprow = 0, npcol = 0;
    expect(std::sscanf(first, "%dx%d", &nprow, &npcol) == 2, "a grid as 2x2");
    outcome = came_later ? dyngrid_resize_point() : dyngrid_resize(nprow, npcol, DYNGRID_OPTIMAL);
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome == DYNGRID_RESIZED, "a change before the restart");
    was_woken = dyngrid_is_restarted() == 0;
    expect(!was_woken || step > 0, "a process that wakes after the restart has what was restored");
  }
  for (;; was_woken = false) {
    if (!was_woken) outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome >= 0, "resize point");
    if (is_first && must_restore)
      expect(outcome == DYNGRID_RESIZED && notices.before >= 1 && notices.after == notices.before,
             "the restart is reported");
    if (outcome == DYNGRID_RESIZED) local_unequal = dyngrid_local(unequal);
    int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
    dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
    if (is_first && myrow == 0 && mycol == 0)
      std::printf("restarted: begins with step %d on %dx%d\n", step, nprow, npcol);
    is_first = false;
    if (step == steps) break;
    if (step == 2 && nprow * npcol < 4) {
      expect(dyngrid_resize(2, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED,
             "growth"); // new processes join at the resize point above
      dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
      local_unequal = dyngrid_local(unequal);
    }
    const char* kill_at = std::getenv("TEST_KILL_AT");
    if (kill_at && step == std::atoi(kill_at)) {
      int rank = 0, last = 0;
      MPI_Comm_rank(dyngrid_comm(), &rank);
      const int candidate = came_later ? rank : -1;
      MPI_Allreduce(&candidate, &last, 1, MPI_INT, MPI_MAX, dyngrid_comm());
      expect(nprow == 2 && npcol == 2 && last >= 0, "grown before");
      if (rank == last) kill(getpid(), SIGKILL);
    }
    MPI_Barrier(dyngrid_comm());
    advance(even, notices.local, step, next_even);
    advance(unequal, local_unequal, step, next_unequal);
    ++step;
  }
  int mine = wrong(even, steps, next_even) + wrong(unequal, steps, next_unequal), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, dyngrid_comm());
  expect(all == 0, std::to_string(all) + " elements differ");
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (std::getenv("TEST_STATUS") && dyngrid_is_first()) {
    const base::Json status = control::Client::to_job(dyngrid_job()).call("status", {});
    expect(status.at("step") == steps,
           "the job's status has all steps, those before the restart too: " + base::json_text(status));
  }
  if (myrow == 0 && mycol == 0) std::printf("restarted: all right after step %d on %dx%d\n", steps, nprow, npcol);
  return dyngrid_finalize();
}
