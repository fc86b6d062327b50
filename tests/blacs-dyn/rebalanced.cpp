// SPDX-License-Identifier: BSD-3-Clause
// Balances by speeds that the program gives; /proc has no data, so that other load here does not count. A step lasts as
// long as its slowest part over its speed, in sleep, and no time is judged but by orders of magnitude.
// rebalanced calls: dyngrid_rebalance and dyngrid_last_balance, on each process the same.
// rebalanced loads: dyngrid_loads after a change of the grid.
// rebalanced row: where DYNGRID_ALLOW permits long grids, a new one may be as long as it permits.
// rebalanced rule: a rule sees the speeds of the processes after a balance that only deals out anew.
// rebalanced rule_fails: a rule that has no answer on process 0, which decides: the same outcome on each process.
// rebalanced late: a step takes the time of the slowest process, though process 0 has done its part long before.
// rebalanced soak 300 [--strict]: under DYNGRID_BALANCE=auto the slowest sleeps and returns that number of times;
// memory, files and communicators are flat.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "dyngrid.hpp"
#include "figures.hpp"
#include "follow.hpp"

namespace {

using follow::expect;

constexpr int n = 240, nb = 4;

int grid_size() {
  int p = 0, q = 0;
  dyngrid_grid(&p, &q, nullptr, nullptr);
  return p * q;
}

dyngrid_balance_report last() {
  dyngrid_balance_report report{};
  expect(dyngrid_last_balance(&report) == DYNGRID_SUCCESS, "dyngrid_last_balance");
  return report;
}

/// All processes of the grid have the same, byte by byte.
void same_everywhere(const std::string& what) {
  const dyngrid_balance_report mine = last();
  dyngrid_balance_report first = mine;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, dyngrid_comm());
  expect(std::memcmp(&first, &mine, sizeof first) == 0, what + ": the report is the same on all");
}

/// A step of this process, s seconds with a quarter of the matrix at speed 1; the slowest one is waited for.
void work(const dyngrid_matrix* a, double s) {
  std::int64_t rows = 0, cols = 0;
  dyngrid_matrix_shape(a, &rows, &cols, nullptr);
  const double part = static_cast<double>(rows) * static_cast<double>(cols) / (n * n);
  std::this_thread::sleep_for(std::chrono::duration<double>(4 * s * part / dyngrid_speed()));
  MPI_Barrier(dyngrid_comm());
}

bool says(const dyngrid_balance_report& report, const char* words) {
  return std::strstr(report.why, words) != nullptr;
}

void refused() {
  expect(dyngrid_rebalance() == DYNGRID_ERR_STATE, "before dyngrid_init");
  expect(dyngrid_last_balance(nullptr) == DYNGRID_ERR_NULL, "a null pointer");
}

dyngrid_matrix* begin() {
  expect(dyngrid_init_grid(2, 2) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix* a = follow::create("A", 'd', n, n, nb, nb);
  follow::fill(a, 'd', 3);
  return a;
}

int calls() {
  refused();
  dyngrid_matrix* a = begin();
  int is_woken = 0;
  expect(dyngrid_share("woken", &is_woken, sizeof is_woken) == DYNGRID_SUCCESS, "share");
  constexpr dyngrid_balance_report nothing{};
  const dyngrid_balance_report none = last();
  expect(std::memcmp(&none, &nothing, sizeof none) == 0, "no report yet");
  expect(dyngrid_rebalance() == DYNGRID_SAME, "nothing is known yet");
  same_everywhere("nothing is known yet");
  expect(last().number == 1 && last().action == DYNGRID_BALANCE_STAY && says(last(), "ask again"), last().why);

  for (int k = 0; k < 500 && says(last(), "ask again"); ++k) { // until steps and loads are measured
    work(a, 0.01);
    expect(dyngrid_resize_point() == DYNGRID_SAME, "nobody asked");
    if (k % 4 == 3) expect(dyngrid_rebalance() == DYNGRID_SAME, "all are alike");
  }
  same_everywhere("all are alike");
  const dyngrid_balance_report alike = last();
  expect(alike.action == DYNGRID_BALANCE_STAY && alike.is_done == 0 && alike.before_s > 0 && alike.payoff_steps == -1 &&
             alike.from_nprow == 2 && alike.to_nprow == 2 && alike.why[0] != '\0',
         alike.why);

  expect(dyngrid_set_speed(dyngrid_process_id() == 2 ? 0.125 : 1) == DYNGRID_SUCCESS, "speed");
  for (int k = 0; k < 500 && is_woken == 0 && grid_size() == 4; ++k) {
    work(a, 0.01);
    expect(dyngrid_resize_point() == DYNGRID_SAME, "nothing is done by itself");
    if (k % 4 == 3) expect(dyngrid_rebalance() >= 0, "rebalance");
  }
  if (is_woken == 0) { // those that stay
    expect(grid_size() < 4, std::string("the slow one sleeps: ") + last().why);
    same_everywhere("the slow one sleeps");
    const dyngrid_balance_report done = last();
    expect(done.action == DYNGRID_BALANCE_REMOVE && done.is_done == 1 && done.number > alike.number &&
               done.from_nprow * done.from_npcol == 4 && done.to_nprow * done.to_npcol == grid_size() &&
               done.leaves == 4 - grid_size() && done.comes == 0 && done.moved_elements > 0,
           done.why);
    expect(done.after_s < done.before_s && done.change_s > 0 && done.payoff_steps >= 0 && done.steps > 0 &&
               done.measured_before_s > 0 && done.measured_change_s > 0 && done.measured_steps == 0,
           "what was foreseen");
    for (int k = 0; k < 50 && last().measured_steps == 0; ++k) {
      work(a, 0.01);
      expect(dyngrid_resize_point() == DYNGRID_SAME, "its outcome");
    }
    same_everywhere("its outcome");
    expect(last().measured_steps == 5 && last().number == done.number && last().measured_after_s > 0 &&
               last().measured_after_s < last().measured_before_s,
           "what it brought");
    is_woken = 1;
    follow::request("2x2");
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "it wakes");
  }
  expect(is_woken == 1 && grid_size() == 4, "all are there again");
  same_everywhere("a process that was parked knows it too");
  expect(last().measured_steps == 5, "it knows what it brought");
  expect(follow::wrong(a, 'd', 3) == 0, "every element");
  return follow::all_right();
}

