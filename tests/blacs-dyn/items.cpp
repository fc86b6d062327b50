// SPDX-License-Identifier: BSD-3-Clause
// Columns of unequal work, reported by dyngrid_work_items: a balance cuts them exactly as gridmap does for the costs
// and speeds that this program knows. Costs reported once are known on every later grid. /proc has no data, steps are
// slept, and no time is judged.
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "advise/chain.hpp"
#include "dyngrid.hpp"
#include "follow.hpp"

namespace {

using follow::expect;

constexpr int n = 48;
constexpr double unit_s = 1e-4;

double cost(std::int64_t j) { // of a column, at speed 1
  return j < 6 ? 20 : 1 + static_cast<double>(j % 3);
}

struct Range {
  std::int64_t first = 0, last = 0;
};

Range mine(const dyngrid_matrix* a) {
  Range range;
  dyngrid_my_range(a, 'C', 0, &range.first, &range.last);
  return range;
}

double work_of(Range range) {
  double sum = 0;
  for (std::int64_t j = range.first; j < range.last; ++j) sum += cost(j);
  return sum;
}

void work(const dyngrid_matrix* a, bool is_told) {
  const Range range = mine(a);
  std::this_thread::sleep_for(std::chrono::duration<double>(unit_s * work_of(range) / dyngrid_speed()));
  std::vector<double> seconds;
  for (std::int64_t j = range.first; j < range.last; ++j) seconds.push_back(unit_s * cost(j) / dyngrid_speed());
  for (const double times : {1.0, 3.0}) { // the least counts
    for (double& s : seconds) s *= times;
    if (is_told)
      expect(dyngrid_work_items(a, 'c', range.first, range.last - range.first, seconds.data()) == DYNGRID_SUCCESS,
             "work_items");
  }
  MPI_Barrier(dyngrid_comm());
}

/// Whether no other cut is faster for the processes in their present order. Collective.
bool is_exact(const dyngrid_matrix* a) {
  int size = 0;
  MPI_Comm_size(dyngrid_comm(), &size);
  const double speed = dyngrid_speed(), own_s = work_of(mine(a)) / speed;
  advise::ChainRequest request;
  request.speeds.resize(static_cast<std::size_t>(size));
  for (int j = 0; j < n; ++j) request.costs.push_back(cost(j));
  double longest_s = 0;
  MPI_Allreduce(&own_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, dyngrid_comm());
  MPI_Allgather(&speed, 1, MPI_DOUBLE, request.speeds.data(), 1, MPI_DOUBLE, dyngrid_comm());
  return longest_s <= advise::balance_chain(request).seconds * (1 + 1e-6);
}

void refused(const dyngrid_matrix* a) {
  dyngrid_matrix* plain = follow::create("plain", 'd', 9, 9, 2, 2);
  const Range range = mine(a);
  const auto told = [&](const dyngrid_matrix* matrix, char axis, std::int64_t first, std::int64_t count, double s) {
    const std::vector<double> seconds(n + 1, s);
    return dyngrid_work_items(matrix, axis, first, count, seconds.data());
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect(told(nullptr, 'R', 0, 1, 1) == DYNGRID_ERR_NULL, "no matrix");
  expect(dyngrid_work_items(a, 'R', 0, 1, nullptr) == DYNGRID_ERR_NULL, "no seconds");
  expect(told(a, 'X', 0, 1, 1) == DYNGRID_ERR_ARGUMENT, "no such axis");
  expect(told(a, 'R', 0, -1, 1) == DYNGRID_ERR_ARGUMENT, "fewer than none");
  expect(told(a, 'R', -1, 1, 1) == DYNGRID_ERR_ARGUMENT, "before the first row");
  expect(told(a, 'R', 0, n + 1, 1) == DYNGRID_ERR_ARGUMENT, "more rows than there are");
  expect(told(a, 'C', range.last, 1, 1) == DYNGRID_ERR_ARGUMENT, "another process's column");
  expect(told(a, 'C', range.first, std::numeric_limits<std::int64_t>::max(), 1) == DYNGRID_ERR_ARGUMENT, "too many");
  for (const double wrong : {-1.0, std::nan(""), infinity})
    expect(told(a, 'C', range.first, 1, wrong) == DYNGRID_ERR_ARGUMENT, "seconds " + std::to_string(wrong));
  expect(told(plain, 'R', 0, 1, 1) == DYNGRID_ERR_UNSUPPORTED, "a matrix in blocks");
  expect(told(a, 'R', 0, 0, 1) == DYNGRID_SUCCESS, "none");
  expect(dyngrid_matrix_free(&plain) == DYNGRID_SUCCESS, "free");
}

int run() {
  expect(dyngrid_work_items(nullptr, 'R', 0, 0, nullptr) < 0, "before dyngrid_init");
  expect(dyngrid_init_grid(1, 4) == DYNGRID_SUCCESS && dyngrid_set_steps(1000000) == DYNGRID_SUCCESS, "init");
  expect(dyngrid_allow("rows 1:1") == DYNGRID_SUCCESS, "one row"); // its work is that of columns
  expect(dyngrid_set_speed(dyngrid_process_id() == 2 ? 0.5 : 1) == DYNGRID_SUCCESS, "speed");
  dyngrid_matrix* a = nullptr;
  expect(dyngrid_matrix_create_weighted("A", 'd', n, n, 1, 1, DYNGRID_ORDER_BLOCK, &a) == DYNGRID_SUCCESS, "matrix");
  follow::fill(a, 'd', 3);
  refused(a);
  expect(!is_exact(a), "by speed alone it is no exact cut");
  struct State { // of all
    int grids = 0, turn = 0;
  } state;
  expect(dyngrid_share("state", &state, sizeof state) == DYNGRID_SUCCESS, "share");
  constexpr const char* grids[] = {"1x2", "1x4"};
  while (state.grids < 3) {
    expect(state.turn++ < 1500, "grid " + std::to_string(state.grids) + ": no exact cut");
    work(a, state.grids == 0); // later no costs are reported
    const int outcome = state.turn % 4 == 0 ? dyngrid_rebalance() : dyngrid_resize_point();
    expect(outcome >= 0, "balance");
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize(); // it slept until the others were done
    if (!is_exact(a)) continue;
    expect(follow::wrong(a, 'd', 3) == 0, "elements");
    if (state.grids++ == 2) continue;
    follow::request(grids[state.grids - 1]);
    expect(dyngrid_resize_point() == DYNGRID_RESIZED, "another grid"); // woken processes return here
    if (state.grids == 1) expect(!is_exact(a), "dealt out by speed alone");
  }
  return follow::all_right();
}

} // namespace

int main() {
  setenv("DYNGRID_LOAD_ROOT", "/nowhere", 1);
  expect(run() == DYNGRID_SUCCESS, "dyngrid_finalize");
  return 0;
}
