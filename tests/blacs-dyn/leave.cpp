// SPDX-License-Identifier: BSD-3-Clause
// Named processes leave the grid and return, with every element of every matrix.
// leave each 2x3 [KEPT]: each process but 0 leaves once, to a grid of one less, and returns. In between the grid keeps
// its shape where KEPT (3x2 ...) contains it and a sleeping process takes the place.
// leave group: one of two of a spawned group, then the other.
// leave rules: a process that slept when a matrix was given a rule uses the rule after it wakes.
// leave soak 300 [--strict]: that number of departures and returns, and memory, files and communicators are flat.
// leave statuses: an impossible request is the same error on all, and the grid stays.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "dyngrid.hpp"
#include "figures.hpp"
#include "follow.hpp"

namespace {

using follow::agreed;
using follow::expect;
using follow::ids_here;

constexpr int m = 53, n = 41;

/// Of every kind: plain, by a rule, and by speed in whole blocks.
struct Four {
  int magic = 42;
  dyngrid_matrix *plain = nullptr, *ruled = nullptr, *block = nullptr, *cyclic = nullptr;

  Four() {
    expect(dyngrid_matrix_create("plain", 'd', m, n, 3, 4, &plain) == 0, "plain");
    expect(dyngrid_matrix_create_by("ruled", 'z', m, n, follow::unequal, &magic, &ruled) == 0, "ruled");
    expect(dyngrid_matrix_create_weighted("block", 's', m, n, 1, 1, DYNGRID_ORDER_BLOCK, &block) == 0, "block");
    expect(dyngrid_matrix_create_weighted("cyclic", 'i', m, n, 2, 3, DYNGRID_ORDER_CYCLIC, &cyclic) == 0, "cyclic");
  }
  void fill(int salt) {
    follow::fill(plain, 'd', salt);
    follow::fill(ruled, 'z', salt);
    follow::fill(block, 's', salt);
    follow::fill(cyclic, 'i', salt);
  }
  void check(int salt, const std::string& what) const {
    expect(follow::wrong(plain, 'd', salt) == 0, what + ": plain");
    expect(follow::wrong(ruled, 'z', salt) == 0, what + ": ruled");
    expect(follow::wrong(block, 's', salt) == 0, what + ": block");
    expect(follow::wrong(cyclic, 'i', salt) == 0, what + ": cyclic");
  }
};

bool has(const std::vector<int>& ids, int id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}
int asleep() {
  dyngrid_resize_report report{};
  expect(dyngrid_last_resize(&report) == 0, "last_resize");
  return report.parked;
}

int each(const char* grid, const char* kept) {
  int nprow = 0, npcol = 0, rank = 0, size = 0, step = 0;
  expect(std::sscanf(grid, "%dx%d", &nprow, &npcol) == 2, "a grid as 2x3");
  expect(dyngrid_init_grid(nprow, npcol) == 0, "dyngrid_init_grid");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int places = nprow * npcol;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  const double mine = 1 + 0.5 * (rank % 3);
  if (dyngrid_context() >= 0) expect(dyngrid_process_id() == rank, "ids of mpirun's own are their ranks");
  expect(dyngrid_set_speed(mine) == 0, "set_speed");
  Four all;
  if (dyngrid_context() >= 0) all.fill(7);
  for (;;) {
    if (dyngrid_context() >= 0) {
      const std::string what = "step " + std::to_string(step);
      const int out = 1 + step / 2; // is named at an even step, and out of the grid at the odd one after it
      all.check(7, what);
      expect(dyngrid_speed() == mine && dyngrid_process_id() == rank, what + ": speed and id stay");
      const std::vector<int> ids = ids_here();
      if (step % 2 == 1) expect(!has(ids, out), what + ": the one that was named is out");
      if (step % 2 == 0) expect(static_cast<int>(ids.size()) == places, what + ": all are back");
      if (step == 2 * (size - 1)) break;
      if (step % 2 == 1)
        follow::request(grid);
      else if (kept)
        expect(dyngrid_request_without(nprow, npcol, std::to_string(out).c_str()) == 0, "request_without");
      else
        expect(dyngrid_request_without(1, places - 1, std::to_string(out).c_str()) == 0, "request_without");
      ++step;
    }
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    if (!kept) expect(outcome == DYNGRID_RESIZED, "another grid");
  }
  return follow::all_right();
}

/// 1x2 of mpirun, and 2 and 3 of one group (DYNGRID_START=unit=2): each sleeps while the other stays, both leave for
/// good.
int group() {
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Four all;
  if (dyngrid_is_newcomer() == 0) all.fill(9);
  struct Turn {
    int nprow, npcol;
    const char* without;
    std::vector<int> ids; ///< in ascending order, after it
    int parked;
  };
  const std::vector<Turn> turns{{2, 2, nullptr, {0, 1, 2, 3}, 0}, {1, 3, "3", {0, 1, 2}, 1},
                                {2, 2, nullptr, {0, 1, 2, 3}, 0}, {3, 1, "2", {0, 1, 3}, 1},
                                {3, 1, "1", {0, 2, 3}, 1},        {2, 2, nullptr, {0, 1, 2, 3}, 0},
                                {2, 1, "1, 3", {0, 2}, 2},        {1, 2, "2", {0, 1}, 0},
                                {2, 2, nullptr, {0, 1, 4, 5}, 0}, {1, 2, "4,5", {0, 1}, 0}};
  for (;;) {
    if (dyngrid_is_newcomer() == 0) {
      const std::string what = "turn " + std::to_string(step);
      all.check(9, what);
      if (step > 0) {
        const Turn& turn = turns[static_cast<std::size_t>(step - 1)];
        std::vector<int> ids = ids_here();
        std::sort(ids.begin(), ids.end());
        expect(ids == turn.ids, what + ": which processes are in the grid");
        expect(asleep() == turn.parked, what + ": " + std::to_string(asleep()) + " were parked");
      }
      if (step == static_cast<int>(turns.size())) break;
      const Turn& next = turns[static_cast<std::size_t>(step++)];
      expect((next.without ? dyngrid_request_without(next.nprow, next.npcol, next.without)
                           : dyngrid_request(next.nprow, next.npcol)) == 0,
             "request");
    }
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  }
  return follow::all_right();
}

/// One element each and the rest to the first, `each` each: never the sizes of `unequal`.
std::int64_t lopsided(void* context, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  const std::int64_t each = *static_cast<const int*>(context);
  for (int p = 0; p < nprocs && sizes; ++p) sizes[p] = p == 0 ? length - each * (nprocs - 1) : each;
  return nprocs;
}

/// Checks the present layout, not the stored rule.
void lies_lopsided(const dyngrid_matrix* a, int each, const std::string& what) {
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  std::int64_t rows = 0, cols = 0;
  expect(dyngrid_matrix_shape(a, &rows, &cols, nullptr) == 0, "shape");
  expect(rows == (myrow == 0 ? m - each * (nprow - 1) : each) && cols == (mycol == 0 ? n - each * (npcol - 1) : each),
         what + ": as the rule says that was given while 3 slept");
}

/// Matrices whose rules were given while others slept.
struct Ruled {
  int each = 1, magic = 42;
  dyngrid_matrix *ruled = nullptr, *plain = nullptr, *late = nullptr;

