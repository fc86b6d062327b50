// SPDX-License-Identifier: BSD-3-Clause
// The part of dyngrid/gridmap.h that knows times: shapes, balance, payoff. Arguments checked for null and turned into
// the C++ requests, one guarded call, outputs on success only.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "advise/balance.hpp"
#include "advise/cells.hpp"
#include "advise/chain.hpp"
#include "advise/payoff.hpp"
#include "advise/topology.hpp"
#include "base/grid_shape.hpp"
#include "base/status.hpp"
#include "dyngrid/gridmap.h"
#include "gridmap/c_arguments.hpp"

namespace {
using namespace gridmap::c_arguments;
using base::Error;
using base::Status;
using base::detail::guard;

void put_text(char* output, size_t size, const std::string& text) {
  if (!output || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(output, text.data(), length);
  output[length] = '\0';
}

std::size_t positive(int value, const char* name) {
  if (value < 1) throw Error(Status::bad_argument, "advise: {} is {}, expected at least 1", name, value);
  return static_cast<std::size_t>(value);
}

} // namespace

extern "C" {

int dyngrid_topology(int procs, double aspect_p, double aspect_q, int from_nprow, int from_npcol, int* nprow,
                     int* npcol) {
  dyngrid_topology_request request{};
  request.procs = procs;
  request.aspect_p = aspect_p;
  request.aspect_q = aspect_q;
  request.from_nprow = from_nprow;
  request.from_npcol = from_npcol;
  return dyngrid_topology_choose(&request, nprow, npcol, nullptr, nullptr, 0);
}

int dyngrid_topology_choose(const dyngrid_topology_request* request, int* nprow, int* npcol, double* seconds, char* why,
                            size_t why_size) {
  return guard([&] {
    want(request, "request");
    advise::TopologyRequest r;
    r.procs = request->procs;
    r.from_nprow = request->from_nprow;
    r.from_npcol = request->from_npcol;
    r.prefer = static_cast<advise::Dominance>(request->prefer);
    r.aspect_p = request->aspect_p;
    r.aspect_q = request->aspect_q;
    r.data_m = request->data_m;
    r.data_n = request->data_n;
    if (request->data_aspect != 0) r.data_aspect = request->data_aspect;
    r.valid_procs = list(request->valid_procs, request->n_valid_procs, "valid_procs");
    r.valid_rows = list(request->valid_rows, request->n_valid_rows, "valid_rows");
    r.valid_cols = list(request->valid_cols, request->n_valid_cols, "valid_cols");
    const auto rows = list(request->time_nprow, request->n_times, "time_nprow");
    const auto cols = list(request->time_npcol, request->n_times, "time_npcol");
    const auto times = list(request->time_seconds, request->n_times, "time_seconds");
    for (std::size_t i = 0; i < times.size(); ++i) r.times.push_back({rows[i], cols[i], times[i]});
    const advise::Topology t = advise::choose_topology(r);
    put(nprow, t.nprow);
    put(npcol, t.npcol);
    put(seconds, t.seconds);
    put_text(why, why_size, t.why);
  });
}

int dyngrid_parse_set(const char* text, int capacity, int* values, int* count) {
  return guard([&] {
    want(text, "text");
    const std::vector<int> set = advise::parse_set(text);
    if (values && static_cast<std::int64_t>(set.size()) > capacity) {
      put(count, set.size());
      throw Error(Status::shape_mismatch, "advise: topology: the set '{}' has {} numbers, expected at most {}", text,
                  set.size(), capacity);
    }
    put_all(values, set);
    put(count, set.size());
  });
}

int dyngrid_cut(int64_t count, const double* costs, int nprocs, const double* speeds, int64_t* first, double* seconds) {
  return guard([&] {
    advise::ChainRequest r;
    r.costs = list(costs, count, "costs");
    r.speeds = speeds ? list(speeds, nprocs, "speeds") : std::vector<double>(positive(nprocs, "nprocs"), 1.0);
    const advise::Chain chain = advise::balance_chain(r);
    put_all(first, chain.first);
    put(seconds, chain.seconds);
  });
}

int dyngrid_cut_cells(int64_t m, int64_t n, const double* costs, int nprow, int npcol, const double* speeds,
                      int64_t* first_row, int64_t* first_col, double* seconds) {
  return guard([&] {
    if (m < 0 || n < 0 || (n > 0 && m > INT64_MAX / n))
      throw Error(Status::bad_argument, "advise: cells: {} x {} cells, expected at least 0", m, n);
    advise::CellsRequest r;
    r.m = m;
    r.n = n;
    r.costs = list(costs, m * n, "costs");
    r.nprow = nprow;
    r.npcol = npcol;
    const std::int64_t count = places(nprow, npcol);
    r.speeds = speeds ? list(speeds, count, "speeds") : std::vector<double>(static_cast<std::size_t>(count), 1.0);
    const advise::Cells cells = advise::balance_cells(r);
    put_all(first_row, cells.first_row);
    put_all(first_col, cells.first_col);
    put(seconds, cells.seconds);
  });
}

int dyngrid_balance_plan(const dyngrid_balance_request* request, int* action, int* nprow, int* npcol, int* order,
                         int64_t* rows, int64_t* cols, double* step_now_s, double* step_then_s, double* change_s,
                         int64_t* payoff_steps, char* why, size_t why_size) {
  return guard([&] {
    want(request, "request");
    const dyngrid_balance_request& given = *request;
    advise::BalanceRequest r;
    r.grid = {given.nprow, given.npcol};
    const std::int64_t in_grid = places(given.nprow, given.npcol);
    const std::vector<double> speeds = list(given.speeds, given.n_processes, "speeds");
    const std::vector<double> shares =
        given.shares ? list(given.shares, given.n_processes, "shares") : std::vector<double>(speeds.size(), 1.0);
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      advise::BalanceProcess p;
      p.speed = speeds[k];
      p.share = shares[k];
      p.place = given.places ? given.places[k] : static_cast<std::int64_t>(k) < in_grid ? static_cast<int>(k) : -1;
      r.processes.push_back(p);
    }
    r.m = given.m;
    r.n = given.n;
    r.mb = given.mb;
    r.nb = given.nb;
    r.is_weighted = given.is_weighted != 0;
    r.work_s = given.work_s;
    r.fixed_s = given.fixed_s;
    r.border_s = given.border_s;
    r.volume_s = given.volume_s;
    r.messages_s = given.messages_s;
    if (r.work_s == 0 && r.fixed_s == 0 && r.border_s == 0 && r.volume_s == 0 && r.messages_s == 0)
      r.work_s = static_cast<double>(in_grid);
    r.processor_part = given.processor_part;
    r.step_s = given.step_s;
    if (given.steps_left < 0 || !(given.change_s >= 0))
      throw Error(Status::bad_argument,
                  "advise: balance: steps_left is {}, change_s {}, expected at least 0 (0: not known)",
                  given.steps_left, given.change_s);
    if (given.steps_left > 0) r.steps_left = given.steps_left;
    if (given.change_s > 0)
      r.change = [seconds = given.change_s](const advise::BalanceChoice&) {
        return advise::Cost{{{"change", seconds}}};
      };
    const advise::Balance b = advise::decide_balance(r);
    put(action, b.action);
    put(nprow, b.then.grid.nprow);
    put(npcol, b.then.grid.npcol);
    put_all(order, b.then.order);
    put_all(rows, b.then.rows);
    put_all(cols, b.then.cols);
    put(step_now_s, b.now.step_s());
    put(step_then_s, b.then.step_s());
    put(change_s, b.then.change.total());
    put(payoff_steps, b.payoff_steps);
    put_text(why, why_size, b.why);
  });
}

int64_t dyngrid_payoff_point(double t_resize, double t_old, double t_new) {
  std::int64_t steps = -1;
  guard([&] { steps = advise::payoff_point(t_resize, t_old, t_new); });
  return steps;
}

int64_t dyngrid_resize_cost(double t_resize, double t_new) {
  std::int64_t steps = -1;
  guard([&] { steps = advise::resize_cost(t_resize, t_new); });
  return steps;
}

} // extern "C"
