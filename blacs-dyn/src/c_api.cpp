// SPDX-License-Identifier: BSD-3-Clause
#define DYNGRID_NO_MACROS
#include "dyngrid.h"

#include <algorithm>
#include <map>

#include "session.hpp"

namespace {

using base::detail::guard;
using blacs_dyn::Place;
using blacs_dyn::Session;
using blacs_dyn::Shape;

Session& session() {
  return Session::instance();
}

int index_in_grid() {
  int rank = -1;
  if (session().is_active() && session().grid_comm() != MPI_COMM_NULL) MPI_Comm_rank(session().grid_comm(), &rank);
  return rank;
}

const Place& call_at(const void* return_address) {
  static std::map<const void*, Place> known;
  const auto at = known.find(return_address);
  return at != known.end() ? at->second : known.emplace(return_address, Place::of_call(return_address)).first->second;
}

#ifdef OPEN_MPI
constexpr MPI_Fint null_comm_f = 2;
#else
const auto null_comm_f = static_cast<MPI_Fint>(MPI_COMM_NULL);
#endif

} // namespace

extern "C" {

int dyngrid_init(void) {
  return guard([] { session().init(std::nullopt); });
}

int dyngrid_init_grid(int nprow, int npcol) {
  return guard([&] { session().init(Shape{nprow, npcol}); });
}

int dyngrid_finalize(void) {
  return guard([] { session().finalize(); });
}

int dyngrid_is_newcomer(void) {
  return session().is_active() && session().is_newcomer() ? 1 : 0;
}

int dyngrid_is_first(void) {
  return index_in_grid() == 0 ? 1 : 0;
}

int dyngrid_context(void) {
  return session().is_active() ? session().context() : -1;
}

int dyngrid_grid(int* nprow, int* npcol, int* myrow, int* mycol) {
  const int rank = index_in_grid();
  const Shape shape = rank >= 0 ? session().processes().roster().grid.shape : Shape{-1, -1};
  if (nprow) *nprow = shape.nprow;
  if (npcol) *npcol = shape.npcol;
  if (myrow) *myrow = rank >= 0 ? rank / shape.npcol : -1;
  if (mycol) *mycol = rank >= 0 ? rank % shape.npcol : -1;
  return DYNGRID_SUCCESS;
}

MPI_Comm dyngrid_comm(void) {
  return session().is_active() ? session().grid_comm() : MPI_COMM_NULL;
}

MPI_Fint dyngrid_comm_f(void) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  // outside MPI a handle cannot be translated; Open MPI's and MPICH's null communicator is known all the same
  return initialized && !finalized ? MPI_Comm_c2f(dyngrid_comm()) : null_comm_f;
}

int dyngrid_resize_point(void) {
  const void* caller = __builtin_return_address(0);
  return guard([&] { return session().resize_point(call_at(caller)); });
}

int dyngrid_resize_point_in(const char* file, int line) {
  static std::map<std::pair<const char*, int>, Place> known;
  return guard([&] {
    const auto at = known.find({file, line});
    return session().resize_point(
        at != known.end() ? at->second
                          : known.emplace(std::pair(file, line), Place::in_source(file, line)).first->second);
  });
}

int dyngrid_resize_point_at(const char* name) {
  return guard([&] { return session().resize_point_at(name); });
}

const char* dyngrid_entry_point(void) {
  return session().entry_point();
}

int dyngrid_pending(void) {
  return guard([] { return session().pending(); });
}

int dyngrid_on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data) {
  return guard([&] { session().on_change(before, after, data); });
}

// Fortran, with modules and without: the call that counts is the one in the program
DYNGRID_API void dyngrid_resize_point_(int* outcome) {
  const void* caller = __builtin_return_address(0);
  *outcome = guard([&] { return session().resize_point(call_at(caller)); });
}
DYNGRID_API void dyngrid_resize_point__(int* outcome) __attribute__((alias("dyngrid_resize_point_")));

int dyngrid_request(int nprow, int npcol) {
  return guard([&] { session().request({nprow, npcol}); });
}

int dyngrid_allow(const char* grids) {
  return guard([&] { session().allow(grids); });
}

int dyngrid_set_steps(int64_t steps) {
  return guard([&] { session().set_steps(steps); });
}

int dyngrid_experiment(const char* grids) {
  return guard([&] { session().experiment(grids); });
}

