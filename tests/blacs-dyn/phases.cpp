// SPDX-License-Identifier: BSD-3-Clause
// Phases of a running program.
// phases sequence 2x3 1x4 ...: random cycles on each grid of a sequence. Every element of every matrix at the start of
// each phase that reads it, against the program's last write, wherever it wrote it.
// phases chosen: each phase runs where it is fast, once all was tried.
// phases remembered: after `chosen`, with its history: planned from the first cycle on.
// phases weighted: layouts by the speeds of processes.
// phases statuses: an error on one process is the same error on all.
// phases anew: matrices that are freed and made again.
// phases restored FILE: a checkpoint is restored, with DYNGRID_RESTORE at a resize point.
#include <algorithm>
#include <array>
#include <random>

#include <unistd.h>

#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/phases.h"
#include "follow.hpp"

namespace {

using follow::agreed;
using follow::expect;

constexpr int m = 37, n = 29;
constexpr std::array<std::array<std::int64_t, 2>, 4> blocks{{{4, 3}, {1, 7}, {40, 30}, {3, 1}}};
constexpr std::array<char, 3> types{'d', 'z', 'i'};
int forty_two = 42;

/// Three matrices, and three phases that use them in different ways and layouts.
struct Program {
  std::array<dyngrid_matrix*, 3> matrices{};
  std::array<dyngrid_phase*, 3> phases{};
  std::array<std::array<int, 3>, 3> uses{{{DYNGRID_READ | DYNGRID_WRITE, DYNGRID_READ, 0},
                                          {DYNGRID_READ, DYNGRID_WRITE, DYNGRID_READ},
                                          {DYNGRID_READ, DYNGRID_READ, DYNGRID_READ | DYNGRID_WRITE}}};
  std::array<int, 3> salts{};

