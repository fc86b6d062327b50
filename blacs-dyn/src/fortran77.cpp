// SPDX-License-Identifier: BSD-3-Clause
// dyngrid for programs without modules (blacs-dyn/fortran/dyngrid.fh): external routines whose arguments are addresses,
// INFO last. A CHARACTER argument also passes its length, by value after the others, as all compilers do that write
// name_ or name__.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/status.hpp"
#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/calls.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/phases.h"

namespace {

using base::detail::guard;

/// A blank-padded CHARACTER variable as C wants it.
std::string text_of(const char* text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return {text, length};
}

/// The other way round: cut off, or padded with blanks.
void to_fortran(const char* from, char* text, std::size_t length) {
  const std::size_t used = std::min(std::strlen(from), length);
  std::memcpy(text, from, used);
  std::memset(text + used, ' ', length - used);
}

dyngrid_matrix* matrix_of(const std::int64_t* handle) {
  return reinterpret_cast<dyngrid_matrix*>(static_cast<std::intptr_t>(*handle));
}
dyngrid_phase* phase_of(const std::int64_t* handle) {
  return reinterpret_cast<dyngrid_phase*>(static_cast<std::intptr_t>(*handle));
}
std::int64_t handle_of(const dyngrid_matrix* matrix) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(matrix));
}

} // namespace

