// SPDX-License-Identifier: BSD-3-Clause
// low_memory moves [N]: matrices that move in slabs (DYNGRID_EXCHANGE=memory=low) have every element in its place after
// every change, and no process holds two copies meanwhile. low_memory checkpoint FILE: before each such change a
// checkpoint is written (DYNGRID_CHECKPOINT=FILE). low_memory repeated FILE: what is restored from it begins with the
// resize point of the change. low_memory unwritable: no checkpoint can be written there: the change is refused.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/layout.h"
#include "follow.hpp"

namespace {

using follow::expect;

std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stoll(line.substr(name.size() + 1)) * 1024;
  return -1;
}

std::int64_t share_of(const dyngrid_matrix* a) {
  std::int64_t m = 0, n = 0;
  if (dyngrid_context() < 0) return 0;
  expect(dyngrid_matrix_shape(a, &m, &n, nullptr) == 0, "shape");
  return m * n * 8;
}

constexpr std::int64_t margin = 64 << 20; // connections to new processes, panels

/// One change. What this process held at most meanwhile is little more than the larger of its shares.
template <class Change> int held_once(const dyngrid_matrix* a, const std::string& what, Change&& change) {
  const std::int64_t before = share_of(a), others = status_bytes("VmRSS") - before;
  std::ofstream("/proc/self/clear_refs") << 5; // the peak counts from here on
  const int outcome = change();
  expect(outcome > DYNGRID_SAME, what + ": " + dyngrid_last_message());
  const std::int64_t larger = std::max(before, share_of(a)), peak = status_bytes("VmHWM") - others;
  expect(peak <= larger + larger / 10 + margin, what + ": process " + std::to_string(dyngrid_process_id()) + " held " +
                                                    std::to_string(peak >> 20) + " MiB, its larger share is " +
                                                    std::to_string(larger >> 20));
  return outcome;
}

int moves(int n) {
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  dyngrid_matrix *a = follow::create("a", 'd', n, n, 64, 64), *small = follow::create("small", 'z', 37, 11, 3, 2);
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const auto check = [&](const std::string& what) {
    expect(follow::wrong(a, 'd', 3) == 0, what + ": the large matrix");
    expect(follow::wrong(small, 'z', 5) == 0, what + ": the small matrix");
  };
  if (dyngrid_is_newcomer()) {
    if (dyngrid_resize_point_at("change") == DYNGRID_LEAVE) return dyngrid_finalize();
    check("on a new process");
  } else {
    follow::fill(a, 'd', 3);
    follow::fill(small, 'z', 5);
  }
  const std::vector<std::pair<int, int>> shapes{{2, 1}, {1, 3}, {3, 1}, {1, 1}};
  while (step < static_cast<int>(shapes.size())) {
    const auto [nprow, npcol] = shapes[static_cast<std::size_t>(step)];
    ++step;
    const std::string what = std::to_string(nprow) + "x" + std::to_string(npcol);
    expect(dyngrid_request(nprow, npcol) == 0, "request");
    if (held_once(a, what, [] { return dyngrid_resize_point_at("change"); }) == DYNGRID_LEAVE) break;
    check(what);
    if (nprow != 3) continue;
    held_once(a, "blocks of a third", [&] { return dyngrid_matrix_reblock(a, n / 3, n / 3); });
    check("blocks of a third");
    held_once(a, "blocks of 37 x 80", [&] { return dyngrid_matrix_reblock(a, 37, 80); });
    check("blocks of 37 x 80");
  }
  return dyngrid_finalize();
}

int checkpoint(const char* file) {
  constexpr int n = 100;
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  dyngrid_matrix* a = follow::create("a", 'd', n, n, 8, 8);
  follow::fill(a, 'd', 3);
  expect(access(file, F_OK) != 0, "there is no checkpoint yet");
  follow::agreed(dyngrid_resize(2, 1, DYNGRID_OPTIMAL), DYNGRID_RESIZED, "another grid");
  expect(access(file, F_OK) == 0, "a checkpoint is there");
  follow::fill(a, 'd', 7);
  follow::agreed(dyngrid_restore(file), 0, "restore");
  expect(follow::wrong(a, 'd', 3) == 0, "it has what was there before the change");
  return dyngrid_finalize();
}

/// DYNGRID_RESIZE_AT=2:2x1,3:1x2: after the restoration, resize point 2 comes again, and then 3 is the next one.
int repeated(const char* file) {
  constexpr int n = 100;
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  dyngrid_matrix* a = nullptr;
  int step = 0;
  expect(dyngrid_matrix_create("a", 'd', n, n, 8, 8, &a) == 0 && dyngrid_share("step", &step, sizeof step) == 0,
         "create");
  follow::fill(a, 'd', 3);
  for (bool is_restored = false; step < 4;) {
    expect(dyngrid_resize_point() >= 0, "resize point");
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    expect(nprow == (step == 2 ? 2 : 1), "step " + std::to_string(step) + " is on " + std::to_string(nprow) + " rows");
    if (step == 2 && !is_restored) {
      follow::fill(a, 'd', 7);
      follow::agreed(dyngrid_restore(file), 0, "restore");
      expect(step == 2 && follow::wrong(a, 'd', 3) == 0, "what was there before the change");
      is_restored = true;
    } else {
      ++step;
    }
  }
  return dyngrid_finalize();
}

int unwritable() {
  constexpr int n = 100;
  expect(dyngrid_init_grid(1, 2) == 0, "init");
  dyngrid_matrix* a = follow::create("a", 'd', n, n, 8, 8);
  follow::fill(a, 'd', 3);
  const auto refused = [&](int status, const std::string& what) {
    follow::agreed(status, DYNGRID_ERR_IO, what);
    expect(std::strstr(dyngrid_last_message(), "checkpoint before it was not written") != nullptr,
           dyngrid_last_message());
    expect(follow::wrong(a, 'd', 3) == 0, what + ": the matrix");
  };
  refused(dyngrid_resize(2, 1, DYNGRID_OPTIMAL), "another grid");
  refused(dyngrid_matrix_reblock(a, 16, 8), "other blocks");
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  constexpr int n = 6000; // 288 MB
  return mode == "moves"                    ? moves(argc > 2 ? std::atoi(argv[2]) : n)
         : mode == "checkpoint" && argc > 2 ? checkpoint(argv[2])
         : mode == "repeated" && argc > 2   ? repeated(argv[2])
                                            : unwritable();
}
