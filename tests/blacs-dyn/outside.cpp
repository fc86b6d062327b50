// SPDX-License-Identifier: BSD-3-Clause
// Process 0 stands outside the grid, and what it does for the others goes on.
// outside calls: all calls of the program that change the grid, lay matrices out anew or save them, without process 0
// and with it again. outside groups (DYNGRID_UNIT=2): spawned processes sleep, wake and come while it is outside.
// outside ways: dyngrid_set_processes. outside kept (DYNGRID_START=keep=100), kept_over (keep=1): who is not needed
// sleeps and is taken again, or ends in time. outside warm (DYNGRID_START=warm=2): who was started ahead comes at once.
// outside told: dyngrid_on_change. outside saved FILE (DYNGRID_CHECKPOINT=FILE,every=1s): checkpoints by time.
// outside timetable (DYNGRID_RESIZE_AT=2:1x2,5:2x2): it is kept to the step. outside factor
// (DYNGRID_RESIZE_AT=4:2x2): 0 leaves in dyngrid_lu and comes back in it. outside cost: a resize point at which nothing
// is wanted. outside soak 300 [--strict]: memory, files and communicators are flat.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "base/statistics.hpp"
#include "dyngrid.hpp"
#include "figures.hpp"
#include "follow.hpp"

namespace {

using follow::expect;
using follow::ids_here;

constexpr int m = 53, n = 41;

void expect_ids(const std::vector<int>& wanted, const std::string& what) {
  std::vector<int> ids = ids_here();
  std::sort(ids.begin(), ids.end());
  std::string found;
  for (const int id : ids) found += std::to_string(id) + " ";
  expect(ids == wanted, what + ": who is in the grid: " + found);
}

struct Two {
  dyngrid_matrix *plain = nullptr, *cyclic = nullptr;
  Two() {
    expect(dyngrid_matrix_create("plain", 'd', m, n, 3, 4, &plain) == 0, "plain");
    expect(dyngrid_matrix_create_weighted("cyclic", 's', m, n, 2, 3, DYNGRID_ORDER_CYCLIC, &cyclic) == 0, "cyclic");
  }
  void fill() const {
    follow::fill(plain, 'd', 7);
    follow::fill(cyclic, 's', 7);
  }
  void check(const std::string& what) const {
    expect(follow::wrong(plain, 'd', 7) == 0, what + ": plain");
    expect(follow::wrong(cyclic, 's', 7) == 0, what + ": cyclic");
  }
};

int finish() {
  if (dyngrid_context() >= 0 && dyngrid_is_first() != 0) std::printf("all right\n");
  return dyngrid_finalize();
}

/// While process 0 is away: in the grid 1, 2 and 3, of which 1x3 are left.
void calls_without_0(Two& all, const std::string& file) {
  expect_ids({1, 2, 3}, "0 left");
  all.check("0 left");
  expect(dyngrid_resize_point() == DYNGRID_SAME, "nothing is wanted");
  expect(dyngrid_pending() == 0, "nothing is pending");
  const bool is_first = dyngrid_is_first() != 0;
  expect(is_first == (*dyngrid_job() != 0), "the first process knows the job's name");
  expect(dyngrid_set_steps(1000) == 0 && dyngrid_allow("any") == 0, "what process 0 is told");
  expect(dyngrid_matrix_reblock(all.plain, 5, 2) == DYNGRID_RESIZED, "reblock");
  expect(dyngrid_relayout() == DYNGRID_SAME, "relayout");
  dyngrid_matrix* late = nullptr;
  expect(dyngrid_matrix_create("late", 'i', m, n, 4, 4, &late) == 0, "late");
  follow::fill(late, 'i', 5);
  expect(dyngrid_set_speed(dyngrid_process_id()) == 0, "set_speed");
  expect(dyngrid_relayout() == DYNGRID_RESIZED, "by the speeds");
  all.check("by the speeds");
  expect(dyngrid_rebalance() >= 0, "rebalance");
  all.check("rebalanced");
  expect_ids({1, 2, 3}, "rebalanced");
#ifdef TEST_SAVES
  expect(dyngrid_checkpoint(file.c_str()) == 0 && dyngrid_restore(file.c_str()) == 0, "checkpoint and restore");
  if (is_first) unlink(file.c_str());
#else
  (void)file;
#endif
  all.check("restored");
  const int refused = dyngrid_resize_without(2, 2, DYNGRID_OPTIMAL, "0");
  expect(refused == DYNGRID_ERR_ARGUMENT, "2x2 without 0 cannot be");
  expect_ids({1, 2, 3}, "refused");
  expect(dyngrid_resize_without(1, 3, DYNGRID_OPTIMAL, "0") == DYNGRID_SAME, "as it is");
}

int calls(const std::string& file) {
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  int rank = 0, turn = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(dyngrid_share("turn", &turn, sizeof turn) == 0, "share");
  Two all;
  all.fill();
  turn = 1;
  const int away = dyngrid_resize_without(1, 3, DYNGRID_OPTIMAL, "0"); // 0 comes out of it in turn 3
  expect(away == DYNGRID_RESIZED, "without 0");
  if (turn == 1) {
    calls_without_0(all, file);
    turn = 2;
    const int smaller = dyngrid_resize_without(1, 2, DYNGRID_OPTIMAL, "0,3"); // 3 comes out of it in turn 3
    expect(smaller == DYNGRID_RESIZED, "without 3");
    if (turn == 2) {
      expect_ids({1, 2}, "3 left");
      all.check("3 left");
      turn = 3;
      expect(dyngrid_resize(2, 2, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "all are back");
    }
  }
  expect_ids({0, 1, 2, 3}, "all are back");
  all.check("all are back");
  dyngrid_matrix* late = dyngrid_matrix_find("late");
  expect(late && follow::wrong(late, 'i', 5) == 0, "made while 0 was away");
  expect((rank == 0) == (*dyngrid_job() != 0), "process 0 answers for the job");
  // 0 leaves at a resize point, 1 and 2 at the next, and dyngrid_pop brings them back, which 0 is not for
  expect(dyngrid_request_without(1, 3, "0") == 0, "request");
  turn = 4;
  int outcome = dyngrid_resize_point();
  expect(outcome == (rank == 0 ? DYNGRID_LEAVE : DYNGRID_RESIZED), "0 is away to the end");
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  expect_ids({1, 2, 3}, "0 left again");
  expect(dyngrid_request(1, 1) == 0, "request");
  outcome = dyngrid_resize_point();
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  all.check("one is left");
  expect(ids_here().size() == 1 && ids_here()[0] != 0, "who was in the grid stays");
  return finish();
}

/// On 2x2, with a step that all share.
struct Begun {
  int step = 0;
  std::optional<Two> made;
  const Two& all;
  Begun() : all(begin()) {}
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

private:
  const Two& begin() {
    expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
    expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
    made.emplace().fill();
    return *made;
  }
};

struct Turn {
  int nprow, npcol;
  const char* without;
  std::vector<int> ids;
  double pause_s = 0;                    ///< resize points at which nothing happens, before it is asked for
  std::optional<int> way = std::nullopt; ///< of dyngrid_set_processes, before that
  int status = DYNGRID_SUCCESS;          ///< of it

  void ask() const {
    expect((without ? dyngrid_request_without(nprow, npcol, without) : dyngrid_request(nprow, npcol)) == 0, "request");
  }
};

void prepare(const Turn& turn) {
  if (turn.way) expect(dyngrid_set_processes(*turn.way) == turn.status, "set_processes");
  const double begun = MPI_Wtime();
  for (int is_over = 0; is_over == 0;) {
    is_over = MPI_Wtime() - begun >= turn.pause_s ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_over, 1, MPI_INT, MPI_MAX, dyngrid_comm());
    if (is_over != 0) break;
    expect(dyngrid_resize_point() == DYNGRID_SAME, "a pause");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// From 1x2 of mpirun through these turns. at_once: as soon as two changes with new processes came at the resize point
/// that asked for them, the last turn follows.
int turns_of(const std::vector<Turn>& turns, bool at_once = false) {
  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  const auto last = static_cast<int>(turns.size()) - 1;
  int step = 0, next_step = 0, came_at_once = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  expect(dyngrid_share("next_step", &next_step, sizeof next_step) == 0, "share");
  expect(dyngrid_share("came_at_once", &came_at_once, sizeof came_at_once) == 0, "share");
  Two all;
  if (dyngrid_is_newcomer() == 0) all.fill();
  for (;;) {
    if (dyngrid_is_newcomer() == 0) {
      const std::string what = "turn " + std::to_string(step);
      all.check(what);
      if (step > 0 && !turns[static_cast<std::size_t>(step - 1)].ids.empty())
        expect_ids(turns[static_cast<std::size_t>(step - 1)].ids, what);
      dyngrid_resize_report report{};
      if (step > 0) expect(dyngrid_last_resize(&report) == 0, "last_resize");
      if (report.spawned > 0 && report.asked_at_step == report.changed_at_step) ++came_at_once;
      if (step == last + 1) break;
      step = at_once && came_at_once >= 2 ? last : next_step;
      const Turn& next = turns[static_cast<std::size_t>(step)];
      next_step = ++step;
      prepare(next);
      next.ask();
    }
    int outcome = DYNGRID_SAME;
    while (outcome == DYNGRID_SAME) { // new processes may be on their way
      outcome = dyngrid_resize_point();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    expect(outcome >= 0, "resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  }
  if (at_once) expect(came_at_once >= 2, "who is warm comes at once");
  return finish();
}

/// 0 and 1 of mpirun, 2 and 3 of a group. Its owner may be 0, which wakes it from outside.
int groups() {
  return turns_of({{2, 2, nullptr, {0, 1, 2, 3}},
                   {1, 3, "0", {1, 2, 3}},
                   {2, 1, "0,3", {1, 2}},
                   {3, 1, "0", {1, 2, 3}},
                   {1, 2, "0,1", {2, 3}},
                   {1, 1, "0,1,2", {3}},
                   {1, 3, "0", {1, 2, 3}},
                   {2, 2, nullptr, {0, 1, 2, 3}},
                   {2, 1, "0,1", {2, 3}},
                   {1, 2, "2,3", {0, 1}},
                   {1, 1, "0", {1}},
                   {2, 2, nullptr, {0, 1, 4, 5}},
                   {1, 3, "0", {1, 4, 5}},
                   {1, 1, "0,4,5", {1}},
                   {1, 4, nullptr, {0, 1, 6, 7}},
                   {1, 2, "0,1", {6, 7}}});
}

/// Process 0 is told the way while it is outside, and new processes come so. After a growth there is no other way,
/// which all are told, and it goes on.
int ways() {
  return turns_of({{1, 1, "0", {1}},
                   {1, 2, nullptr, {0, 1}, 0, DYNGRID_BLOCKING},
                   {1, 1, "0", {1}},
                   {2, 2, nullptr, {0, 1, 2, 3}},
                   {1, 3, "0", {1, 2, 3}, 0, DYNGRID_BACKGROUND, DYNGRID_ERR_STATE},
                   {1, 1, "0,2,3", {1}, 0, DYNGRID_BACKGROUND, DYNGRID_ERR_STATE},
                   {2, 2, nullptr, {0, 1, 4, 5}, 0.2}});
}

/// Those that a smaller grid does not need: the same come again. over: they have ended when they are wanted.
int kept(bool is_over) {
  if (is_over) return turns_of({{2, 2, nullptr, {0, 1, 2, 3}}, {1, 1, "0,2,3", {1}}, {2, 2, nullptr, {0, 1, 4, 5}, 5}});
  return turns_of({{2, 2, nullptr, {0, 1, 2, 3}},
                   {1, 1, "0,2,3", {1}},
                   {1, 3, "0", {1, 2, 3}, 0.3},
                   {1, 1, "0,2,3", {1}},
                   {2, 2, nullptr, {0, 1, 2, 3}},
                   {1, 2, "0,1", {2, 3}},
                   {2, 2, nullptr, {0, 1, 2, 3}}});
}

int warm() {
  std::vector<Turn> turns;
  for (int cycle = 0; cycle < 40; ++cycle) {
    turns.push_back({1, 1, "0", {1}});
    turns.push_back({2, 2, nullptr, {}, 0.6});
  }
  turns.push_back({1, 2, nullptr, {0, 1}});
  return turns_of(turns, true);
}

/// What a library has on a grid. A routine too many or too few hangs in it, or is counted.
struct Held {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> ids;
  int made = 0, freed = 0;

  void make() {
    expect(comm == MPI_COMM_NULL, "nothing is left of the old grid");
    MPI_Comm_dup(dyngrid_comm(), &comm);
    ids = ids_here();
    expect(std::count(ids.begin(), ids.end(), dyngrid_process_id()) == 1, "it is in the grid");
    ++made;
  }
  void free() {
    expect(comm != MPI_COMM_NULL && ids == ids_here(), "the old grid is whole");
    MPI_Comm_free(&comm);
    ++freed;
  }
};

int told() {
  Begun run;
  int& step = run.step;
  const Two& all = run.all;
  Held held;
  held.make();
  expect(dyngrid_on_change([](void* data) { static_cast<Held*>(data)->free(); },
                           [](void* data) { static_cast<Held*>(data)->make(); }, &held) == 0,
         "on_change");
  const std::vector<Turn> turns{
      {1, 3, "0", {1, 2, 3}}, {1, 2, "0,3", {1, 2}}, {1, 3, "0", {1, 2, 3}}, {2, 2, nullptr, {0, 1, 2, 3}}};
  while (step < static_cast<int>(turns.size())) {
    const Turn& next = turns[static_cast<std::size_t>(step++)];
    if (step == 3) { // 1 and 2 are in the grid
      expect(dyngrid_resize_without(2, 2, DYNGRID_OPTIMAL, "0") == DYNGRID_ERR_ARGUMENT, "2x2 without 0 cannot be");
      expect(dyngrid_matrix_reblock(all.plain, 5, 2) == DYNGRID_RESIZED, "reblock");
    }
    next.ask();
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "a change");
    all.check("turn " + std::to_string(step));
    expect_ids(turns[static_cast<std::size_t>(step - 1)].ids, "turn " + std::to_string(step));
  }
  const int id = dyngrid_process_id();
  const int freed = id == 0 ? 1 : id == 3 ? 3 : 5;
  expect(held.freed == freed && held.made == freed + 1,
         std::to_string(id) + ": freed " + std::to_string(held.freed) + ", made " + std::to_string(held.made));
  return finish();
}

/// The first process of the grid counts the seconds from the last checkpoint on, whoever wrote that.
int saved(const std::string& file) {
  Begun run;
  int& step = run.step;
  const Two& all = run.all;
  const auto inode = [&] {
    struct stat found {};
    return stat(file.c_str(), &found) == 0 ? found.st_ino : 0;
  };
  if (dyngrid_is_first() != 0) unlink(file.c_str());
  for (const char* without : {"0", ""}) {
    expect((*without ? dyngrid_request_without(1, 3, without) : dyngrid_request(2, 2)) == 0, "request");
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "a change");
    if (step++ == 1) break; // process 0 is back
    const double begun = MPI_Wtime();
    int written = 0, is_over = 0;
    for (auto before = inode(); is_over == 0; before = inode()) {
      all.check("step " + std::to_string(step));
      expect(dyngrid_resize_point() == DYNGRID_SAME, "nothing is wanted");
      if (inode() != before) ++written; // it is written beside the old one, and renamed
      is_over = MPI_Wtime() - begun > 4.5 ? 1 : 0;
      MPI_Bcast(&is_over, 1, MPI_INT, 0, dyngrid_comm());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (dyngrid_is_first() != 0)
      expect(written >= 2 && written <= 5, std::to_string(written) + " checkpoints in 4.5 s, one a second");
    follow::fill(all.plain, 'd', 9);
    expect(dyngrid_restore(file.c_str()) == 0, "restore");
    all.check("restored");
    if (dyngrid_is_first() != 0) unlink(file.c_str());
  }
  all.check("0 is back");
  return finish();
}

int timetable() {
  Begun run;
  int& step = run.step;
  const Two& all = run.all;
  for (; step < 7; ++step) {
    const std::string what = "step " + std::to_string(step);
    if (step == 0) expect(dyngrid_request_without(1, 3, "0") == 0, "request");
    const std::size_t before = ids_here().size();
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    const std::size_t wanted = step < 2 ? 3 : step < 5 ? 2 : 4;
    expect(ids_here().size() == wanted, what + ": " + std::to_string(before) + " before");
    all.check(what);
    dyngrid_resize_report report{};
    expect(dyngrid_last_resize(&report) == 0, "last_resize");
    if (step == 2) expect(report.changed_at_step == 2 && report.parked == 1 && report.woken == 0, what + ": report");
    if (step == 5) expect(report.changed_at_step == 5 && report.parked == 0 && report.woken == 2, what + ": report");
  }
  return finish();
}

/// With ones beside a heavy diagonal; the pivots are known then.
int factor() {
  constexpr int size = 96, nb = 8;
  expect(dyngrid_init_grid(2, 2) == 0, "dyngrid_init_grid");
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_matrix_create("a", 'd', size, size, nb, nb, &a) == 0, "a");
  auto* local = static_cast<double*>(dyngrid_local(a));
  follow::for_mine(a, [&](std::int64_t at, std::int64_t i, std::int64_t j) { local[at] = i == j ? 2 * size : 1; });
  expect(dyngrid_request_without(1, 3, "0") == 0, "request");
  std::vector<int> pivots(size);
  int info = -1;
  const int outcome = dyngrid_lu(a, 0, pivots.data(), &info);
  expect(outcome == DYNGRID_RESIZED && info == 0, "dyngrid_lu");
  expect_ids({0, 1, 2, 3}, "0 came back in the factorization");
  for (int k = 0; k < size; ++k) expect(pivots[static_cast<std::size_t>(k)] == k + 1, "no rows are exchanged");
  return finish();
}

/// Prints what a resize point takes without process 0, and an all-reduce of 8 bytes over the same grid, in turn.
int cost() {
  expect(dyngrid_init_grid(1, 3) == 0, "dyngrid_init_grid");
  if (dyngrid_resize_without(1, 2, DYNGRID_OPTIMAL, "0") == DYNGRID_LEAVE) return dyngrid_finalize();
  std::vector<double> points, messages;
  for (int k = 0; k < 2001; ++k) {
    double begun = MPI_Wtime();
    expect(dyngrid_resize_point() == DYNGRID_SAME, "nothing is wanted");
    points.push_back(MPI_Wtime() - begun);
    begun = MPI_Wtime();
    std::uint64_t mine = 1, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, dyngrid_comm());
    messages.push_back(MPI_Wtime() - begun);
  }
  if (dyngrid_is_first() != 0)
    std::printf("a resize point without process 0: %.2f us, an all-reduce: %.2f us\n", 1e6 * base::median(points),
                1e6 * base::median(messages));
  return finish();
}

int soak(int count, bool is_strict) {
  Begun run;
  int& step = run.step;
  const Two& all = run.all;
  follow::Figures first{};
  while (step < 3 * count) {
    if (step == 30) first = follow::figures();
    if (step % 3 == 0) expect(dyngrid_request_without(1, 3, "0") == 0, "request");
    if (step % 3 == 1) expect(dyngrid_request_without(1, 2, step % 2 == 0 ? "0,1" : "0,3") == 0, "request");
    if (step % 3 == 2) follow::request("2x2");
    ++step;
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "another grid");
    all.check("step " + std::to_string(step));
  }
  const follow::Figures last = follow::figures();
  std::printf("%d: %s\n", dyngrid_process_id(), follow::in_words(first, last).c_str());
  if (is_strict) follow::expect_flat(first, last);
  return finish();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  int status = -1;
  if (what == "calls" && argc > 2) status = calls(argv[2]);
  if (what == "groups") status = groups();
  if (what == "ways") status = ways();
  if (what == "kept" || what == "kept_over") status = kept(what == "kept_over");
  if (what == "warm") status = warm();
  if (what == "told") status = told();
  if (what == "saved" && argc > 2) status = saved(argv[2]);
  if (what == "timetable") status = timetable();
  if (what == "factor") status = factor();
  if (what == "cost") status = cost();
  if (what == "soak" && argc > 2) status = soak(std::atoi(argv[2]), argc > 3);
  expect(status == 0, "expected one of the kinds at the top, and dyngrid_finalize");
  MPI_Finalize();
  return 0;
}