int loads() {
  expect(dyngrid_init_grid(2, 2) == DYNGRID_SUCCESS, "dyngrid_init");
  std::vector<dyngrid_load> loads(4);
  int count = 0;
  expect(dyngrid_loads(loads.data(), 4, &count) == DYNGRID_SUCCESS && count == 0, "none yet");
  expect(dyngrid_resize_point() == DYNGRID_SAME, "they are gathered");
  follow::request("1x4");
  expect(dyngrid_resize_point() == DYNGRID_RESIZED, "another grid");
  expect(dyngrid_loads(loads.data(), 4, &count) == DYNGRID_SUCCESS && count == 4, "loads of 2x2");
  for (int k = 0; k < 4; ++k) {
    const dyngrid_load& load = loads[static_cast<std::size_t>(k)];
    expect(load.row == k / 2 && load.col == k % 2, "the place of a process of 2x2");
  }
  return follow::all_right();
}

int row() {
  expect(dyngrid_init_grid(1, 5) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix* a = follow::create("A", 'd', n, n, nb, nb);
  expect(dyngrid_set_speed(dyngrid_process_id() == 2 ? 0.125 : 1) == DYNGRID_SUCCESS, "speed");
  int outcome = DYNGRID_SAME;
  for (int k = 0; k < 500 && outcome == DYNGRID_SAME; ++k) {
    work(a, 0.01);
    outcome = k % 4 == 3 ? dyngrid_rebalance() : dyngrid_resize_point();
  }
  int p = 0, q = 0;
  dyngrid_grid(&p, &q, nullptr, nullptr);
  if (outcome != DYNGRID_LEAVE) expect(p == 1 && q == 4, std::string("the slow one sleeps: ") + last().why);
  return follow::all_right();
}

bool has_no_answer = false; ///< the rule on this process

/// Columns in proportion to the speeds of the grid columns, all rows to each.
std::int64_t by_speed(void*, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  if (has_no_answer) return -1;
  const int count = axis == 'R' ? nprow : npcol;
  double all = 0;
  for (int k = 0; k < npcol; ++k) all += dyngrid_rule_speed(0, k);
  for (int k = 0; k < count && sizes != nullptr; ++k)
    sizes[k] = axis == 'R' ? length : std::llround(static_cast<double>(length) * dyngrid_rule_speed(0, k) / all);
  return count;
}

int rule() {
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix *a = nullptr, *ruled = nullptr;
  expect(dyngrid_matrix_create_weighted("A", 'd', n, n, nb, nb, DYNGRID_ORDER_BLOCK, &a) == DYNGRID_SUCCESS &&
             dyngrid_matrix_create_by("ruled", 'd', 4, 40, by_speed, nullptr, &ruled) == DYNGRID_SUCCESS,
         "matrices");
  const int speed = dyngrid_process_id() == 0 ? 1 : 3;
  expect(dyngrid_set_speed(speed) == DYNGRID_SUCCESS, "speed");
  std::int64_t cols = 0;
  for (int k = 0; k < 1000 && cols != 10 * speed; ++k) { // other parts first where the machine has stopped a process
    work(a, 0.01);
    const int outcome = k % 4 == 3 ? dyngrid_rebalance() : dyngrid_resize_point();
    expect(outcome == DYNGRID_SAME || outcome == DYNGRID_RESIZED, "rebalance");
    expect(dyngrid_matrix_shape(ruled, nullptr, &cols, nullptr) == DYNGRID_SUCCESS, "the rule's matrix");
  }
  expect(cols == 10 * speed, "the rule gives " + std::to_string(cols) + " columns: " + last().why);
  return follow::all_right();
}

int rule_fails() {
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix *a = nullptr, *ruled = nullptr;
  expect(dyngrid_matrix_create_weighted("A", 'd', n, n, nb, nb, DYNGRID_ORDER_BLOCK, &a) == DYNGRID_SUCCESS &&
             dyngrid_matrix_create_by("ruled", 'd', 4, 40, by_speed, nullptr, &ruled) == DYNGRID_SUCCESS,
         "matrices");
  expect(dyngrid_set_speed(dyngrid_process_id() == 0 ? 1 : 3) == DYNGRID_SUCCESS, "speed");
  has_no_answer = dyngrid_process_id() == 0;
  for (int k = 0; k < 1000 && !says(last(), "the rule for the "); ++k) {
    work(a, 0.01);
    expect((k % 4 == 3 ? dyngrid_rebalance() : dyngrid_resize_point()) == DYNGRID_SAME, "nothing moves");
  }
  expect(says(last(), "the rule for the "), last().why);
  same_everywhere("a rule without an answer");
  return follow::all_right();
}

int late() {
  constexpr double longest_s = 0.3; // beside which it does not count how late a process wakes up
  expect(dyngrid_init_grid(1, 2) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "dyngrid_init");
  follow::create("A", 'd', n, n, nb, nb);
  for (int k = 0; k < 200 && (k < 8 || says(last(), "ask again")); ++k) {
    if (dyngrid_process_id() == 1) std::this_thread::sleep_for(std::chrono::duration<double>(longest_s));
    expect(dyngrid_resize_point() == DYNGRID_SAME, "nobody asked");
    if (k % 4 == 3) expect(dyngrid_rebalance() == DYNGRID_SAME, "all are alike");
  }
  expect(last().measured_before_s > 0.5 * longest_s,
         "a step takes " + std::to_string(last().measured_before_s) + " s: " + last().why);
  return follow::all_right();
}

int soak(int count, bool is_strict) {
  setenv("DYNGRID_BALANCE", "auto", 1);
  dyngrid_matrix* a = begin();
  struct State { // of all
    int cycle = 0, turn = 0, has_left = 0;
  } state;
  expect(dyngrid_share("state", &state, sizeof state) == DYNGRID_SUCCESS, "share");
  follow::Figures first{};
  while (state.cycle < count) {
    if (state.has_left == 0) {
      if (state.turn++ == 0)
        expect(dyngrid_set_speed(dyngrid_process_id() == 1 + state.cycle % 3 ? 0.125 : 1) == DYNGRID_SUCCESS, "speed");
      expect(state.turn < 1000, std::string("nobody leaves: ") + last().why);
      work(a, 0.004);
      expect((state.turn % 3 == 0 ? dyngrid_rebalance() : dyngrid_resize_point()) >= 0, "balance");
      if (grid_size() < 4) state.has_left = 1; // a process that wakes in it receives it. The cheaper change: one or two
    } else {
      follow::request("2x2");
      expect(dyngrid_resize_point() == DYNGRID_RESIZED, "it comes back");
    }
    if (state.has_left == 0 || grid_size() < 4) continue;
    expect(follow::wrong(a, 'd', 3) == 0, "cycle " + std::to_string(state.cycle));
    state = {state.cycle + 1, 0, 0};
    if (state.cycle == std::min(18, count / 2)) first = follow::figures();
  }
  const follow::Figures now = follow::figures();
  if (dyngrid_is_first() != 0)
    std::printf("%d departures and returns, %lld balances: %s\n", count, static_cast<long long>(last().number),
                follow::in_words(first, now).c_str());
  if (is_strict) follow::expect_flat(first, now);
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  setenv("DYNGRID_LOAD_ROOT", "/nowhere", 1);
  const std::string what = argc > 1 ? argv[1] : "";
  int status = DYNGRID_ERR_ARGUMENT;
  if (what == "calls") status = calls();
  if (what == "loads") status = loads();
  if (what == "row") status = row();
  if (what == "rule") status = rule();
  if (what == "rule_fails") status = rule_fails();
  if (what == "late") status = late();
  if (what == "soak" && argc > 2) status = soak(std::atoi(argv[2]), argc > 3);
  expect(status == DYNGRID_SUCCESS,
         "expected calls, loads, row, rule, rule_fails, late or soak COUNT, and dyngrid_finalize");
  return 0;
}