  Ruled() {
    expect(!dyngrid_matrix_create_by("ruled", 'd', m, n, follow::unequal, &magic, &ruled), "ruled");
    expect(!dyngrid_matrix_create("plain", 'd', m, n, 3, 4, &plain), "plain");
    for (dyngrid_matrix* a : {ruled, plain}) follow::fill(a, 'd', 4);
  }
  void give_rules() {
    for (dyngrid_matrix* a : {ruled, plain})
      expect(dyngrid_matrix_set_rule(a, lopsided, &each) == DYNGRID_RESIZED, "set_rule");
    expect(!dyngrid_matrix_create_by("late", 'd', m, n, lopsided, &each, &late), "late");
    follow::fill(late, 'd', 4);
  }
  void check(const std::string& what) const {
    for (dyngrid_matrix* a : {ruled, plain, late}) {
      expect(a && follow::wrong(a, 'd', 4) == 0, what + ": elements");
      lies_lopsided(a, each, what);
    }
  }
};

int rules() {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int rank = 0, step = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Ruled all;
  for (; step < 4; ++step) {
    all.late = dyngrid_matrix_find("late");
    switch (step) {
    case 0:
      expect(dyngrid_request_without(1, 3, "3") == 0, "request");
      break;
    case 1: // 3 sleeps
      all.give_rules();
      follow::request("2x2");
      break;
    case 2: // 3 is awake, and has none of the rules
      all.check("woken");
      expect(dyngrid_relayout() == DYNGRID_SAME, "all lie so");
      if (rank != 3) all.each = 2; // 3 receives the result
      expect(dyngrid_relayout() == DYNGRID_RESIZED, "other figures");
      all.each = 2;
      all.check("laid out anew");
      expect(dyngrid_request_without(3, 1, "1") == 0, "request");
      break;
    default: // a change that 3 stays in
      all.check("on another grid");
      expect(dyngrid_matrix_reblock(all.plain, 3, 4) >= 0, "reblock");
      expect(dyngrid_matrix_set_rule(all.plain, lopsided, &all.each) >= 0, "given to 3 too");
      expect(dyngrid_matrix_set_rule(all.late, lopsided, &all.each) == DYNGRID_SAME, "as it lies");
      follow::request("1x4");
    }
    const int outcome = dyngrid_resize_point();
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  }
  all.each = 2; // 1 is awake again, which has the first rules and not the last ones
  all.check("all awake");
  for (dyngrid_matrix* a : {all.ruled, all.plain, all.late})
    expect(dyngrid_matrix_set_rule(a, lopsided, &all.each) == DYNGRID_SAME, "as it lies");
  return follow::all_right();
}

int soak(int count, bool is_strict) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Four all;
  all.fill(2);
  follow::Figures first{};
  while (step < 2 * count) {
    if (step % 2 == 0) {
      all.check(2, "cycle " + std::to_string(step / 2));
      if (step / 2 == count / 2) first = follow::figures(); // in some hundred cycles arenas find their size
      expect(dyngrid_request_without(1, 3, std::to_string(1 + step / 2 % 3).c_str()) == 0, "request");
    } else {
      follow::request("2x2");
    }
    ++step;
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "left or came back");
  }
  all.check(2, "in the end");
  const follow::Figures last = follow::figures();
  if (dyngrid_is_first() != 0)
    std::printf("%d departures and returns, the later half: %s\n", count, follow::in_words(first, last).c_str());
  if (is_strict) follow::expect_flat(first, last);
  return dyngrid_finalize();
}