// defines the external routine, and the spelling of compilers that add a second underscore to a name that has one
#define FORTRAN77(result, name, arguments)                                                                             \
  extern "C" DYNGRID_API result name##_ arguments;                                                                     \
  extern "C" decltype(name##_) name##__ __attribute__((alias(#name "_"), visibility("default")));                      \
  extern "C" result name##_ arguments

FORTRAN77(void, dyngrid_init, (int* info)) {
  *info = dyngrid_init();
}
FORTRAN77(void, dyngrid_init_grid, (const int* nprow, const int* npcol, int* info)) {
  *info = dyngrid_init_grid(*nprow, *npcol);
}
FORTRAN77(void, dyngrid_finalize, (int* info)) {
  *info = dyngrid_finalize();
}
FORTRAN77(int, dyngrid_is_newcomer, ()) {
  return dyngrid_is_newcomer();
}
FORTRAN77(int, dyngrid_is_first, ()) {
  return dyngrid_is_first();
}
FORTRAN77(int, dyngrid_context, ()) {
  return dyngrid_context();
}
FORTRAN77(int, dyngrid_comm, ()) {
  return dyngrid_comm_f();
}
FORTRAN77(int, dyngrid_depth, ()) {
  return dyngrid_depth();
}
FORTRAN77(void, dyngrid_grid, (int* nprow, int* npcol, int* myrow, int* mycol)) {
  dyngrid_grid(nprow, npcol, myrow, mycol);
}
// DYNGRID_RESIZE_POINT: c_api.cpp
FORTRAN77(void, dyngrid_resize_point_at, (const char* name, int* outcome, std::size_t length)) {
  *outcome = dyngrid_resize_point_at(text_of(name, length).c_str());
}
FORTRAN77(void, dyngrid_entry_point, (char* name, std::size_t length)) {
  to_fortran(dyngrid_entry_point(), name, length);
}
FORTRAN77(void, dyngrid_pending, (int* is_pending)) {
  *is_pending = dyngrid_pending();
}
FORTRAN77(void, dyngrid_on_change,
          (dyngrid_change_routine before, dyngrid_change_routine after, void* data, int* info)) {
  *info = dyngrid_on_change(before, after, data);
}
FORTRAN77(void, dyngrid_request, (const int* nprow, const int* npcol, int* info)) {
  *info = dyngrid_request(*nprow, *npcol);
}
FORTRAN77(void, dyngrid_resize, (const int* nprow, const int* npcol, const int* placement, int* outcome)) {
  *outcome = dyngrid_resize(*nprow, *npcol, *placement);
}
FORTRAN77(void, dyngrid_resize_without,
          (const int* nprow, const int* npcol, const int* placement, const char* without, int* outcome,
           std::size_t length)) {
  *outcome = dyngrid_resize_without(*nprow, *npcol, *placement, text_of(without, length).c_str());
}
FORTRAN77(void, dyngrid_request_without,
          (const int* nprow, const int* npcol, const char* without, int* info, std::size_t length)) {
  *info = dyngrid_request_without(*nprow, *npcol, text_of(without, length).c_str());
}
FORTRAN77(void, dyngrid_need, (const char* grids, int* outcome, std::size_t length)) {
  *outcome = dyngrid_need(text_of(grids, length).c_str());
}
FORTRAN77(int, dyngrid_process_id, ()) {
  return dyngrid_process_id();
}
FORTRAN77(void, dyngrid_relayout, (int* outcome)) {
  *outcome = dyngrid_relayout();
}
FORTRAN77(void, dyngrid_matrix_reblock, (const std::int64_t* matrix, const int* mb, const int* nb, int* outcome)) {
  *outcome = dyngrid_matrix_reblock(matrix_of(matrix), *mb, *nb);
}
FORTRAN77(void, dyngrid_pop, (int* outcome)) {
  *outcome = dyngrid_pop();
}
FORTRAN77(void, dyngrid_set_placement, (const int* placement, int* info)) {
  *info = dyngrid_set_placement(*placement);
}
FORTRAN77(void, dyngrid_allow, (const char* grids, int* info, std::size_t length)) {
  *info = dyngrid_allow(text_of(grids, length).c_str());
}
FORTRAN77(void, dyngrid_set_steps, (const int* steps, int* info)) {
  *info = dyngrid_set_steps(*steps);
}
FORTRAN77(void, dyngrid_experiment, (const char* grids, int* info, std::size_t length)) {
  *info = dyngrid_experiment(text_of(grids, length).c_str());
}
FORTRAN77(void, dyngrid_set_processes, (const int* way, int* info)) {
  *info = dyngrid_set_processes(*way);
}
FORTRAN77(void, dyngrid_checkpoint, (const char* path, int* info, std::size_t length)) {
  const std::string file = text_of(path, length); // blank: the environment's
  *info = dyngrid_checkpoint(file.empty() ? nullptr : file.c_str());
}
FORTRAN77(void, dyngrid_restore, (const char* path, int* info, std::size_t length)) {
  const std::string file = text_of(path, length); // blank: the environment's
  *info = dyngrid_restore(file.empty() ? nullptr : file.c_str());
}
FORTRAN77(int, dyngrid_is_restarted, ()) {
  return dyngrid_is_restarted();
}
FORTRAN77(int, dyngrid_was_refused, ()) {
  return dyngrid_was_refused();
}
FORTRAN77(void, dyngrid_set_schedule, (const int* schedule, int* info)) {
  *info = dyngrid_set_schedule(*schedule);
}

FORTRAN77(void, dyngrid_set_balance, (const int* mode, int* info)) {
  *info = dyngrid_set_balance(*mode);
}
FORTRAN77(void, dyngrid_work_begin, (int* info)) {
  *info = dyngrid_work_begin();
}
FORTRAN77(void, dyngrid_work_end, (const double* units, int* info)) {
  *info = dyngrid_work_end(*units);
}
FORTRAN77(void, dyngrid_rebalance, (int* outcome)) {
  *outcome = dyngrid_rebalance();
}
FORTRAN77(void, dyngrid_last_balance,
          (int* counts, double* seconds, double* others, char* why, int* info, std::size_t why_length)) {
  dyngrid_balance_report r{};
  *info = dyngrid_last_balance(&r);
  if (*info != DYNGRID_SUCCESS) return;
  const int count[] = {static_cast<int>(r.number),
                       r.action,
                       r.is_done,
                       r.from_nprow,
                       r.from_npcol,
                       r.to_nprow,
                       r.to_npcol,
                       r.leaves,
                       r.comes,
                       r.measured_steps};
  const double second[] = {r.before_s,          r.after_s,          r.change_s,
                           r.measured_before_s, r.measured_after_s, r.measured_change_s};
  std::copy(std::begin(count), std::end(count), counts);
  std::copy(std::begin(second), std::end(second), seconds);
  others[0] = static_cast<double>(r.moved_elements);
  others[1] = static_cast<double>(r.payoff_steps);
  others[2] = r.steps;
  to_fortran(r.why, why, why_length);
}
/// A row of four whole numbers and a column of seven others for each process, as in dyngrid_load.
FORTRAN77(void, dyngrid_loads, (int* whole, double* other, const int* capacity, int* count, int* info)) {
  *info = guard([&] {
    std::vector<dyngrid_load> loads(static_cast<std::size_t>(std::max(*capacity, 0)));
    const int status = dyngrid_loads(loads.data(), *capacity, count);
    if (status != DYNGRID_SUCCESS) return status;
    for (std::size_t k = 0; k < loads.size() && static_cast<int>(k) < *count; ++k) {
      const dyngrid_load& l = loads[k];
      const int number[] = {l.process, l.row, l.col, l.is_known};
      const double value[] = {l.share, l.speed, l.competing, l.waited, l.throttled, l.stolen, l.held_s};
      std::copy(std::begin(number), std::end(number), whole + 4 * k);
      std::copy(std::begin(value), std::end(value), other + 7 * k);
    }
    return status;
  });
}

FORTRAN77(void, dyngrid_last_resize, (int* counts, double* seconds, double* bytes, int* info)) {
  dyngrid_resize_report r{};
  *info = dyngrid_last_resize(&r);
  if (*info != DYNGRID_SUCCESS) return;
  const int count[] = {r.from_nprow, r.from_npcol, r.to_nprow, r.to_npcol, r.spawned, r.woken, r.released, r.parked};
  const double second[] = {r.spawn_s, r.merge_s, r.plan_s, r.exchange_s, r.total_s};
  std::copy(std::begin(count), std::end(count), counts);
  std::copy(std::begin(second), std::end(second), seconds);
  bytes[0] = static_cast<double>(r.moved_bytes);
  bytes[1] = static_cast<double>(r.kept_bytes);
}

FORTRAN77(void, dyngrid_matrix_create,
          (const char* name, const char* type, const int* m, const int* n, const int* mb, const int* nb,
           std::int64_t* matrix, int* info, std::size_t name_length, std::size_t)) {
  dyngrid_matrix* made = nullptr;
  *info =
      guard([&] { return dyngrid_matrix_create(text_of(name, name_length).c_str(), *type, *m, *n, *mb, *nb, &made); });
  if (*info == DYNGRID_SUCCESS) *matrix = handle_of(made);
}
FORTRAN77(void, dyngrid_matrix_create_weighted,
          (const char* name, const char* type, const int* m, const int* n, const int* mb, const int* nb,
           const int* order, std::int64_t* matrix, int* info, std::size_t name_length, std::size_t)) {
  dyngrid_matrix* made = nullptr;
  *info = guard([&] {
    return dyngrid_matrix_create_weighted(text_of(name, name_length).c_str(), *type, *m, *n, *mb, *nb, *order, &made);
  });
  if (*info == DYNGRID_SUCCESS) *matrix = handle_of(made);
}
FORTRAN77(void, dyngrid_my_range,
          (const std::int64_t* matrix, const char* axis, const int* k, int* first, int* last, int* info, std::size_t)) {
  std::int64_t from = 0, to = 0;
  *info = dyngrid_my_range(matrix_of(matrix), *axis, std::int64_t{*k} - 1, &from, &to);
  if (*info != 1) return;
  *first = static_cast<int>(from + 1); // below n, which is an INTEGER
  *last = static_cast<int>(to);
}
FORTRAN77(void, dyngrid_work_items,
          (const std::int64_t* matrix, const char* axis, const int* first, const int* count, const double* seconds,
           int* info, std::size_t)) {
  *info = dyngrid_work_items(matrix_of(matrix), *axis, std::int64_t{*first} - 1, *count, seconds);
}
FORTRAN77(void, dyngrid_set_speed, (const double* speed, int* info)) {
  *info = dyngrid_set_speed(*speed);
}
FORTRAN77(double, dyngrid_speed, ()) {
  return dyngrid_speed();
}
FORTRAN77(std::int64_t, dyngrid_local, (const std::int64_t* matrix)) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(dyngrid_local(matrix_of(matrix))));
}
FORTRAN77(void, dyngrid_desc, (const std::int64_t* matrix, int* desc)) {
  constexpr int length = 9, block_cyclic = 1;
  const dyngrid_matrix* of = matrix_of(matrix);
  const int* from = dyngrid_desc(of);
  if (!from) return;
  if (from[0] == block_cyclic) {
    std::copy(from, from + length, desc);
    return;
  }
  std::fill(desc, desc + length, -1); // of no type: every routine refuses it
  static bool was_said = false;
  if (!was_said && dyngrid_is_first() != 0)
    std::fprintf(stderr,
                 "dyngrid: DYNGRID_DESC: the matrix does not lie in blocks of one size, so that its descriptor (DTYPE_ "
                 "601) has %d integers and does not fit into %d: all of DESC is -1. Use dyngrid_desc of the Fortran "
                 "module, or create the matrix by DYNGRID_MATRIX_CREATE\n",
                 length + from[4] + from[5], length);
  was_said = true;
}
FORTRAN77(void, dyngrid_matrix_shape, (const std::int64_t* matrix, int* m_loc, int* n_loc, int* lld, int* info)) {
  std::int64_t rows = 0, cols = 0, leading = 0;
  *info = guard([&] {
    const int status = dyngrid_matrix_shape(matrix_of(matrix), &rows, &cols, &leading);
    // they are parts of sizes that are ints themselves
    if (std::max({rows, cols, leading}) > INT_MAX)
      throw base::Error(base::Status::internal, "blacs-dyn: DYNGRID_MATRIX_SHAPE: a size is no INTEGER");
    return status;
  });
  if (*info != DYNGRID_SUCCESS) return;
  *m_loc = static_cast<int>(rows);
  *n_loc = static_cast<int>(cols);
  *lld = static_cast<int>(leading);
}
FORTRAN77(void, dyngrid_matrix_find, (const char* name, std::int64_t* matrix, int* info, std::size_t name_length)) {
  *info = guard([&] {
    const std::string wanted = text_of(name, name_length);
    *matrix = handle_of(dyngrid_matrix_find(wanted.c_str()));
    if (*matrix == 0)
      throw base::Error(base::Status::not_found,
                        fmt::format("blacs-dyn: DYNGRID_MATRIX_FIND: there is no matrix \"{}\"", wanted));
  });
}
FORTRAN77(void, dyngrid_matrix_free, (std::int64_t * matrix, int* info)) {
  dyngrid_matrix* freed = matrix_of(matrix);
  *info = dyngrid_matrix_free(&freed);
  if (*info == DYNGRID_SUCCESS) *matrix = 0;
}

