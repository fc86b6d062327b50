// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

#include "base/mpi/blacs.hpp"
#include "base/status.hpp"
#include "desc/handles.hpp"
#include "dyngrid/redist.h"
#include "redist/blacs.hpp"
#include "redist/descriptor.hpp"

namespace {

using base::Error;
using base::Status;
using base::detail::guard;
using base::detail::not_null;
using gridmap::Axis;
using redist::Descriptor;
using redist::Grid;
using redist::GridPosition;
using redist::Layout;

void set(int* info, int value) {
  if (info != nullptr) *info = value;
}

/// One axis of a descriptor. The LLD_ is not looked at: these maps need no local array.
Axis asked_axis(const int* desc, char which, int nprocs) {
  not_null(desc, "redist: descriptor");
  if (which != 'R' && which != 'C' && which != 'r' && which != 'c')
    throw Error(Status::bad_argument, "redist: axis is '{}', expected R or C", which);
  if (nprocs < 1) throw Error(Status::bad_argument, "redist: nprocs is {}, expected at least 1", nprocs);
  const bool rows = which == 'R' || which == 'r';
  // The other axis may lie over any number of processes, so the grid is unknown to the check.
  const Descriptor descriptor = redist::read_descriptor(desc, 0, {});
  Axis axis = rows ? descriptor.rows : descriptor.cols;
  axis.nprocs = nprocs;
  axis.validate();
  return axis;
}

int in_range(int i, std::int64_t n, const char* what) {
  if (i < 1 || i > n) throw Error(Status::bad_argument, "redist: {} is {}, expected 1 .. {}", what, i, n);
  return i;
}

Grid grid_of(int nprow, int npcol, const int* ranks) {
  if (nprow < 1 || npcol < 1)
    throw Error(Status::bad_argument, "redist: grid is {}x{}, expected at least 1x1", nprow, npcol);
  if (std::int64_t{nprow} * npcol > INT_MAX)
    throw Error(Status::bad_argument, "redist: grid is {}x{}, expected at most {} processes", nprow, npcol, INT_MAX);
  Grid grid = Grid::row_major(nprow, npcol);
  if (ranks != nullptr) std::copy(ranks, ranks + grid.ranks.size(), grid.ranks.begin());
  return grid;
}

Axis block_list(std::int64_t n, int blocks, const std::int64_t* sizes, const int* owners, int nprocs) {
  if (blocks < 1 || blocks > Axis::most_sizes)
    throw Error(Status::bad_argument, "redist: block list has {} blocks, expected 1 .. {}", blocks, Axis::most_sizes);
  not_null(sizes, "redist: list of block sizes");
  not_null(owners, "redist: list of block owners");
  return {n, {sizes, sizes + blocks}, 0, nprocs, {owners, owners + blocks}};
}

int create(dyngrid_layout** out, Layout layout) {
  layout.validate("the");
  *out = new dyngrid_layout{std::move(layout)};
  return DYNGRID_SUCCESS;
}

redist::PlanOptions options_of(char transpose, int schedule, int element_bytes) {
  redist::PlanOptions options;
  options.op = redist::op_of(transpose);
  if (schedule < DYNGRID_SCHEDULE_AUTO || schedule > DYNGRID_SCHEDULE_ASYNC)
    throw Error(Status::bad_argument, "redist: schedule is {}, expected 0 .. 4", schedule);
  if (element_bytes < 1)
    throw Error(Status::bad_argument, "redist: elements have {} bytes, expected at least 1", element_bytes);
  options.schedule = static_cast<redist::Schedule>(schedule);
  options.element_bytes = element_bytes;
  return options;
}

void make_plan(const dyngrid_layout* from, const dyngrid_layout* to, const redist::PlanOptions& options,
               dyngrid_plan** plan) {
  not_null(from, "redist: source layout");
  not_null(to, "redist: target layout");
  not_null(plan, "redist: place for the plan");
  *plan = new dyngrid_plan(redist::Plan(from->layout, to->layout, options), options.element_bytes);
}

} // namespace