  Program() {
    for (std::size_t k = 0; k < 3; ++k)
      expect(dyngrid_matrix_create(std::string(1, types[k]).c_str(), types[k], m, n, 4, 3, &matrices[k]) == 0,
             "create");
    expect(dyngrid_share("salts", salts.data(), sizeof salts) == 0, "share");
    const char* const names[] = {"first", "second", "third"};
    for (std::size_t p = 0; p < 3; ++p) {
      expect(dyngrid_phase_create(names[p], &phases[p]) == 0, "phase");
      for (std::size_t k = 0; k < 3; ++k)
        if (uses[p][k] != 0) expect(dyngrid_phase_uses(phases[p], matrices[k], uses[p][k]) == 0, "uses");
    }
    offer(0, 0, 0);
    offer(0, 0, 1);
    offer(0, 1, 2);
    offer(1, 0, 1);
    offer(1, 1, 3);
    expect(dyngrid_phase_layout_by(phases[1], matrices[2], follow::unequal, &forty_two) == 0, "layout by a rule");
    offer(1, 2, 0);
    offer(2, 0, 2); // the others as they come
  }
  void offer(std::size_t p, std::size_t k, std::size_t b) const {
    expect(dyngrid_phase_layout(phases[p], matrices[k], blocks[b][0], blocks[b][1]) == 0, "layout");
  }
  void fill(std::size_t k, int salt) {
    salts[k] = salt;
    follow::fill(matrices[k], types[k], salt);
  }
  void check(std::size_t k, const std::string& what) const {
    expect(follow::wrong(matrices[k], types[k], salts[k]) == 0, what + ", type " + types[k]);
  }
  void run(std::size_t p, int salt) {
    expect(dyngrid_phase_begin(phases[p]) == 0, "begin");
    for (std::size_t k = 0; k < 3; ++k) {
      if ((uses[p][k] & DYNGRID_READ) != 0) check(k, "in phase " + std::to_string(p));
      if ((uses[p][k] & DYNGRID_WRITE) != 0) fill(k, salt + static_cast<int>(k));
    }
    const std::int64_t rows = dyngrid_desc(matrices[0])[4];
    if (p == 0) expect(rows == 4 || rows == 1, "one of the layouts of the first phase");
    if (p == 1) expect(rows == 1, "the layout of the second phase");
    expect(dyngrid_phase_end(phases[p]) == 0, "end");
    dyngrid_phase_report report;
    expect(dyngrid_last_phase(&report) == 0 && report.candidate >= 0 && report.candidate < report.candidates &&
               report.seconds >= 0,
           "report");
  }
};

/// The same on all processes, including new processes.
void one_grid(Program& program, int grid_number) {
  std::mt19937 random(1000 + static_cast<unsigned>(grid_number));
  const auto any = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  for (std::size_t k = 0; k < 3; ++k) program.check(k, "followed");
  bool was_planned = false;
  for (int cycle = 0; cycle < 30; ++cycle) {
    constexpr std::int64_t whole = m * n * 8;
    const std::array<std::int64_t, 4> limits{-1, 0, whole, 3 * whole};
    if (any(4) == 0) expect(dyngrid_phases_keep(limits[static_cast<std::size_t>(any(4))]) == 0, "keep");
    for (std::size_t p = 0; p < 3; ++p) {
      program.run(any(8) == 0 ? static_cast<std::size_t>(any(3)) : p, 10000 * grid_number + 100 * cycle + 10);
      dyngrid_phase_report report;
      dyngrid_last_phase(&report);
      was_planned = was_planned || report.is_planned != 0;
      if (any(10) != 0) continue;
      const auto k = static_cast<std::size_t>(any(3)); // outside of any phase
      program.fill(k, 7 * cycle + static_cast<int>(p));
      expect(dyngrid_matrix_written(program.matrices[k]) == 0, "written");
    }
    if (cycle == 27) expect(dyngrid_phases_keep(-1) == 0 && dyngrid_phases_plan(any(4)) == 0, "plan");
    if (cycle == 12 && grid_number % 2 == 0) { // a change by another routine starts again
      expect(dyngrid_matrix_reblock(program.matrices[1], 5, 2) >= 0, "reblock");
      program.check(1, "laid out by hand");
    }
  }
  expect(was_planned, "planned");
  expect(dyngrid_phases_keep(-1) == 0, "keep");
}

void sequence(const std::vector<std::string>& grids) {
  int step = 0;
  expect(dyngrid_share("step", &step, sizeof step) == 0, "share");
  Program program;
  if (!dyngrid_is_newcomer())
    for (std::size_t k = 0; k < 3; ++k) program.fill(k, static_cast<int>(k));
  for (;; ++step) {
    const int outcome = dyngrid_resize_point();
    if (outcome == DYNGRID_LEAVE) return;
    expect(outcome >= 0, "resize point");
    one_grid(program, step);
    if (step == static_cast<int>(grids.size())) return;
    follow::request(grids[static_cast<std::size_t>(step)].c_str());
  }
}

/// The time of a phase is a sleep that only its layout decides, far longer than moving some kilobytes. A layout that
/// took three times as long is tried once, the other one twice; then all is planned, unless an earlier run has left its
/// times. The short one may take a second on a busy machine.
void chosen(bool is_remembered) {
  dyngrid_matrix *a = follow::create("a", 'd', 200, 200, 8, 8), *b = follow::create("b", 'd', 200, 200, 8, 8);
  std::array<dyngrid_phase*, 2> phases{};
  for (std::size_t p = 0; p < 2; ++p) {
    expect(dyngrid_phase_create(p == 0 ? "wide" : "narrow", &phases[p]) == 0, "phase");
    expect(dyngrid_phase_uses(phases[p], a, DYNGRID_READ | DYNGRID_WRITE) == 0, "uses");
    expect(dyngrid_phase_layout(phases[p], a, 8, 8) == 0 && dyngrid_phase_layout(phases[p], a, 100, 100) == 0,
           "layouts");
  }
  expect(dyngrid_phase_uses(phases[1], b, DYNGRID_READ) == 0 && dyngrid_phase_layout(phases[1], b, 5, 5) == 0, "b");
  for (int cycle = 0; cycle < 8; ++cycle)
    for (std::size_t p = 0; p < 2; ++p) {
      expect(dyngrid_phase_begin(phases[p]) == 0, "begin");
      const bool is_wide = dyngrid_desc(a)[4] == 100;
      dyngrid_phase_report report;
      dyngrid_last_phase(&report);
      if (report.is_planned != 0) expect(is_wide == (p == 0), "each phase in the layout in which it is quick");
      expect((report.is_planned != 0) == (cycle >= 3 || is_remembered), "planned when all was tried, or is known");
      if (is_remembered && cycle == 0)
        expect(report.predicted_s > 0.0005 && report.predicted_s < 2, "predicted by the history");
      if (cycle == 7 && p == 1) expect(report.moved_bytes > 0, "the matrix that is written moves in each cycle");
      dyngrid_matrix* other = nullptr; // matrices made and freed beside them change nothing
      expect(dyngrid_matrix_create("other", 'd', 10, 10, 2, 2, &other) == 0, "another matrix");
      expect(dyngrid_matrix_free(&other) == 0, "free");
      usleep(is_wide == (p == 0) ? 1000 : 3000000);
      expect(dyngrid_phase_end(phases[p]) == 0, "end");
    }
}

/// Speeds of a 2 x 2 grid that shares can follow exactly. The work of the phase is in proportion to the part of a
/// process: distributed by speed it takes a quarter of the time. Once all speeds are equal, the trials start again.
void weighted() {
  const int rank = follow::world_rank();
  const double speed = std::array<double, 4>{9, 3, 3, 1}[static_cast<std::size_t>(rank)];
  expect(dyngrid_set_speed(speed) == 0, "speed");
  dyngrid_matrix* a = follow::create("a", 'd', 240, 240, 8, 8);
  dyngrid_phase* work = nullptr;
  expect(dyngrid_phase_create("work", &work) == 0, "phase");
  expect(dyngrid_phase_uses(work, a, DYNGRID_READ | DYNGRID_WRITE) == 0, "uses");
  agreed(dyngrid_phase_layout_weighted(work, a, 8, 8, 4), DYNGRID_ERR_ARGUMENT, "no such order");
  agreed(dyngrid_phase_layout_weighted(work, a, 8, 8, DYNGRID_ORDER_BLOCK), 0, "by speed");
  agreed(dyngrid_phase_layout(work, a, 8, 8), 0, "by blocks");
  int salt = 1;
  follow::fill_as<double>(a, salt);
  for (int cycle = 0; cycle < 12; ++cycle) {
    expect(dyngrid_phase_begin(work) == 0, "begin");
    expect(follow::wrong_as<double>(a, salt) == 0, "a, lying by speed or not");
    std::int64_t rows = 0, cols = 0;
    dyngrid_matrix_shape(a, &rows, &cols, nullptr);
    usleep(static_cast<unsigned>(static_cast<double>(rows * cols) * 60 / speed)); // 0.86 s alike, 0.22 s by speed
    dyngrid_phase_report report;
    dyngrid_last_phase(&report);
    const bool is_even = rows == 120 && cols == 120;
    if (report.is_planned != 0) expect(!is_even, "dealt out by speed");
    if (report.is_planned != 0 && rank == 0) expect(rows * cols > 14400, "the fast one has more");
    expect(report.is_planned != 0 || cycle < 4, "planned");
    follow::fill_as<double>(a, ++salt);
    expect(dyngrid_phase_end(work) == 0, "end");
  }
  expect(dyngrid_set_speed(1) == 0, "all are alike");
  expect(dyngrid_phase_begin(work) == 0, "begin");
  dyngrid_phase_report report;
  dyngrid_last_phase(&report);
  expect(report.is_planned == 0 && follow::wrong_as<double>(a, salt) == 0, "all begins anew");
  expect(dyngrid_phase_end(work) == 0, "end");
}

void statuses() {
  const int rank = follow::world_rank();
  dyngrid_matrix *a = nullptr, *freed = nullptr;
  dyngrid_phase *phase = nullptr, *empty = nullptr, *other = nullptr;
  expect(dyngrid_matrix_create("a", 'd', m, n, 4, 3, &a) == 0, "a");
  follow::fill_as<double>(a, 3);
  agreed(dyngrid_phase_create(nullptr, &phase), DYNGRID_ERR_NULL, "no name");
  agreed(dyngrid_phase_create("p", nullptr), DYNGRID_ERR_NULL, "no handle");
  agreed(dyngrid_phase_create("p", &phase), 0, "phase");
  agreed(dyngrid_phase_create("p", &other), DYNGRID_ERR_ARGUMENT, "the name is used");
  agreed(dyngrid_phase_create("empty", &empty), 0, "phase");
  agreed(dyngrid_phase_uses(phase, a, 4), DYNGRID_ERR_ARGUMENT, "no use");
  agreed(dyngrid_phase_uses(phase, nullptr, DYNGRID_READ), DYNGRID_ERR_NULL, "no matrix");
  agreed(dyngrid_phase_uses(nullptr, a, DYNGRID_READ), DYNGRID_ERR_NULL, "no phase");
  agreed(dyngrid_phase_layout(phase, a, 0, 3), DYNGRID_ERR_ARGUMENT, "blocks of 0");
  agreed(dyngrid_phase_layout_by(phase, a, nullptr, nullptr), DYNGRID_ERR_NULL, "no rule");
  agreed(dyngrid_phases_keep(-2), DYNGRID_ERR_ARGUMENT, "-2 bytes");
  agreed(dyngrid_phases_plan(0), DYNGRID_ERR_STATE, "nothing has run");
  agreed(dyngrid_phase_begin(empty), DYNGRID_ERR_STATE, "a phase without matrices");
  agreed(dyngrid_phase_uses(phase, a, DYNGRID_READ), 0, "uses");
  agreed(dyngrid_phase_uses(empty, a, DYNGRID_READ), 0, "uses");
  agreed(dyngrid_phase_layout(phase, a, 2, 2), 0, "layout");
  agreed(dyngrid_phase_begin(rank == 2 ? nullptr : phase), DYNGRID_ERR_NULL, "no phase on one");
  agreed(dyngrid_phase_begin(phase), 0, "a right call after it");
  agreed(dyngrid_phase_end(phase), 0, "end");
  agreed(dyngrid_phase_begin(rank == 1 ? empty : phase), DYNGRID_ERR_MISMATCH, "different phases");
  agreed(dyngrid_phase_end(phase), DYNGRID_ERR_STATE, "nothing was begun");
  agreed(dyngrid_phase_begin(phase), 0, "begin");
  agreed(dyngrid_phase_begin(empty), DYNGRID_ERR_STATE, "two at a time");
  agreed(dyngrid_phase_end(empty), DYNGRID_ERR_STATE, "the other one's end");
  agreed(dyngrid_phase_end(phase), 0, "end");
  agreed(dyngrid_phases_plan(0), DYNGRID_ERR_STATE, "one phase has not run");
  agreed(dyngrid_phase_begin(empty), 0, "begin");
  agreed(dyngrid_phase_end(empty), 0, "end");
  agreed(dyngrid_phases_plan(-1), DYNGRID_ERR_ARGUMENT, "-1 cycles");
  agreed(dyngrid_phases_plan(rank == 0 ? 1 : 2), DYNGRID_ERR_MISMATCH, "different numbers of cycles");
  agreed(dyngrid_phases_plan(3), 0, "plan");
  expect(follow::wrong_as<double>(a, 3) == 0, "the matrix is whole");
  int wrong = rank == 3 ? 0 : 42;
  agreed(dyngrid_phase_layout_by(phase, a, follow::unequal, &wrong), 0, "a rule that fails on one process");
  agreed(dyngrid_phase_begin(phase), DYNGRID_ERR_ARGUMENT, "its rule fails");
  expect(follow::wrong_as<double>(a, 3) == 0, "the matrix is whole");
  wrong = 42;
  agreed(dyngrid_phase_create("many", &other), 0, "phase");
  agreed(dyngrid_phase_uses(other, a, DYNGRID_READ), 0, "uses");
  for (int mb = 1; mb <= 65; ++mb) agreed(dyngrid_phase_layout(other, a, mb, 1), 0, "layout");
  agreed(dyngrid_phase_begin(phase), DYNGRID_ERR_UNSUPPORTED, "more layouts than can be planned");
  agreed(dyngrid_matrix_create("freed", 'd', m, n, 4, 3, &freed), 0, "a matrix");
  agreed(dyngrid_phase_uses(empty, freed, DYNGRID_WRITE), 0, "uses");
  agreed(dyngrid_matrix_free(&freed), 0, "free");
  agreed(dyngrid_phase_begin(empty), DYNGRID_ERR_NOT_FOUND, "its matrix was freed");
}

/// A matrix that is made after another one was freed often gets its address. It is still another matrix, of another
/// size, and of no phase that used the first.
void made_anew() {
  dyngrid_phase* phase = nullptr;
  expect(dyngrid_phase_create("p", &phase) == 0, "phase");
  const void* before = nullptr;
  bool was_address_used_again = false;
  for (int round = 0; round < 20; ++round) {
    dyngrid_matrix* a = nullptr;
    const int rows = m + 8 * (round % 5);
    agreed(dyngrid_matrix_create("a", 'd', rows, n, 4, 3, &a), 0, "a");
    was_address_used_again = was_address_used_again || a == before;
    before = a;
    follow::fill_as<double>(a, round);
    if (round > 0) agreed(dyngrid_phase_begin(phase), DYNGRID_ERR_NOT_FOUND, "its matrix was freed");
    agreed(dyngrid_phase_uses(phase, a, DYNGRID_READ), 0, "uses");
    agreed(dyngrid_phase_layout(phase, a, 1, 7), 0, "layout");
    agreed(dyngrid_phase_layout(phase, a, 5, 2), 0, "layout");
    for (int cycle = 0; cycle < 3; ++cycle) {
      agreed(dyngrid_phase_begin(phase), 0, "begin");
      expect(dyngrid_desc(a)[2] == rows && follow::wrong_as<double>(a, round) == 0, "the new matrix");
      agreed(dyngrid_phase_end(phase), 0, "end");
    }
    dyngrid_matrix* const handle = a;
    agreed(dyngrid_matrix_free(&a), 0, "free");
    agreed(dyngrid_matrix_written(handle), DYNGRID_ERR_NOT_FOUND, "a handle of a freed matrix");
  }
  expect(was_address_used_again, "an address was used again");
}

/// A matrix restored by a checkpoint, on anyone's request, is no copy of the earlier one.
void restored(const char* file) {
  dyngrid_matrix* a = nullptr;
  std::array<dyngrid_phase*, 2> phases{};
  expect(dyngrid_matrix_create("a", 'd', m, n, 4, 3, &a) == 0, "a");
  for (std::size_t p = 0; p < 2; ++p) {
    expect(dyngrid_phase_create(p == 0 ? "one" : "two", &phases[p]) == 0, "phase");
    expect(dyngrid_phase_uses(phases[p], a, DYNGRID_READ) == 0, "uses");
    expect(dyngrid_phase_layout(phases[p], a, blocks[p][0], blocks[p][1]) == 0, "layout");
  }
  const auto cycle = [&](int salt) {
    for (dyngrid_phase* phase : phases) {
      expect(dyngrid_phase_begin(phase) == 0, "begin");
      expect(follow::wrong_as<double>(a, salt) == 0, "salt " + std::to_string(salt));
      expect(dyngrid_phase_end(phase) == 0, "end");
    }
  };
  follow::fill_as<double>(a, 5);
  if (!dyngrid_is_restarted()) {
    cycle(5);
    expect(dyngrid_checkpoint(file) == 0, "checkpoint");
    follow::fill_as<double>(a, 6);
    expect(dyngrid_matrix_written(a) == 0, "written");
    cycle(6);
    expect(dyngrid_restore(file) == 0, "restore");
    cycle(5);
    follow::fill_as<double>(a, 7);
    expect(dyngrid_checkpoint(file) == 0, "checkpoint"); // of the run that is restarted
    return;
  }
  for (int k = 0; k < 3; ++k) cycle(5); // copies in both layouts
  expect(dyngrid_resize_point() >= 0, "resize point");
  for (int k = 0; k < 3; ++k) cycle(7);
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  expect(!words.empty(),
         "usage: phases sequence GRID... | chosen | remembered | weighted | statuses | anew | restored FILE");
  expect(dyngrid_init() == 0, "init");
  if (words[0] == "sequence") sequence({words.begin() + 1, words.end()});
  if (words[0] == "chosen" || words[0] == "remembered") chosen(words[0] == "remembered");
  if (words[0] == "weighted") weighted();
  if (words[0] == "statuses") statuses();
  if (words[0] == "anew") made_anew();
  if (words[0] == "restored") restored(argv[2]);
  expect(dyngrid_finalize() == 0, "finalize");
}
