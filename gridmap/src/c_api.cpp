// SPDX-License-Identifier: BSD-3-Clause
// The C interface: arguments checked for null and turned into the C++ requests, one guarded call, outputs on
// success only.
#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/status.hpp"
#include "dyngrid/gridmap.h"
#include "gridmap/balance.hpp"
#include "gridmap/dealing.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/payoff.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/selection.hpp"
#include "gridmap/topology.hpp"

namespace {
using base::Error;
using base::Status;
using base::detail::guard;
using gridmap::Axis;

void want(const void* pointer, const char* name) {
  if (!pointer) throw Error(Status::null_pointer, fmt::format("gridmap: {} is null", name));
}

template <class T> std::vector<T> list(const T* values, std::int64_t count, const char* name) {
  if (count < 0)
    throw Error(Status::bad_argument, fmt::format("gridmap: {} has {} values, expected at least 0", name, count));
  if (count > 0) want(values, name);
  return count > 0 ? std::vector<T>(values, values + count) : std::vector<T>();
}

template <class T, class U> void put(T* output, const U& value) {
  if (output) *output = static_cast<T>(value);
}
template <class T> void put_all(T* output, const std::vector<T>& values) {
  if (output) std::copy(values.begin(), values.end(), output);
}

void put_text(char* output, size_t size, const std::string& text) {
  if (!output || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(output, text.data(), length);
  output[length] = '\0';
}

Axis axis_of(const dyngrid_axis* axis, const char* name) {
  want(axis, name);
  return {axis->n, list(axis->sizes, axis->n_sizes, name), axis->src, axis->nprocs};
}

/// Number of places of a grid, checked before an array of that length is read.
std::int64_t places(int nprow, int npcol) {
  if (nprow < 1 || npcol < 1)
    throw Error(Status::bad_argument, fmt::format("gridmap: grid is {}x{}, expected at least 1x1", nprow, npcol));
  return std::int64_t{nprow} * npcol;
}

void put_mapping(const gridmap::Mapping& map, int* order, double* r, double* c, int64_t* rows, int64_t* cols,
                 double* t_continuous, double* t_theory) {
  put_all(order, map.order);
  put_all(r, map.r);
  put_all(c, map.c);
  put_all(rows, map.rows);
  put_all(cols, map.cols);
  put(t_continuous, map.t_continuous);
  put(t_theory, map.t_theory);
}

/// The method and, beside it, whether (0,0) is free.
void set_placement(gridmap::PlacementRequest& request, int placement) {
  request.method = static_cast<gridmap::Placement>(placement & ~DYNGRID_FREE_FIRST);
  request.keep_first = (placement & DYNGRID_FREE_FIRST) == 0;
}

gridmap::MappingRequest mapping_request(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method) {
  return {list(speeds, places(nprow, npcol), "speeds"), nprow, npcol, m, n, static_cast<gridmap::MapMethod>(method)};
}

void put_placement(const gridmap::PlacementRequest& request, int* grid, int64_t* moved, int64_t* retained,
                   int64_t* max_in, int64_t* max_out, int64_t* kept, int64_t* in, int64_t* out) {
  const gridmap::PlacementResult result = gridmap::place(request);
  put_all(grid, result.grid);
  put(moved, result.moved_elements);
  put(retained, result.retained_elements);
  put(max_in, result.max_in);
  put(max_out, result.max_out);
  put_all(kept, result.kept);
  put_all(in, result.in);
  put_all(out, result.out);
}

} // namespace

extern "C" {

int dyngrid_topology(int procs, double aspect_p, double aspect_q, int from_nprow, int from_npcol, int* nprow,
                     int* npcol) {
  return guard([&] {
    gridmap::TopologyRequest request;
    request.procs = procs;
    request.aspect_p = aspect_p;
    request.aspect_q = aspect_q;
    request.from_nprow = from_nprow;
    request.from_npcol = from_npcol;
    const gridmap::Topology t = gridmap::choose_topology(request);
    put(nprow, t.nprow);
    put(npcol, t.npcol);
  });
}

int dyngrid_topology_choose(const dyngrid_topology_request* request, int* nprow, int* npcol, double* seconds, char* why,
                            size_t why_size) {
  return guard([&] {
    want(request, "request");
    gridmap::TopologyRequest r;
    r.procs = request->procs;
    r.from_nprow = request->from_nprow;
    r.from_npcol = request->from_npcol;
    r.prefer = static_cast<gridmap::Dominance>(request->prefer);
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
    const gridmap::Topology t = gridmap::choose_topology(r);
    put(nprow, t.nprow);
    put(npcol, t.npcol);
    put(seconds, t.seconds);
    put_text(why, why_size, t.why);
  });
}

int dyngrid_parse_set(const char* text, int capacity, int* values, int* count) {
  return guard([&] {
    want(text, "text");
    const std::vector<int> set = gridmap::parse_set(text);
    if (values && static_cast<std::int64_t>(set.size()) > capacity) {
      put(count, set.size());
      throw Error(Status::shape_mismatch,
                  fmt::format("gridmap: the set '{}' has {} numbers, expected at most {}", text, set.size(), capacity));
    }
    put_all(values, set);
    put(count, set.size());
  });
}

int dyngrid_place(int nprow_from, int npcol_from, int nprow_to, int npcol_to, int64_t m, int64_t n, int64_t mb,
                  int64_t nb, int placement, int* grid, int64_t* moved, int64_t* retained, int64_t* max_in,
                  int64_t* max_out) {
  return guard([&] {
    places(nprow_from, npcol_from);
    places(nprow_to, npcol_to);
    const auto axis = [](std::int64_t length, std::int64_t block, int procs) {
      return block == 0 ? Axis::block(length, procs) : Axis::block_cyclic(length, block, procs);
    };
    gridmap::PlacementRequest request{axis(m, mb, nprow_from), axis(n, nb, npcol_from), axis(m, mb, nprow_to),
                                      axis(n, nb, npcol_to)};
    set_placement(request, placement);
    put_placement(request, grid, moved, retained, max_in, max_out, nullptr, nullptr, nullptr);
  });
}

int dyngrid_place_axes(const dyngrid_axis* rows_from, const dyngrid_axis* cols_from, const dyngrid_axis* rows_to,
                       const dyngrid_axis* cols_to, int placement, const int64_t* stay_bonus, int* grid, int64_t* moved,
                       int64_t* retained, int64_t* max_in, int64_t* max_out, int64_t* kept, int64_t* in, int64_t* out) {
  return guard([&] {
    gridmap::PlacementRequest request{axis_of(rows_from, "rows_from"), axis_of(cols_from, "cols_from"),
                                      axis_of(rows_to, "rows_to"), axis_of(cols_to, "cols_to")};
    set_placement(request, placement);
    if (stay_bonus)
      request.stay_bonus = list(stay_bonus, places(request.rows_from.nprocs, request.cols_from.nprocs), "stay_bonus");
    put_placement(request, grid, moved, retained, max_in, max_out, kept, in, out);
  });
}

int dyngrid_map(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method, int* order, double* r,
                double* c, int64_t* rows, int64_t* cols, double* t_continuous, double* t_theory) {
  return guard([&] {
    put_mapping(gridmap::map_processors(mapping_request(nprow, npcol, speeds, m, n, method)), order, r, c, rows, cols,
                t_continuous, t_theory);
  });
}

int dyngrid_map_in_place(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method, double* r,
                         double* c, int64_t* rows, int64_t* cols, double* t_continuous, double* t_theory) {
  return guard([&] {
    put_mapping(gridmap::map_in_place(mapping_request(nprow, npcol, speeds, m, n, method)), nullptr, r, c, rows, cols,
                t_continuous, t_theory);
  });
}

int dyngrid_natural_blocks(int64_t n, int count, const double* speeds, int64_t* sizes) {
  return guard([&] { put_all(sizes, gridmap::natural_blocks(n, list(speeds, count, "speeds"))); });
}

int dyngrid_factor_order(int64_t blocks, int count, const double* speeds, int* owners) {
  return guard([&] { put_all(owners, gridmap::factor_order(blocks, list(speeds, count, "speeds"))); });
}

int dyngrid_order_grid(const dyngrid_axis* rows_from, const dyngrid_axis* cols_from, int nprow, const int64_t* rows,
                       int npcol, const int64_t* cols, const int* grid, int* row_order, int* col_order,
                       int64_t* retained) {
  return guard([&] {
    const std::int64_t count = places(nprow, npcol);
    const gridmap::GridOrder order =
        gridmap::order_grid({axis_of(rows_from, "rows_from"), axis_of(cols_from, "cols_from"),
                             list(rows, nprow, "rows"), list(cols, npcol, "cols"), list(grid, count, "grid")});
    put_all(row_order, order.row_order);
    put_all(col_order, order.col_order);
    put(retained, order.retained_elements);
  });
}

int dyngrid_select(int nprow, int npcol, const double* grid, int count, const double* available, double tpp,
                   int strategy, int64_t m, int64_t n, int* n_chosen, int* chosen, int* new_nprow, int* new_npcol,
                   int* order, int64_t* rows, int64_t* cols, double* tpp_used, double* t) {
  return guard([&] {
    gridmap::SelectionRequest request;
    request.nprow = nprow;
    request.npcol = npcol;
    request.grid = list(grid, places(nprow, npcol), "grid");
    request.available = list(available, count, "available");
    request.tpp = tpp;
    request.m = m;
    request.n = n;
    request.strategy = static_cast<gridmap::Strategy>(strategy);
    const gridmap::Selection s = gridmap::select_processors(request);
    put(n_chosen, s.chosen.size());
    put_all(chosen, s.chosen);
    put(new_nprow, s.mapping.nprow);
    put(new_npcol, s.mapping.npcol);
    put_mapping(s.mapping, order, nullptr, nullptr, rows, cols, t, nullptr);
    put(tpp_used, s.tpp_used);
  });
}

int dyngrid_balance_plan(const dyngrid_balance_request* request, int* action, int* nprow, int* npcol, int* order,
                         int64_t* rows, int64_t* cols, double* step_now_s, double* step_then_s, double* change_s,
                         int64_t* payoff_steps, char* why, size_t why_size) {
  return guard([&] {
    want(request, "request");
    const dyngrid_balance_request& given = *request;
    gridmap::BalanceRequest r;
    r.grid = {given.nprow, given.npcol};
    const std::int64_t in_grid = places(given.nprow, given.npcol);
    const std::vector<double> speeds = list(given.speeds, given.n_processes, "speeds");
    const std::vector<double> shares =
        given.shares ? list(given.shares, given.n_processes, "shares") : std::vector<double>(speeds.size(), 1.0);
    for (std::size_t k = 0; k < speeds.size(); ++k) {
      gridmap::BalanceProcess p;
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
                  fmt::format("gridmap: balance: steps_left is {}, change_s {}, expected at least 0 (0: not known)",
                              given.steps_left, given.change_s));
    if (given.steps_left > 0) r.steps_left = given.steps_left;
    if (given.change_s > 0)
      r.change = [seconds = given.change_s](const gridmap::BalanceChoice&) {
        return gridmap::Cost{{{"change", seconds}}};
      };
    const gridmap::Balance b = gridmap::decide_balance(r);
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
  guard([&] { steps = gridmap::payoff_point(t_resize, t_old, t_new); });
  return steps;
}

int64_t dyngrid_resize_cost(double t_resize, double t_new) {
  std::int64_t steps = -1;
  guard([&] { steps = gridmap::resize_cost(t_resize, t_new); });
  return steps;
}

} // extern "C"