int dyngrid_desc_init(int* desc, int m, int n, int n_row_sizes, const int* row_sizes, int n_col_sizes,
                      const int* col_sizes, int rsrc, int csrc, int ctxt, int lld, int* info) {
  return guard([&] {
    const auto refuse = [info](int argument, Status status) {
      set(info, -argument);
      throw Error(status, "redist: argument {} of dyngrid_desc_init is not valid", argument);
    };
    if (desc == nullptr) refuse(1, Status::null_pointer);
    if (m < 0) refuse(2, Status::bad_descriptor);
    if (n < 0) refuse(3, Status::bad_descriptor);
    if (n_row_sizes < 1 || n_row_sizes > Axis::most_sizes) refuse(4, Status::bad_descriptor);
    if (row_sizes == nullptr) refuse(5, Status::null_pointer);
    if (n_col_sizes < 1 || n_col_sizes > Axis::most_sizes) refuse(6, Status::bad_descriptor);
    if (col_sizes == nullptr) refuse(7, Status::null_pointer);
    std::vector<int> made{DYNGRID_DTYPE, ctxt, m, n, n_row_sizes, n_col_sizes, rsrc, csrc, lld};
    made.insert(made.end(), row_sizes, row_sizes + n_row_sizes);
    made.insert(made.end(), col_sizes, col_sizes + n_col_sizes);
    GridPosition grid;
    if (ctxt >= 0) Cblacs_gridinfo(ctxt, &grid.nprow, &grid.npcol, &grid.myrow, &grid.mycol);
    if (ctxt < -1 || (ctxt >= 0 && grid.nprow < 1)) refuse(10, Status::bad_descriptor);
    const int entry = -redist::check_descriptor(made.data(), made.size(), grid, 0);
    if (entry != 0) {
      const int row_end = DYNGRID_DESC_FIXED + n_row_sizes;
      refuse(entry == 7 ? 8 : entry == 8 ? 9 : entry == 9 ? 11 : entry <= row_end ? 5 : 7, Status::bad_descriptor);
    }
    std::copy(made.begin(), made.end(), desc);
    set(info, 0);
  });
}

int dyngrid_desc_check(const int* desc, int length, int argument, int nprow, int npcol, int myrow, int mycol,
                       int* info) {
  return guard([&] {
    if (desc == nullptr) {
      set(info, -argument);
      throw Error(Status::null_pointer, "redist: descriptor (argument {}) is null", argument);
    }
    const std::size_t known = length > 0 ? static_cast<std::size_t>(length) : 0;
    const int found = redist::check_descriptor(desc, known, {nprow, npcol, myrow, mycol}, argument);
    set(info, found);
    if (found != 0) redist::read_descriptor(desc, known, {nprow, npcol, myrow, mycol}); // throws in words
  });
}

int dyngrid_desc_numroc(const int* desc, char axis, int position, int nprocs) {
  return guard([&]() -> int {
    const Axis one = asked_axis(desc, axis, nprocs);
    if (position < 0 || position >= nprocs)
      throw Error(Status::bad_argument, "redist: position is {}, expected 0 .. {}", position, nprocs - 1);
    return static_cast<int>(one.local_size(position));
  });
}

int dyngrid_desc_indxg2p(const int* desc, char axis, int i_glo, int nprocs) {
  return guard([&]() -> int {
    const Axis one = asked_axis(desc, axis, nprocs);
    return one.owner(in_range(i_glo, one.n, "global index") - 1);
  });
}

int dyngrid_desc_indxg2l(const int* desc, char axis, int i_glo, int nprocs) {
  return guard([&]() -> int {
    const Axis one = asked_axis(desc, axis, nprocs);
    return static_cast<int>(one.to_local(in_range(i_glo, one.n, "global index") - 1)) + 1;
  });
}

int dyngrid_desc_indxl2g(const int* desc, char axis, int i_loc, int position, int nprocs) {
  return guard([&]() -> int {
    const Axis one = asked_axis(desc, axis, nprocs);
    if (position < 0 || position >= nprocs)
      throw Error(Status::bad_argument, "redist: position is {}, expected 0 .. {}", position, nprocs - 1);
    return static_cast<int>(one.to_global(in_range(i_loc, one.local_size(position), "local index") - 1, position)) + 1;
  });
}

int dyngrid_layout_create(const int* desc, int nprow, int npcol, const int* ranks, dyngrid_layout** layout) {
  return guard([&] {
    not_null(layout, "redist: place for the layout");
    not_null(desc, "redist: descriptor");
    Grid grid = grid_of(nprow, npcol, ranks);
    // The caller's LLD_ belongs to one process; the layout is the same on all.
    const Descriptor descriptor = redist::read_descriptor(desc, 0, {nprow, npcol, -1, -1});
    return create(layout, {descriptor.rows, descriptor.cols, std::move(grid)});
  });
}