FORTRAN77(void, dyngrid_copy, (const std::int64_t* from, const std::int64_t* to, int* info)) {
  *info = dyngrid_copy(matrix_of(from), matrix_of(to));
}

FORTRAN77(void, dyngrid_phase_create, (const char* name, std::int64_t* phase, int* info, std::size_t name_length)) {
  dyngrid_phase* made = nullptr;
  *info = guard([&] { return dyngrid_phase_create(text_of(name, name_length).c_str(), &made); });
  if (*info == DYNGRID_SUCCESS) *phase = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(made));
}
FORTRAN77(void, dyngrid_phase_uses,
          (const std::int64_t* phase, const std::int64_t* matrix, const int* use, int* info)) {
  *info = dyngrid_phase_uses(phase_of(phase), matrix_of(matrix), *use);
}
FORTRAN77(void, dyngrid_phase_layout,
          (const std::int64_t* phase, const std::int64_t* matrix, const int* mb, const int* nb, int* info)) {
  *info = dyngrid_phase_layout(phase_of(phase), matrix_of(matrix), *mb, *nb);
}
FORTRAN77(void, dyngrid_phase_layout_weighted,
          (const std::int64_t* phase, const std::int64_t* matrix, const int* mb, const int* nb, const int* order,
           int* info)) {
  *info = dyngrid_phase_layout_weighted(phase_of(phase), matrix_of(matrix), *mb, *nb, *order);
}
FORTRAN77(void, dyngrid_phase_begin, (const std::int64_t* phase, int* info)) {
  *info = dyngrid_phase_begin(phase_of(phase));
}
FORTRAN77(void, dyngrid_phase_end, (const std::int64_t* phase, int* info)) {
  *info = dyngrid_phase_end(phase_of(phase));
}
FORTRAN77(void, dyngrid_phases_plan, (const int* cycles, int* info)) {
  *info = dyngrid_phases_plan(*cycles);
}
FORTRAN77(void, dyngrid_run_on,
          (const int* nprow, const int* npcol, const int* nb, const char* routine, int* info, std::size_t length)) {
  *info = guard([&] { return dyngrid_run_on(*nprow, *npcol, *nb, text_of(routine, length).c_str()); });
}
FORTRAN77(void, dyngrid_run_on_begin,
          (const int* nprow, const int* npcol, const int* nb, const char* routines, int* info, std::size_t length)) {
  *info = guard([&] { return dyngrid_run_on_begin(*nprow, *npcol, *nb, text_of(routines, length).c_str()); });
}
FORTRAN77(void, dyngrid_run_on_end, (int* info)) {
  *info = dyngrid_run_on_end();
}
FORTRAN77(void, dyngrid_matrix_written, (const std::int64_t* matrix, int* info)) {
  *info = dyngrid_matrix_written(matrix_of(matrix));
}

