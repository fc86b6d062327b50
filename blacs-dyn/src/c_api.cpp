// SPDX-License-Identifier: BSD-3-Clause
#include "dyngrid.h"


#include "session.hpp"

namespace {

using blacs_dyn::Session;
using blacs_dyn::Shape;
using gridmap::detail::guard;

Session& session() { return Session::instance(); }

int index_in_grid() {
  int rank = -1;
  if (session().is_active() && session().grid_comm() != MPI_COMM_NULL) MPI_Comm_rank(session().grid_comm(), &rank);
  return rank;
}

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

int dyngrid_is_newcomer(void) { return session().is_active() && session().is_newcomer() ? 1 : 0; }

int dyngrid_is_first(void) { return index_in_grid() == 0 ? 1 : 0; }

int dyngrid_context(void) { return session().is_active() ? session().context() : -1; }

int dyngrid_grid(int* nprow, int* npcol, int* myrow, int* mycol) {
  const int rank = index_in_grid();
  const Shape shape = rank >= 0 ? session().processes().roster().grid.shape : Shape{-1, -1};
  if (nprow) *nprow = shape.nprow;
  if (npcol) *npcol = shape.npcol;
  if (myrow) *myrow = rank >= 0 ? rank / shape.npcol : -1;
  if (mycol) *mycol = rank >= 0 ? rank % shape.npcol : -1;
  return DYNGRID_SUCCESS;
}

MPI_Comm dyngrid_comm(void) { return session().is_active() ? session().grid_comm() : MPI_COMM_NULL; }

MPI_Fint dyngrid_comm_f(void) { return MPI_Comm_c2f(dyngrid_comm()); }

int dyngrid_resize_point(void) {
  return guard([] { return session().resize_point(); });
}

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

const char* dyngrid_job(void) { return session().is_active() ? session().job_name() : ""; }

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
    if (!report) throw gridmap::Error(gridmap::Status::null_pointer, "blacs-dyn: dyngrid_last_resize: report is null");
    *report = session().report();
  });
}

int dyngrid_matrix_create(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb, dyngrid_matrix** matrix) {
  return guard([&] {
    dyngrid_matrix* made = session().create_matrix(name, type, {'R', m, mb}, {'C', n, nb}, matrix != nullptr);
    *matrix = made;
  });
}

int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule, void* context, dyngrid_matrix** matrix) {
  return guard([&] {
    if (!rule) throw gridmap::Error(gridmap::Status::null_pointer, "blacs-dyn: dyngrid_matrix_create_by: rule is null");
    dyngrid_matrix* made = session().create_matrix(name, type, {'R', m, 1, rule, context}, {'C', n, 1, rule, context}, matrix != nullptr);
    *matrix = made;
  });
}

void* dyngrid_matrix_local(const dyngrid_matrix* matrix) { return matrix ? matrix->local.data() : nullptr; }
void* dyngrid_local(const dyngrid_matrix* matrix) { return dyngrid_matrix_local(matrix); }
const int* dyngrid_matrix_desc(const dyngrid_matrix* matrix) { return matrix ? matrix->desc.data() : nullptr; }
const int* dyngrid_desc(const dyngrid_matrix* matrix) { return dyngrid_matrix_desc(matrix); }

int dyngrid_matrix_shape(const dyngrid_matrix* matrix, int64_t* m_loc, int64_t* n_loc, int64_t* lld) {
  return guard([&] {
    if (!matrix) throw gridmap::Error(gridmap::Status::null_pointer, "blacs-dyn: dyngrid_matrix_shape: matrix is null");
    if (m_loc) *m_loc = matrix->lay.m_loc;
    if (n_loc) *n_loc = matrix->lay.n_loc;
    if (lld) *lld = matrix->lay.lld();
  });
}

dyngrid_matrix* dyngrid_matrix_find(const char* name) { return name ? session().find_matrix(name) : nullptr; }

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

int dyngrid_is_restarted(void) { return session().is_active() && session().is_restarted() ? 1 : 0; }

const char* dyngrid_version(void) { return DYNGRID_VERSION; }

} // extern "C"
