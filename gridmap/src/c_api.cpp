// SPDX-License-Identifier: BSD-3-Clause
// The C interface: arguments checked for null and turned into the C++ requests, one guarded call, outputs on
// success only.
#include "base/status.hpp"
#include "dyngrid/gridmap.h"
#include "gridmap/c_arguments.hpp"
#include "gridmap/dealing.hpp"
#include "gridmap/mapping.hpp"
#include "gridmap/placement.hpp"
#include "gridmap/selection.hpp"

namespace {
using namespace gridmap::c_arguments;
using base::detail::guard;
using gridmap::Axis;

Axis axis_of(const dyngrid_axis* axis, const char* name) {
  want(axis, name);
  return {axis->n, list(axis->sizes, axis->n_sizes, name), axis->src, axis->nprocs};
}

void put_mapping(const gridmap::Mapping& map, int* order, double* r, double* c, int64_t* rows, int64_t* cols) {
  put_all(order, map.order);
  put_all(r, map.r);
  put_all(c, map.c);
  put_all(rows, map.rows);
  put_all(cols, map.cols);
}

/// The method and, beside it, whether (0,0) is free.
void set_placement(gridmap::PlacementRequest& request, int placement) {
  request.method = static_cast<gridmap::Placement>(placement & ~DYNGRID_FREE_FIRST);
  request.keep_first = (placement & DYNGRID_FREE_FIRST) == 0;
}

gridmap::MappingRequest mapping_request(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method) {
  return {list(speeds, places(nprow, npcol), "speeds"), nprow, npcol, m, n, static_cast<gridmap::MapMethod>(method)};
}

void put_placement(const gridmap::PlacementResult& result, int* grid, int64_t* moved, int64_t* retained,
                   int64_t* max_in, int64_t* max_out) {
  put_all(grid, result.grid);
  put(moved, result.moved_elements);
  put(retained, result.retained_elements);
  put(max_in, result.max_in);
  put(max_out, result.max_out);
}

} // namespace

extern "C" {

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
    put_placement(gridmap::place(request), grid, moved, retained, max_in, max_out);
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
    const gridmap::PlacementResult result = gridmap::place(request);
    put_placement(result, grid, moved, retained, max_in, max_out);
    put_all(kept, result.kept);
    put_all(in, result.in);
    put_all(out, result.out);
  });
}

int dyngrid_map(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method, int* order, double* r,
                double* c, int64_t* rows, int64_t* cols, double* t_continuous, double* t_theory) {
  return guard([&] {
    const gridmap::Mapping map = gridmap::map_processors(mapping_request(nprow, npcol, speeds, m, n, method));
    put_mapping(map, order, r, c, rows, cols);
    put(t_continuous, map.t_continuous);
    put(t_theory, map.t_theory);
  });
}

int dyngrid_map_in_place(int nprow, int npcol, const double* speeds, int64_t m, int64_t n, int method, double* r,
                         double* c, int64_t* rows, int64_t* cols, double* t_continuous, double* t_theory) {
  return guard([&] {
    const gridmap::Mapping map = gridmap::map_in_place(mapping_request(nprow, npcol, speeds, m, n, method));
    put_mapping(map, nullptr, r, c, rows, cols);
    put(t_continuous, map.t_continuous);
    put(t_theory, map.t_theory);
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
    put_mapping(s.mapping, order, nullptr, nullptr, rows, cols);
    put(t, s.mapping.t_continuous);
    put(tpp_used, s.tpp_used);
  });
}

} // extern "C"