int statuses() {
  expect(dyngrid_resize_without(1, 2, 0, "1") == DYNGRID_ERR_STATE && dyngrid_process_id() == -1,
         "before dyngrid_init");
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  const int rank = follow::world_rank();
  const bool is_odd = rank == 3;
  const auto refused = [&](int nprow, int npcol, const char* without, int status, const char* word) {
    agreed(dyngrid_resize_without(nprow, npcol, DYNGRID_OPTIMAL, without), status, without);
    expect(std::strstr(dyngrid_last_message(), word) != nullptr, std::string(without) + " says " + word);
    expect(ids_here() == std::vector<int>({0, 1, 2, 3}), "the grid stays");
  };
  for (const char* bad : {"", "x", "-1", "1,", "1;2", "host:", "slowest:0", "slowest:x", "99999999999"})
    refused(1, 3, bad, DYNGRID_ERR_ARGUMENT, "expected ids");
  refused(1, 3, is_odd ? "x" : "3", DYNGRID_ERR_ARGUMENT, "expected ids");
  refused(1, 3, is_odd ? "3" : "2", DYNGRID_ERR_MISMATCH, "differ");
  refused(1, 3, "4", DYNGRID_ERR_NOT_FOUND, "there is no process 4, expected some of 0, 1, 2, 3");
  for (const int fewer : {2, 3}) refused(1, fewer, "0", DYNGRID_ERR_ARGUMENT, "process 0 stays in every grid");
  refused(1, 2, "3,0", DYNGRID_ERR_ARGUMENT, "process 0 stays in every grid");
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string mine = "host:" + std::string(host);
  refused(1, 1, mine.c_str(), DYNGRID_ERR_ARGUMENT, "name the others on");
  refused(1, 3, "host:nowhere", DYNGRID_ERR_NOT_FOUND, "no process is on that host");
  refused(2, 2, "3", DYNGRID_ERR_ARGUMENT, "needs 4 processes, but 3 are left (3 in the grid, 0 parked)");
  refused(1, 3, "1,2", DYNGRID_ERR_ARGUMENT, "needs 3 processes, but 2 are left");
  refused(1, 3, "slowest", DYNGRID_ERR_ARGUMENT, "is slower than the others");
  agreed(dyngrid_resize_without(1, 3, 17, "3"), DYNGRID_ERR_ARGUMENT, "placement");
  agreed(dyngrid_request_without(1, 3, nullptr), DYNGRID_ERR_NULL, "no text");
  agreed(dyngrid_request_without(1, 3, "x"), DYNGRID_ERR_ARGUMENT, "a wrong text");
  agreed(dyngrid_request_without(1, 3, "4"), 0, "asked for at a resize point");
  agreed(dyngrid_resize_point(), DYNGRID_ERR_NOT_FOUND, "and refused there");
  // the slowest, and then the sleeping process takes the place of a named one
  expect(dyngrid_set_speed(4 - rank * 0.5) == 0, "set_speed");
  const int outcome = dyngrid_resize_without(1, 3, DYNGRID_OPTIMAL, "slowest");
  expect(outcome == DYNGRID_RESIZED, "without the slowest"); // 3 sleeps in that call, and wakes when 2 leaves
  if (rank != 3) {
    expect(!has(ids_here(), 3), "the slowest is out");
    const int next = dyngrid_resize_without(1, 3, DYNGRID_OPTIMAL, "2");
    expect(next == (rank == 2 ? DYNGRID_LEAVE : DYNGRID_RESIZED), "without 2, which sleeps to the end");
  }
  if (dyngrid_context() >= 0) {
    const std::vector<int> ids = ids_here();
    expect(has(ids, 0) && has(ids, 1) && has(ids, 3), "3 has taken the place of 2");
    if (dyngrid_is_first() != 0) std::printf("all right\n");
  }
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  int status = -1;
  if (what == "each" && argc > 2) status = each(argv[2], argc > 3 ? argv[3] : nullptr);
  if (what == "group") status = group();
  if (what == "rules") status = rules();
  if (what == "soak" && argc > 2) status = soak(std::atoi(argv[2]), argc > 3);
  if (what == "statuses") status = statuses();
  expect(status == 0, "expected each GRID, group, rules, soak COUNT or statuses, and dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