const char* dyngrid_job(void) {
  return session().is_active() ? session().job_name() : "";
}

int dyngrid_resize(int nprow, int npcol, int placement) {
  return guard([&] { return session().resize({nprow, npcol}, static_cast<gridmap::Placement>(placement)); });
}

int dyngrid_pop(void) {
  return guard([] { return session().pop(); });
}

int dyngrid_depth(void) {
  return index_in_grid() >= 0 ? static_cast<int>(session().processes().roster().levels.size()) : 0;
}

int dyngrid_set_placement(int placement) {
  return guard([&] { session().set_placement(static_cast<gridmap::Placement>(placement)); });
}

int dyngrid_set_schedule(int schedule) {
  return guard([&] { session().set_schedule(schedule); });
}

int dyngrid_set_processes(int way) {
  return guard([&] { session().set_processes(way); });
}

int dyngrid_last_resize(dyngrid_resize_report* report) {
  return guard([&] {
    if (!report) throw base::Error(base::Status::null_pointer, "blacs-dyn: dyngrid_last_resize: report is null");
    *report = session().report();
  });
}

int dyngrid_matrix_create(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                          dyngrid_matrix** matrix) {
  return guard([&] {
    dyngrid_matrix* made = session().create_matrix(name, type, {'R', m, mb}, {'C', n, nb}, matrix != nullptr);
    *matrix = made;
  });
}

int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule,
                             void* context, dyngrid_matrix** matrix) {
  return guard([&] {
    if (!rule) throw base::Error(base::Status::null_pointer, "blacs-dyn: dyngrid_matrix_create_by: rule is null");
    dyngrid_matrix* made =
        session().create_matrix(name, type, {'R', m, 1, rule, context}, {'C', n, 1, rule, context}, matrix != nullptr);
    *matrix = made;
  });
}

int64_t dyngrid_block_rule(void*, char axis, int64_t length, int nprow, int npcol, int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  if (length < 0 || nprocs < 1) return -1;
  if (sizes) *sizes = std::max<std::int64_t>(1, length / nprocs + (length % nprocs != 0));
  return 1;
}

void* dyngrid_matrix_local(const dyngrid_matrix* matrix) {
  return matrix ? matrix->local.data() : nullptr;
}
void* dyngrid_local(const dyngrid_matrix* matrix) {
  return dyngrid_matrix_local(matrix);
}
const int* dyngrid_matrix_desc(const dyngrid_matrix* matrix) {
  return matrix ? matrix->desc.data() : nullptr;
}
const int* dyngrid_desc(const dyngrid_matrix* matrix) {
  return dyngrid_matrix_desc(matrix);
}

int dyngrid_matrix_shape(const dyngrid_matrix* matrix, int64_t* m_loc, int64_t* n_loc, int64_t* lld) {
  return guard([&] {
    if (!matrix) throw base::Error(base::Status::null_pointer, "blacs-dyn: dyngrid_matrix_shape: matrix is null");
    if (m_loc) *m_loc = matrix->lay.m_loc;
    if (n_loc) *n_loc = matrix->lay.n_loc;
    if (lld) *lld = matrix->lay.lld();
  });
}

dyngrid_matrix* dyngrid_matrix_find(const char* name) {
  return name ? session().find_matrix(name) : nullptr;
}

int dyngrid_matrix_free(dyngrid_matrix** matrix) {
  return guard([&] {
    if (!matrix || !*matrix) return;
    session().free_matrix(*matrix);
    *matrix = nullptr;
  });
}

int dyngrid_copy(const dyngrid_matrix* from, dyngrid_matrix* to) {
  return guard([&] { session().copy(from, to); });
}

int dyngrid_share(const char* name, void* data, size_t bytes) {
  return guard([&] { session().share(name, data, bytes); });
}

int dyngrid_unshare(const char* name) {
  return guard([&] { session().unshare(name); });
}

int dyngrid_checkpoint(const char* path) {
  return guard([&] { session().checkpoint(path); });
}

int dyngrid_restore(const char* path) {
  return guard([&] { session().restore(path); });
}

int dyngrid_is_restarted(void) {
  return session().is_active() && session().is_restarted() ? 1 : 0;
}

const char* dyngrid_version(void) {
  return DYNGRID_VERSION;
}

} // extern "C"