int dyngrid_layout_create_block_list(int64_t m, int64_t n, int n_row_blocks, const int64_t* row_sizes,
                                     const int* row_owners, int n_col_blocks, const int64_t* col_sizes,
                                     const int* col_owners, int nprow, int npcol, const int* ranks,
                                     dyngrid_layout** layout) {
  return guard([&] {
    not_null(layout, "redist: place for the layout");
    Layout made;
    made.grid = grid_of(nprow, npcol, ranks);
    made.rows = block_list(m, n_row_blocks, row_sizes, row_owners, nprow);
    made.cols = block_list(n, n_col_blocks, col_sizes, col_owners, npcol);
    return create(layout, std::move(made));
  });
}

int dyngrid_layout_create_replicated(int64_t m, int64_t n, int nprow, int npcol, const int* ranks,
                                     dyngrid_layout** layout) {
  return guard([&] {
    not_null(layout, "redist: place for the layout");
    return create(layout, Layout::replicated_on(grid_of(nprow, npcol, ranks), m, n));
  });
}

int dyngrid_layout_local_size(const dyngrid_layout* layout, int rank, int64_t* rows, int64_t* cols) {
  return guard([&] {
    const redist::LocalSize size = not_null(layout, "redist: layout").layout.local_size_of(rank);
    if (rows != nullptr) *rows = size.rows;
    if (cols != nullptr) *cols = size.cols;
  });
}

int dyngrid_layout_destroy(dyngrid_layout** layout) {
  return guard([&] { delete std::exchange(not_null(layout, "redist: address of the layout"), nullptr); });
}

int dyngrid_plan_create(const dyngrid_layout* from, const dyngrid_layout* to, char transpose, int schedule,
                        int element_bytes, dyngrid_plan** plan) {
  return guard([&] { make_plan(from, to, options_of(transpose, schedule, element_bytes), plan); });
}

int dyngrid_plan_create_window(const dyngrid_layout* from, int64_t i_from, int64_t j_from, const dyngrid_layout* to,
                               int64_t i_to, int64_t j_to, int64_t m, int64_t n, char transpose, int schedule,
                               int element_bytes, dyngrid_plan** plan) {
  return guard([&] {
    if (m < 0 || n < 0) throw Error(Status::bad_argument, "redist: window is {} x {}, expected at least 0 x 0", m, n);
    redist::PlanOptions options = options_of(transpose, schedule, element_bytes);
    const bool turned = options.op != redist::Op::none;
    options.from = {i_from, j_from, turned ? n : m, turned ? m : n};
    options.to = {i_to, j_to, m, n};
    make_plan(from, to, options, plan);
  });
}

int dyngrid_plan_get_figures(const dyngrid_plan* plan, dyngrid_plan_figures* figures) {
  return guard([&] {
    const redist::Plan& of = not_null(plan, "redist: plan").plan;
    not_null(figures, "redist: place for the figures");
    const redist::PlanTotals totals = of.totals();
    const redist::ScheduleFigures schedule = of.figures();
    *figures = {static_cast<int>(schedule.schedule),
                totals.messages,
                schedule.steps,
                totals.moved_elements,
                totals.kept_elements,
                totals.max_out,
                totals.max_in,
                totals.lower_bound(),
                schedule.sum_of_largest,
                of.predicted_seconds({}, plan->element_bytes)};
  });
}

int dyngrid_plan_of_rank(const dyngrid_plan* plan, int rank, int64_t* sends, int64_t* recvs, int64_t* out, int64_t* in,
                         int64_t* kept) {
  return guard([&] {
    const redist::RankPlan& mine = not_null(plan, "redist: plan").of_rank(rank);
    const auto elements = [](const std::vector<redist::Message>& messages) {
      std::int64_t sum = 0;
      for (const redist::Message& message : messages) sum += message.elements();
      return sum;
    };
    if (sends != nullptr) *sends = static_cast<std::int64_t>(mine.sends.size());
    if (recvs != nullptr) *recvs = static_cast<std::int64_t>(mine.recvs.size());
    if (out != nullptr) *out = elements(mine.sends);
    if (in != nullptr) *in = elements(mine.recvs);
    if (kept != nullptr) *kept = elements(mine.keeps);
  });
}

int dyngrid_plan_describe(const dyngrid_plan* plan, const char** text) {
  return guard([&] { not_null(text, "redist: place for the text") = not_null(plan, "redist: plan").text.c_str(); });
}

int dyngrid_plan_destroy(dyngrid_plan** plan) {
  return guard([&] { delete std::exchange(not_null(plan, "redist: address of the plan"), nullptr); });
}