FORTRAN77(void, dyngrid_lu, (const std::int64_t* matrix, const int* options, int* pivots, int* info, int* outcome)) {
  *outcome = dyngrid_lu(matrix_of(matrix), *options, pivots, info);
}
FORTRAN77(void, dyngrid_cholesky,
          (const std::int64_t* matrix, const char* uplo, const int* options, int* info, int* outcome, std::size_t)) {
  *outcome = dyngrid_cholesky(matrix_of(matrix), *uplo, *options, info);
}
FORTRAN77(void, dyngrid_lu_pivots, (const std::int64_t* matrix, const int* pivots, int* ipiv, int* info)) {
  *info = dyngrid_lu_pivots(matrix_of(matrix), pivots, ipiv);
}

FORTRAN77(void, dyngrid_share,
          (const char* name, void* variable, const int* bytes, int* info, std::size_t name_length)) {
  *info = guard([&] {
    if (*bytes < 0)
      throw base::Error(base::Status::bad_argument,
                        fmt::format("blacs-dyn: DYNGRID_SHARE: bytes is {}, expected at least 0", *bytes));
    return dyngrid_share(text_of(name, name_length).c_str(), variable, static_cast<std::size_t>(*bytes));
  });
}
FORTRAN77(void, dyngrid_unshare, (const char* name, int* info, std::size_t name_length)) {
  *info = guard([&] { return dyngrid_unshare(text_of(name, name_length).c_str()); });
}
FORTRAN77(void, dyngrid_message, (char* text, std::size_t text_length)) {
  to_fortran(dyngrid_last_message(), text, text_length);
}
