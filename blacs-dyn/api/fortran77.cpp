// SPDX-License-Identifier: BSD-3-Clause
// dyngrid for programs without modules (dyngrid.fh): external routines whose arguments are addresses,
// INFO last. A CHARACTER argument also passes its length, by value after the others, as all compilers do that write
// name_ or name__. Those that only pass their arguments on are written by cmake/fortran_interface.py when dyngrid is
// built (fortran77.inc).
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "base/mpi/agree.hpp"
#include "base/status.hpp"
#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/calls.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/layout.h"
#include "dyngrid/phases.h"
#include "dyngrid/pool.h"

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
dyngrid_borders* borders_of(const std::int64_t* handle) {
  return reinterpret_cast<dyngrid_borders*>(static_cast<std::intptr_t>(*handle));
}
std::int64_t handle_of(const void* object) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(object));
}

} // namespace

// defines the external routine, and the spelling of compilers that add a second underscore to a name that has one
#define FORTRAN77(result, name, arguments)                                                                             \
  extern "C" DYNGRID_API result name##_ arguments;                                                                     \
  extern "C" decltype(name##_) name##__ __attribute__((alias(#name "_"), visibility("default")));                      \
  extern "C" result name##_ arguments

// Where an allocatable of the program lies: for the module alone, which declares them with the allocatable as argument.
// Compilers pass the address of its descriptor.
#define ADDRESS_OF_ALLOCATABLE(letter)                                                                                 \
  extern "C"                                                                                                           \
      __attribute__((visibility("hidden"))) void dyngrid_allocatable_##letter##_(void* descriptor, void** address) {   \
    *address = descriptor;                                                                                             \
  }
ADDRESS_OF_ALLOCATABLE(s)
ADDRESS_OF_ALLOCATABLE(d)
ADDRESS_OF_ALLOCATABLE(c)
ADDRESS_OF_ALLOCATABLE(z)
ADDRESS_OF_ALLOCATABLE(i)

