// SPDX-License-Identifier: BSD-3-Clause
// keep TIMES TURN...: with DYNGRID_START=keep=SECONDS, from 1x2 through these turns, TIMES times. A turn is one of:
// - GRID:SPAWNED,WOKEN,PARKED,RELEASED, all at the resize point of the request where no process is spawned;
// - gone: resize points until the parked processes have ended, which none may before its time;
// - save: a checkpoint.
// A process that returns is the one that slept (its process number), and every element is where it should be.
// KEEP_KILLS=1: the last turn's sleeping processes are killed. KEEP_STRICT=1: memory, files and communicators are flat.
#include <csignal>
#include <map>
#include <string>

#include <unistd.h>

#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "figures.hpp"
#include "follow.hpp"

namespace {

using follow::expect;

struct Turn {
  std::string word;
  char grid[32] = "";
  int spawned = 0, woken = 0, parked = 0, released = 0;

  explicit Turn(const char* text) : word(text) {
    if (word == "gone" || word == "save") return;
    expect(std::sscanf(text, "%31[0-9x]:%d,%d,%d,%d", grid, &spawned, &woken, &parked, &released) == 5, word);
  }
};

/// On process 0: the processes ever seen, by id, and a time at which each was still in the grid.
class Seen {
public:
  void change_begins() { begun_s_ = MPI_Wtime(); }
  /// Collective over the grid.
  void look_around(const std::string& what) {
    int size = 0;
    MPI_Comm_size(dyngrid_comm(), &size);
    const int mine[2] = {dyngrid_process_id(), static_cast<int>(getpid())};
    std::vector<int> all(static_cast<std::size_t>(2 * size));
    MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, dyngrid_comm());
    for (const auto& [id, pid] : pids_) out_since_.emplace(id, begun_s_);
    for (std::size_t k = 0; k < all.size(); k += 2) {
      const auto known = pids_.emplace(all[k], all[k + 1]).first;
      expect(known->second == all[k + 1], what + ": it is the process that slept");
      out_since_.erase(all[k]);
    }
  }
  /// Whether all processes out of the grid have ended. None may before its time.
  bool are_gone(double keep_s) const {
    bool are = true;
    for (const auto& [id, since] : out_since_) {
      if (!follow::has_ended(pids_.at(id)))
        are = false;
      else
        expect(MPI_Wtime() - since > 0.9 * keep_s, "nobody ends before its time");
    }
    return are;
  }
  void forget_the_gone() {
    for (const auto& [id, since] : out_since_) pids_.erase(id);
    out_since_.clear();
  }
  int kill_sleepers() const {
    int killed = 0;
    for (const auto& [id, since] : out_since_) killed += kill(pids_.at(id), SIGKILL) == 0 ? 1 : 0;
    return killed;
  }

private:
  double begun_s_ = 0;
  std::map<int, int> pids_;
  std::map<int, double> out_since_;
};

/// The first turn spawns the processes that it wakes later.
void check(const Turn& turn, int step) {
  const std::string what = "turn " + std::to_string(step);
  dyngrid_resize_report r{};
  expect(dyngrid_last_resize(&r) == 0, "last_resize");
  const auto is = [&](const char* name, int got, int wanted) {
    expect(got == wanted, what + ": " + std::to_string(got) + " " + name + ", expected " + std::to_string(wanted));
  };
  is("spawned", r.spawned, step == 1 ? turn.spawned + turn.woken : turn.spawned);
  is("woken", r.woken, step == 1 ? 0 : turn.woken);
  is("parked", r.parked, turn.parked);
  is("released", r.released, turn.released);
  if (r.spawned == 0) expect(r.asked_at_step == r.changed_at_step, what + ": at once");
}

void await_the_end(const Seen& seen, double keep_s) {
  for (int are_gone = 0; are_gone == 0; usleep(5000)) {
    expect(dyngrid_resize_point_at("turn") == DYNGRID_SAME, "nothing to do");
    are_gone = dyngrid_is_first() != 0 && seen.are_gone(keep_s) ? 1 : 0;
    MPI_Bcast(&are_gone, 1, MPI_INT, 0, dyngrid_comm());
  }
}

} // namespace

int main(int argc, char** argv) {
  std::vector<Turn> turns;
  for (int k = 2; k < argc; ++k) turns.emplace_back(argv[k]);
  const int times = argc > 1 ? std::atoi(argv[1]) : 0;
  expect(times > 0 && !turns.empty(), "keep TIMES TURN...");
  const char* start = std::getenv("DYNGRID_START");
  const char* entry = start ? std::strstr(start, "keep=") : nullptr;
  const double keep_s = entry ? std::atof(entry + 5) : 0;

  expect(dyngrid_init_grid(1, 2) == 0, "dyngrid_init_grid");
  bool is_inside = dyngrid_is_newcomer() == 0;
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  dyngrid_matrix* a = follow::create("a", 'd', 53, 41, 3, 4);
  if (is_inside) follow::fill(a, 'd', 5);
  Seen seen;
  follow::Figures first{};
  const int count = static_cast<int>(turns.size());
  const auto turn_of = [&](int at) -> const Turn& { return turns[static_cast<std::size_t>(at % count)]; };
  for (;;) {
    if (is_inside) {
      if (step > 0) check(turn_of(step - 1), step);
      expect(follow::wrong(a, 'd', 5) == 0, "every element in turn " + std::to_string(step));
      seen.look_around("turn " + std::to_string(step));
      for (; step < times * count && turn_of(step).grid[0] == '\0'; ++step) {
        if (turn_of(step).word == "gone") {
          await_the_end(seen, keep_s);
          seen.forget_the_gone();
        } else {
          expect(dyngrid_checkpoint(nullptr) == 0, "a checkpoint");
        }
      }
      if (step >= 20 && first.files == 0 && step % count == 0) first = follow::figures();
      if (step == times * count) break;
      seen.change_begins();
      follow::request(turn_of(step++).grid);
    }
    int outcome = DYNGRID_SAME;
    while ((outcome = dyngrid_resize_point_at("turn")) == DYNGRID_SAME) usleep(2000);
    expect(outcome >= 0, "a resize point");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    is_inside = true;
  }
  if (std::getenv("KEEP_KILLS")) {
    if (dyngrid_is_first() != 0) std::printf("killed %d\n", seen.kill_sleepers());
    std::fflush(stdout);
    for (;;) pause(); // it is detected, and the application ends
  }
  const follow::Figures last = follow::figures();
  if (dyngrid_is_first() != 0) {
    std::printf("%d turns: %s\n", step, follow::in_words(first, last).c_str());
    std::printf("all right\n");
    if (std::getenv("KEEP_STRICT")) follow::expect_flat(first, last);
  }
  return dyngrid_finalize();
}