FORTRAN77(void, dyngrid_pool, (char* name, std::size_t length)) {
  to_fortran(dyngrid_pool(), name, length);
}
FORTRAN77(void, dyngrid_grid, (int* nprow, int* npcol, int* myrow, int* mycol)) {
  dyngrid_grid(nprow, npcol, myrow, mycol);
}
// DYNGRID_RESIZE_POINT: c_api.cpp
FORTRAN77(void, dyngrid_entry_point, (char* name, std::size_t length)) {
  to_fortran(dyngrid_entry_point(), name, length);
}
FORTRAN77(void, dyngrid_on_change,
          (dyngrid_change_routine before, dyngrid_change_routine after, void* data, int* info)) {
  *info = dyngrid_on_change(before, after, data);
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

FORTRAN77(void, dyngrid_my_range,
          (const std::int64_t* matrix, const char* axis, const int* k, int* first, int* last, int* info, std::size_t)) {
  std::int64_t from = 0, to = 0;
  *info = dyngrid_my_range(matrix_of(matrix), *axis, std::int64_t{*k} - 1, &from, &to);
  if (*info != 1) return;
  *first = static_cast<int>(from + 1); // below n, which is an INTEGER
  *last = static_cast<int>(to);
}
FORTRAN77(void, dyngrid_field_create,
          (const char* name, const char* type, const int* dims, const int* extents, const int* blocks,
           const int* process_dims, std::int64_t* field, int* info, std::size_t name_length, std::size_t)) {
  dyngrid_matrix* made = nullptr;
  *info = guard([&] {
    const int count = std::clamp<int>(*dims, 0, DYNGRID_FIELD_DIMS); // another number is refused with its value
    const std::vector<std::int64_t> sizes(extents, extents + count), in_turn(blocks, blocks + count);
    return dyngrid_field_create(text_of(name, name_length).c_str(), *type, *dims, sizes.data(), in_turn.data(),
                                process_dims, &made);
  });
  if (*info == DYNGRID_SUCCESS) *field = handle_of(made);
}
FORTRAN77(void, dyngrid_field_shape,
          (const std::int64_t* field, int* local_extents, int* parts, int* coordinates, int* dims)) {
  std::int64_t extents[DYNGRID_FIELD_DIMS] = {};
  *dims = dyngrid_field_shape(matrix_of(field), extents, parts, coordinates);
  for (int d = 0; d < *dims; ++d) local_extents[d] = static_cast<int>(extents[d]); // parts of what are ints themselves
}
FORTRAN77(void, dyngrid_field_range,
          (const std::int64_t* field, const int* dim, const int* k, int* first, int* last, int* info)) {
  std::int64_t from = 0, to = 0;
  *info = dyngrid_field_range(matrix_of(field), *dim - 1, std::int64_t{*k} - 1, &from, &to);
  if (*info != 1) return;
  *first = static_cast<int>(from + 1); // below the extent, which is an INTEGER
  *last = static_cast<int>(to);
}
FORTRAN77(void, dyngrid_borders_create,
          (const std::int64_t* matrix, const int* lo, const int* hi, const int* periodic, const int* neighbours,
           const void* boundary, std::int64_t* borders, int* info)) {
  dyngrid_borders* made = nullptr;
  *info = dyngrid_borders_create(matrix_of(matrix), lo, hi, periodic, *neighbours, boundary, &made);
  if (*info == DYNGRID_SUCCESS) *borders = handle_of(made);
}
FORTRAN77(void, dyngrid_borders_update,
          (const std::int64_t* borders, std::int64_t* address, int* ghosted_extents, int* info)) {
  void* ghosted = nullptr;
  std::int64_t extents[DYNGRID_FIELD_DIMS] = {};
  int dims = 0;
  *info = guard([&] {
    const int status = dyngrid_borders_update(borders_of(borders), &ghosted);
    if (status != DYNGRID_SUCCESS || !ghosted) return status;
    dims = dyngrid_halo_extents(dyngrid_borders_halo(borders_of(borders)), extents);
    base::together(dyngrid_comm(), [&] { // those of other processes may fit
      const std::int64_t most = *std::max_element(std::begin(extents), std::end(extents));
      if (most > INT_MAX)
        throw base::Error(base::Status::unsupported,
                          "blacs-dyn: DYNGRID_BORDERS_UPDATE: an extent of the array with borders is {}, expected at "
                          "most {}, the largest INTEGER. Use dyngrid_borders_update of the Fortran module",
                          most, INT_MAX);
    });
    return status;
  });
  if (*info != DYNGRID_SUCCESS) return;
  *address = handle_of(ghosted);
  for (int d = 0; d < dims; ++d) ghosted_extents[d] = static_cast<int>(extents[d]);
}
FORTRAN77(void, dyngrid_work_items,
          (const std::int64_t* matrix, const char* axis, const int* first, const int* count, const double* seconds,
           int* info, std::size_t)) {
  *info = dyngrid_work_items(matrix_of(matrix), *axis, std::int64_t{*first} - 1, *count, seconds);
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
  if (from && from[0] == block_cyclic) {
    std::copy(from, from + length, desc);
    return;
  }
  std::fill(desc, desc + length, -1); // of no type: every routine refuses it
  if (!from) return;
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
      throw base::Error(base::Status::not_found, "blacs-dyn: DYNGRID_MATRIX_FIND: there is no matrix \"{}\"", wanted);
  });
}

FORTRAN77(void, dyngrid_share,
          (const char* name, void* variable, const int* bytes, int* info, std::size_t name_length)) {
  *info = guard([&] {
    if (*bytes < 0)
      throw base::Error(base::Status::bad_argument, "blacs-dyn: DYNGRID_SHARE: bytes is {}, expected at least 0",
                        *bytes);
    return dyngrid_share(text_of(name, name_length).c_str(), variable, static_cast<std::size_t>(*bytes));
  });
}
FORTRAN77(void, dyngrid_message, (char* text, std::size_t text_length)) {
  to_fortran(dyngrid_last_message(), text, text_length);
}

#include <fortran77.inc> // in the build folder
