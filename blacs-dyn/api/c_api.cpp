// SPDX-License-Identifier: BSD-3-Clause
#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/calls.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/pool.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/mpi/check.hpp"
#include "grid/application.hpp"
#include "grid/calls/calls.hpp"
#include "grid/factoring.hpp"
#include "redist/halo_handle.hpp"

namespace {

using base::detail::guard;
using blacs_dyn::Application;
using blacs_dyn::Place;
using Inside = blacs_dyn::ChangeRoutines::Inside;
using blacs_dyn::Shape;

Application& app() {
  return Application::instance();
}

/// The application, for a routine that wants it begun.
Application& begun(const char* routine) {
  app().require_begun(routine);
  return app();
}

/// For what changes the grid: in no routine that dyngrid calls.
Application& changing(const char* routine) {
  begun(routine).registered.routines.refuse_inside(routine);
  return app();
}

/// For what the processes hold: not in a routine that is called before a change, when everything is worked out.
Application& holding(const char* routine) {
  begun(routine).registered.routines.refuse_inside(routine, {Inside::before});
  return app();
}

/// And all processes make this call.
Application& agreed(const char* routine, Application& (*entered)(const char*) = begun) {
  Application& application = entered(routine);
  application.program_position.agree_on_call(routine);
  return application;
}

int index_in_grid() {
  return app().is_active() ? app().grid.rank() : -1;
}

base::Error bad_argument(const char* routine, const std::string& what) {
  return {base::Status::bad_argument, "blacs-dyn: {}: {}", routine, what};
}
base::Error null_argument(const char* routine, const char* what) {
  return {base::Status::null_pointer, "blacs-dyn: {}: {} is null", routine, what};
}
base::Error null_text(const char* routine) {
  return null_argument(routine, "the text");
}

/// @throws Error{bad_argument} for another letter than R or C
bool is_row_axis(const char* routine, char axis) {
  const bool is_row = axis == 'R' || axis == 'r';
  if (!is_row && axis != 'C' && axis != 'c')
    throw bad_argument(routine, fmt::format("axis is '{}', expected R for rows or C for columns", axis));
  return is_row;
}

int resize_point(const Place& place) {
  if (app().has_left()) return DYNGRID_LEAVE;
  return changing("dyngrid_resize_point").points.arrive(place);
}

/// A number that all processes choose alike.
void agree_on_choice(Application& a, const char* routine, const char* what, int value, int least, int most) {
  a.program_position.agree_on_call(routine);
  a.grid.check_choice(routine, what, value, least, most);
}

/// Of a routine that makes a matrix; all processes receive the error of one.
const char* lacks(const dyngrid_matrix* const* handle) {
  return handle ? nullptr : "matrix, the place for the handle,";
}

/// Of the routines that make a matrix; `routine` is compared between processes.
void create(const char* routine, blacs_dyn::Matrices::Asked asked, dyngrid_matrix** matrix) {
  Application& a = agreed(routine, holding);
  if (!asked.lacks) asked.lacks = lacks(matrix);
  dyngrid_matrix* made = a.registered.matrices.create(asked, a.grid.site());
  if (!made->lies_on.is_whole() && a.grid.has_me()) a.grid.open_contexts_of_matrices();
  *matrix = made;
}

void share(const char* name, void* data, std::size_t bytes, bool has_gaps) {
  Application& a = holding("dyngrid_share");
  if (!a.registered.shared.has_early(name)) a.program_position.agree_on_call("dyngrid_share");
  a.registered.shared.share(name, data, bytes, a.grid.comm(), has_gaps);
}

/// @return 1, or 0 when there is no k-th stretch. @throws Error{bad_argument}
int range_of(const char* routine, const std::vector<gridmap::Axis::Stretch>& mine, int64_t k, int64_t* first,
             int64_t* last) {
  if (k < 0) throw bad_argument(routine, fmt::format("k is {}, expected 0 or more", k));
  if (k >= static_cast<std::int64_t>(mine.size())) return 0;
  if (first) *first = mine[static_cast<std::size_t>(k)].first;
  if (last) *last = mine[static_cast<std::size_t>(k)].last;
  return 1;
}

/// @throws Error{null_pointer, bad_argument}
const blacs_dyn::FieldPart& my_part(const char* routine, const dyngrid_matrix* field) {
  if (!field) throw null_argument(routine, "field");
  if (!field->is_field())
    throw bad_argument(routine,
                       fmt::format("matrix \"{}\" is not a field, expected one of dyngrid_field_create", field->name));
  return field->field_part(index_in_grid());
}

const Place& call_at(const void* return_address) {
  static std::map<const void*, Place> known;
  const auto at = known.find(return_address);
  return at != known.end() ? at->second : known.emplace(return_address, Place::of_call(return_address)).first->second;
}

/// @param finish  with what is known when all panels are done
template <class Finish>
int factor(const char* routine, dyngrid_matrix* a, pblas::FactorKind kind, int options, int* info, Finish&& finish) {
  if (app().has_left()) return DYNGRID_LEAVE;
  Application& all = agreed(routine, changing);
  blacs_dyn::Factoring factoring({all.grid, all.registered, all.checkpoints, all.balancing, all.changes, all.points},
                                 {routine, a, kind, options, info != nullptr});
  const int outcome = factoring.run();
  if (outcome == DYNGRID_LEAVE || outcome == DYNGRID_REDIRECT) return outcome;
  *info = static_cast<int>(factoring.progress().info);
  finish(factoring.progress());
  return outcome;
}

// Outside MPI no handle can be translated. Open MPI's and MPICH's null communicator is known even there.
#ifdef OPEN_MPI
constexpr MPI_Fint null_comm_f = 2;
#else
const auto null_comm_f = static_cast<MPI_Fint>(MPI_COMM_NULL);
#endif

} // namespace

extern "C" {

int dyngrid_init(void) {
  return guard([] { app().init(std::nullopt); });
}

int dyngrid_init_grid(int nprow, int npcol) {
  return guard([&] { app().init(Shape{nprow, npcol}); });
}

int dyngrid_init_on(MPI_Comm comm, const char* name) {
  return guard([&] { app().init_on(comm, name); });
}

int dyngrid_init_on_f(MPI_Fint comm, const char* name) {
  return dyngrid_init_on(comm == null_comm_f || !base::mpi_is_up() ? MPI_COMM_NULL : MPI_Comm_f2c(comm), name);
}

const char* dyngrid_pool(void) {
  return app().pool().c_str();
}

int dyngrid_finalize(void) {
  return guard([] { app().finalize(); });
}

int dyngrid_is_newcomer(void) {
  return app().is_active() && app().processes.is_newcomer() ? 1 : 0;
}

int dyngrid_is_first(void) {
  return index_in_grid() == 0 ? 1 : 0;
}

int dyngrid_context(void) {
  return app().is_active() ? app().grid.context() : -1;
}

int dyngrid_grid(int* nprow, int* npcol, int* myrow, int* mycol) {
  const int rank = index_in_grid();
  const Shape shape = rank >= 0 ? app().grid.shape() : Shape{-1, -1};
  if (nprow) *nprow = shape.nprow;
  if (npcol) *npcol = shape.npcol;
  if (myrow) *myrow = rank >= 0 ? rank / shape.npcol : -1;
  if (mycol) *mycol = rank >= 0 ? rank % shape.npcol : -1;
  return DYNGRID_SUCCESS;
}

MPI_Comm dyngrid_comm(void) {
  return app().is_active() ? app().grid.comm() : MPI_COMM_NULL;
}

MPI_Fint dyngrid_comm_f(void) {
  return base::mpi_is_up() ? MPI_Comm_c2f(dyngrid_comm()) : null_comm_f;
}

int dyngrid_resize_point(void) {
  const void* caller = __builtin_return_address(0);
  return guard([&] { return resize_point(call_at(caller)); });
}

int dyngrid_resize_point_in(const char* file, int line) {
  return guard([&] { return resize_point(Place::in_source(file, line)); });
}

int dyngrid_resize_point_at(const char* name) {
  return guard([&] {
    if (app().has_left()) return int{DYNGRID_LEAVE};
    return changing("dyngrid_resize_point").points.arrive_at(name);
  });
}

int dyngrid_was_refused(void) {
  return app().is_active() && app().points.was_refused() ? 1 : 0;
}

const char* dyngrid_entry_point(void) {
  return app().is_active() ? app().program_position.entry_point() : "";
}

int dyngrid_pending(void) {
  return guard([] { return begun("dyngrid_pending").points.is_change_due() ? 1 : 0; });
}

int dyngrid_on_change(dyngrid_change_routine before, dyngrid_change_routine after, void* data) {
  return guard([&] { begun("dyngrid_on_change").registered.routines.add(before, after, data); });
}

int dyngrid_on_panel(dyngrid_panel_routine routine, void* data) {
  return guard([&] { begun("dyngrid_on_panel").registered.routines.set_on_panel(routine, data); });
}

// Fortran, with modules and without: the call that counts is the one in the program
DYNGRID_API void dyngrid_resize_point_(int* outcome) {
  const void* caller = __builtin_return_address(0);
  *outcome = guard([&] { return resize_point(call_at(caller)); });
}
DYNGRID_API void dyngrid_resize_point__(int* outcome) __attribute__((alias("dyngrid_resize_point_")));

int dyngrid_request(int nprow, int npcol) {
  return guard([&] {
    Application& a = begun("dyngrid_request");
    base::check_grid_shape({nprow, npcol}, "blacs-dyn: dyngrid_request");
    a.changes.request({nprow, npcol});
  });
}

int dyngrid_request_without(int nprow, int npcol, const char* without) {
  return guard([&] {
    Application& a = begun("dyngrid_request_without");
    base::check_grid_shape({nprow, npcol}, "blacs-dyn: dyngrid_request_without");
    if (!without) throw null_text("dyngrid_request_without");
    a.changes.request({nprow, npcol}, advise::Without::parse(without, "dyngrid_request_without: without"));
  });
}

int dyngrid_need(const char* grids) {
  return guard([&] { return changing("dyngrid_need").points.need(grids); });
}

int dyngrid_allow(const char* grids) {
  return guard([&] {
    Application& a = begun("dyngrid_allow");
    if (!grids) throw null_text("dyngrid_allow");
    const advise::Allowed allowed = advise::Allowed::parse(grids); // on all processes: whether it can be read
    if (a.control) a.control->allow(allowed);
  });
}

int dyngrid_set_steps(int64_t steps) {
  return guard([&] {
    Application& a = begun("dyngrid_set_steps");
    if (steps < 0)
      throw bad_argument("dyngrid_set_steps", fmt::format("steps is {}, expected 0 (not known) or more", steps));
    if (a.control) a.control->set_steps(steps);
  });
}

int dyngrid_experiment(const char* grids) {
  return guard([&] {
    Application& a = begun("dyngrid_experiment");
    if (!grids) throw null_text("dyngrid_experiment");
    const advise::Experiment experiment = advise::Experiment::parse(grids, "dyngrid_experiment");
    if (a.control) a.control->set_experiment(experiment);
  });
}

const char* dyngrid_job(void) {
  return app().is_active() && app().control ? app().control->name().c_str() : "";
}

int dyngrid_resize(int nprow, int npcol, int placement) {
  return guard([&] {
    return changing("dyngrid_resize").points.resize({nprow, npcol}, static_cast<gridmap::Placement>(placement));
  });
}

int dyngrid_resize_without(int nprow, int npcol, int placement, const char* without) {
  return guard([&] {
    return changing("dyngrid_resize_without")
        .points.resize({nprow, npcol}, static_cast<gridmap::Placement>(placement), without ? without : "");
  });
}

int dyngrid_process_id(void) {
  return app().is_active() ? app().processes.id() : -1;
}

int dyngrid_relayout(void) {
  return guard([] { return changing("dyngrid_relayout").relayout.all(); });
}

int dyngrid_pop(void) {
  return guard([] {
    if (!app().is_active()) throw base::Error(base::Status::bad_state, "blacs-dyn: dyngrid_pop before any growth");
    if (!app().is_classical()) begun("dyngrid_pop");
    app().registered.routines.refuse_inside("dyngrid_pop");
    return app().points.pop();
  });
}

int dyngrid_depth(void) {
  return index_in_grid() >= 0 ? static_cast<int>(app().processes.process_set().levels.size()) : 0;
}

int dyngrid_set_placement(int placement) {
  return guard([&] {
    Application& a = begun("dyngrid_set_placement");
    agree_on_choice(a, "dyngrid_set_placement", "placement", placement, DYNGRID_OPTIMAL, DYNGRID_LOCAL2);
    a.settings.placement = static_cast<gridmap::Placement>(placement);
  });
}

int dyngrid_set_schedule(int schedule) {
  return guard([&] {
    using redist::Schedule;
    Application& a = begun("dyngrid_set_schedule");
    agree_on_choice(a, "dyngrid_set_schedule", "schedule", schedule, static_cast<int>(Schedule::automatic),
                    static_cast<int>(Schedule::async));
    a.settings.exchange_order = static_cast<Schedule>(schedule);
  });
}

int dyngrid_set_processes(int way) {
  return guard([&] {
    Application& a = begun("dyngrid_set_processes");
    if (!a.grid.has_me())
      throw base::Error(base::Status::bad_state,
                        "blacs-dyn: dyngrid_set_processes before this process's first resize point");
    agree_on_choice(a, "dyngrid_set_processes", "way", way, DYNGRID_BLOCKING, DYNGRID_BACKGROUND);
    if (static_cast<blacs_dyn::LauncherKind>(way) != a.settings.way) a.use(static_cast<blacs_dyn::LauncherKind>(way));
  });
}

int dyngrid_set_balance(int mode) {
  return guard([&] {
    Application& a = begun("dyngrid_set_balance");
    agree_on_choice(a, "dyngrid_set_balance", "mode", mode, DYNGRID_BALANCE_OFF, DYNGRID_BALANCE_AUTO);
    a.balancing.set_mode(static_cast<control::BalanceMode>(mode));
  });
}

int dyngrid_rebalance(void) {
  return guard([] { return changing("dyngrid_rebalance").points.rebalance(); });
}

int dyngrid_last_balance(dyngrid_balance_report* report) {
  return guard([&] {
    base::detail::not_null(report, "blacs-dyn: dyngrid_last_balance: report");
    const control::BalanceReport& r = app().balancing.last();
    dyngrid_balance_report given{};
    given.number = r.number;
    given.action = static_cast<int>(r.action);
    given.is_done = r.is_done ? 1 : 0;
    given.from_nprow = r.from.nprow;
    given.from_npcol = r.from.npcol;
    given.to_nprow = r.to.nprow;
    given.to_npcol = r.to.npcol;
    given.leaves = r.leaves;
    given.comes = r.comes;
    given.measured_steps = r.measured_steps;
    given.before_s = r.before_s;
    given.after_s = r.after_s;
    given.change_s = r.change_s;
    given.measured_before_s = r.measured_before_s;
    given.measured_after_s = r.measured_after_s;
    given.measured_change_s = r.measured_change_s;
    given.moved_elements = r.moved_elements;
    given.payoff_steps = r.number > 0 ? r.payoff_steps : 0;
    given.steps = r.steps;
    r.why.copy(given.why, sizeof given.why - 1);
    *report = given;
  });
}

int dyngrid_work_begin(void) {
  return guard([] { begun("dyngrid_work_begin").balancing.work_begins(); });
}

int dyngrid_work_end(double units) {
  return guard([&] { begun("dyngrid_work_end").balancing.work_ends(units); });
}

int dyngrid_work_items(const dyngrid_matrix* matrix, char axis, int64_t first, int64_t count, const double* seconds) {
  return guard([&] {
    base::detail::not_null(matrix, "blacs-dyn: dyngrid_work_items: matrix");
    const char which = is_row_axis("dyngrid_work_items", axis) ? 'R' : 'C';
    if (count > 0) base::detail::not_null(seconds, "blacs-dyn: dyngrid_work_items: seconds");
    begun("dyngrid_work_items").balancing.work_items(matrix, {which, first, count, seconds});
  });
}

int dyngrid_loads(dyngrid_load* loads, int capacity, int* count) {
  return guard([&] {
    if (!count || (capacity > 0 && !loads)) throw null_argument("dyngrid_loads", "loads or count");
    if (capacity < 0) throw bad_argument("dyngrid_loads", fmt::format("capacity is {}, expected at least 0", capacity));
    const auto& known = begun("dyngrid_loads").balancing.requested_loads();
    const int npcol = app().balancing.grid_of_loads().npcol;
    *count = static_cast<int>(known.size());
    for (std::size_t k = 0; k < known.size() && static_cast<int>(k) < capacity; ++k) {
      const advise::ProcessLoad& load = known[k];
      const bool is_in = load.place >= 0;
      loads[k] = {load.process,
                  is_in ? load.place / npcol : -1,
                  is_in ? load.place % npcol : -1,
                  load.samples > 0 ? 1 : 0,
                  load.share,
                  load.speed,
                  load.competing,
                  load.waited,
                  load.throttled,
                  load.stolen,
                  load.held_s};
    }
  });
}

int dyngrid_last_resize(dyngrid_resize_report* report) {
  return guard([&] {
    base::detail::not_null(report, "blacs-dyn: dyngrid_last_resize: report");
    *report = app().reports.last();
  });
}

int dyngrid_matrix_create(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                          dyngrid_matrix** matrix) {
  return guard([&] { create("dyngrid_matrix_create", {name, type, {'R', m, mb}, {'C', n, nb}}, matrix); });
}

int dyngrid_matrix_create_by(const char* name, char type, int64_t m, int64_t n, dyngrid_distribution rule,
                             void* context, dyngrid_matrix** matrix) {
  return guard([&] {
    create("dyngrid_matrix_create",
           {name, type, {'R', m, 1, rule, context}, {'C', n, 1, rule, context}, rule ? nullptr : "rule"}, matrix);
  });
}

int dyngrid_matrix_create_owned(const char* name, char type, int64_t m, int64_t n, dyngrid_owner_rule rule,
                                void* context, dyngrid_matrix** matrix) {
  return guard([&] {
    create(
        "dyngrid_matrix_create",
        {name, type, {'R', m, 1, nullptr, context, rule}, {'C', n, 1, nullptr, context, rule}, rule ? nullptr : "rule"},
        matrix);
  });
}

int dyngrid_matrix_create_weighted(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb, int order,
                                   dyngrid_matrix** matrix) {
  return guard([&] {
    create("dyngrid_matrix_create_weighted", {name, type, {'R', m, mb}, {'C', n, nb}, nullptr, order}, matrix);
  });
}

int dyngrid_matrix_adopt(const char* name, char type, const int* desc, void* local, size_t bytes,
                         dyngrid_allocator allocate, void* data, dyngrid_matrix** matrix) {
  return guard([&] {
    Application& a = agreed("dyngrid_matrix_adopt", holding);
    const char* const lack = !desc ? "desc" : !allocate ? "allocate" : lacks(matrix);
    dyngrid_matrix* made = a.registered.matrices.adopt({name, type, {'R'}, {'C'}, lack},
                                                       {desc, local, bytes, {allocate, data}}, a.grid.site());
    *matrix = made;
  });
}

int dyngrid_matrix_create_on(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb, int shape,
                             dyngrid_matrix** matrix) {
  return guard([&] {
    const blacs_dyn::MatrixGrid lies_on{static_cast<blacs_dyn::MatrixGrid::Kind>(shape)};
    create("dyngrid_matrix_create_on", {name, type, {'R', m, mb}, {'C', n, nb}, nullptr, std::nullopt, lies_on},
           matrix);
  });
}

int dyngrid_matrix_create_on_part(const char* name, char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                  int nprow_at_most, int npcol_at_most, dyngrid_matrix** matrix) {
  return guard([&] {
    const blacs_dyn::MatrixGrid lies_on{blacs_dyn::MatrixGrid::Kind::first, {nprow_at_most, npcol_at_most}};
    create("dyngrid_matrix_create_on_part", {name, type, {'R', m, mb}, {'C', n, nb}, nullptr, std::nullopt, lies_on},
           matrix);
  });
}

int dyngrid_field_create(const char* name, char type, int dims, const int64_t* extents, const int64_t* blocks,
                         const int* process_dims, dyngrid_matrix** field) {
  return guard([&] {
    blacs_dyn::Matrices::Asked asked{name, type};
    asked.field = blacs_dyn::FieldAsked{dims, extents, blocks, process_dims};
    create("dyngrid_field_create", asked, field);
  });
}

int dyngrid_field_shape(const dyngrid_matrix* field, int64_t* local_extents, int* parts, int* coordinates) {
  return guard([&] {
    const blacs_dyn::FieldPart& part = my_part("dyngrid_field_shape", field);
    if (local_extents) std::copy(part.extents.begin(), part.extents.end(), local_extents);
    if (parts) std::copy(part.parts.begin(), part.parts.end(), parts);
    if (coordinates) std::copy(part.coordinates.begin(), part.coordinates.end(), coordinates);
    return static_cast<int>(part.parts.size());
  });
}

void* dyngrid_field_local(const dyngrid_matrix* field, int64_t* local_extents) {
  return dyngrid_field_shape(field, local_extents, nullptr, nullptr) > 0 ? dyngrid_local(field) : nullptr;
}

int dyngrid_field_range(const dyngrid_matrix* field, int dim, int64_t k, int64_t* first, int64_t* last) {
  return guard([&] {
    const blacs_dyn::FieldPart& part = my_part("dyngrid_field_range", field);
    const auto dims = static_cast<int>(part.stretches.size());
    if (dim < 0 || dim >= dims)
      throw bad_argument("dyngrid_field_range", fmt::format("dim is {}, expected 0 .. {}", dim, dims - 1));
    return range_of("dyngrid_field_range", part.stretches[static_cast<std::size_t>(dim)], k, first, last);
  });
}

int dyngrid_matrix_halo(const dyngrid_matrix* matrix, const int* lo, const int* hi, const int* periodic, int neighbours,
                        dyngrid_halo** halo) {
  return guard([&] {
    Application& a = begun("dyngrid_matrix_halo");
    if (!a.grid.has_me())
      throw base::Error(base::Status::bad_state,
                        "blacs-dyn: dyngrid_matrix_halo: this process is not in the grid, expected one that is");
    a.program_position.agree_on_call("dyngrid_matrix_halo");
    const redist::HaloPlan plan = a.borders.halo_plan(matrix, {lo, hi, periodic, neighbours, halo != nullptr});
    *halo =
        new dyngrid_halo{redist::Halo(a.grid.comm(), plan, static_cast<int>(blacs_dyn::element_bytes(matrix->type)))};
  });
}

int dyngrid_borders_create(dyngrid_matrix* matrix, const int* lo, const int* hi, const int* periodic, int neighbours,
                           const void* boundary, dyngrid_borders** borders) {
  return guard([&] {
    Application& a = agreed("dyngrid_borders_create");
    dyngrid_borders* const made =
        a.borders.create(matrix, {lo, hi, periodic, neighbours, borders != nullptr}, boundary);
    *borders = made;
  });
}

int dyngrid_borders_update(dyngrid_borders* borders, void** ghosted) {
  return guard([&] {
    Application& a = agreed("dyngrid_borders_update");
    void* const array = a.borders.update(borders);
    if (ghosted) *ghosted = array;
  });
}

int dyngrid_borders_exchange(dyngrid_borders* borders) {
  return guard([&] { begun("dyngrid_borders_exchange").borders.exchange(borders); });
}

int dyngrid_borders_store(dyngrid_borders* borders) {
  return guard([&] { begun("dyngrid_borders_store").borders.store(borders); });
}

dyngrid_halo* dyngrid_borders_halo(dyngrid_borders* borders) {
  dyngrid_halo* halo = nullptr;
  guard([&] { halo = begun("dyngrid_borders_halo").borders.halo(borders); });
  return halo;
}

int dyngrid_borders_free(dyngrid_borders** borders) {
  return guard([&] {
    if (!borders || !*borders) return;
    begun("dyngrid_borders_free").borders.free(*borders);
    *borders = nullptr;
  });
}

int dyngrid_my_range(const dyngrid_matrix* matrix, char axis, int64_t k, int64_t* first, int64_t* last) {
  return guard([&] {
    base::detail::not_null(matrix, "blacs-dyn: dyngrid_my_range: matrix");
    const bool is_row = is_row_axis("dyngrid_my_range", axis);
    return range_of("dyngrid_my_range", matrix->stretches(is_row, index_in_grid()), k, first, last);
  });
}

int dyngrid_set_speed(double speed) {
  return guard([&] {
    Application& a = agreed("dyngrid_set_speed", holding);
    a.processes.set_speed(speed);
    if (a.control) a.control->know(a.processes);
  });
}

double dyngrid_rule_speed(int row, int col) {
  return blacs_dyn::rule_speed(row, col);
}

double dyngrid_speed(void) {
  return app().is_active() ? app().processes.speed() : 1;
}

int dyngrid_matrix_reblock(dyngrid_matrix* matrix, int64_t mb, int64_t nb) {
  return guard([&] {
    const char* const routine = "dyngrid_matrix_reblock";
    return changing(routine).relayout.one(routine, matrix, {'R', 0, mb}, {'C', 0, nb});
  });
}

int dyngrid_matrix_set_rule(dyngrid_matrix* matrix, dyngrid_distribution rule, void* context) {
  return guard([&] {
    const char* const routine = "dyngrid_matrix_set_rule";
    return changing(routine).relayout.one(routine, matrix, {'R', 0, 1, rule, context}, {'C', 0, 1, rule, context},
                                          true);
  });
}

int dyngrid_matrix_set_owner_rule(dyngrid_matrix* matrix, dyngrid_owner_rule rule, void* context) {
  return guard([&] {
    const char* const routine = "dyngrid_matrix_set_owner_rule";
    return changing(routine).relayout.one(routine, matrix, {'R', 0, 1, nullptr, context, rule},
                                          {'C', 0, 1, nullptr, context, rule}, true);
  });
}

int64_t dyngrid_block_rule(void*, char axis, int64_t length, int nprow, int npcol, int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  if (length < 0 || nprocs < 1) return -1;
  if (sizes) *sizes = std::max<std::int64_t>(1, length / nprocs + (length % nprocs != 0));
  return 1;
}

void* dyngrid_local(const dyngrid_matrix* matrix) {
  return matrix ? matrix->local.data() : nullptr;
}
const int* dyngrid_desc(const dyngrid_matrix* matrix) {
  const int* desc = nullptr;
  guard([&] {
    if (matrix) desc = matrix->descriptor().data();
  });
  return desc;
}

int dyngrid_matrix_shape(const dyngrid_matrix* matrix, int64_t* m_loc, int64_t* n_loc, int64_t* lld) {
  return guard([&] {
    base::detail::not_null(matrix, "blacs-dyn: dyngrid_matrix_shape: matrix");
    if (m_loc) *m_loc = matrix->local_size.rows;
    if (n_loc) *n_loc = matrix->local_size.cols;
    if (lld) *lld = matrix->lld();
  });
}

dyngrid_matrix* dyngrid_matrix_find(const char* name) {
  return name ? app().registered.matrices.find(name) : nullptr;
}

int dyngrid_matrix_free(dyngrid_matrix** matrix) {
  return guard([&] {
    if (!matrix || !*matrix) return;
    Application& a = holding("dyngrid_matrix_free");
    a.registered.routines.refuse_inside("dyngrid_matrix_free", {Inside::panel}); // it may be the one that is factored
    a.registered.matrices.free(*matrix);
    a.phases.freed(*matrix);
    *matrix = nullptr;
  });
}

int dyngrid_copy(const dyngrid_matrix* from, dyngrid_matrix* to) {
  return guard([&] { agreed("dyngrid_copy").copier.copy(from, to); });
}

int dyngrid_add(char op, const void* alpha, const dyngrid_matrix* a, const void* beta, dyngrid_matrix* b) {
  return guard([&] { agreed("dyngrid_add").copier.add(op, alpha, a, beta, b); });
}

int dyngrid_phase_create(const char* name, dyngrid_phase** phase) {
  return guard([&] {
    base::detail::not_null(phase, "blacs-dyn: dyngrid_phase_create: phase");
    *phase = holding("dyngrid_phase_create").phases.create(name);
  });
}

int dyngrid_phase_uses(dyngrid_phase* phase, dyngrid_matrix* matrix, int use) {
  return guard([&] { holding("dyngrid_phase_uses").phases.use(phase, matrix, use); });
}

int dyngrid_phase_layout(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb) {
  return guard([&] { holding("dyngrid_phase_layout").phases.offer(phase, matrix, {'R', 0, mb}, {'C', 0, nb}); });
}

int dyngrid_phase_layout_by(dyngrid_phase* phase, dyngrid_matrix* matrix, dyngrid_distribution rule, void* context) {
  return guard([&] {
    if (!rule) throw null_argument("dyngrid_phase_layout_by", "the rule");
    holding("dyngrid_phase_layout_by")
        .phases.offer(phase, matrix, {'R', 0, 1, rule, context}, {'C', 0, 1, rule, context});
  });
}

int dyngrid_phase_layout_weighted(dyngrid_phase* phase, dyngrid_matrix* matrix, int64_t mb, int64_t nb, int order) {
  return guard([&] {
    if (order < DYNGRID_ORDER_BLOCK || order > DYNGRID_ORDER_FACTOR)
      throw bad_argument(
          "dyngrid_phase_layout_weighted",
          fmt::format("order is {}, expected DYNGRID_ORDER_BLOCK, DYNGRID_ORDER_CYCLIC or DYNGRID_ORDER_FACTOR",
                      order));
    holding("dyngrid_phase_layout_weighted").phases.offer(phase, matrix, {'R', 0, mb}, {'C', 0, nb}, order);
  });
}

int dyngrid_phase_begin(dyngrid_phase* phase) {
  return guard([&] { agreed("dyngrid_phase_begin", changing).phases.begin(phase); });
}

int dyngrid_phase_end(dyngrid_phase* phase) {
  return guard([&] { begun("dyngrid_phase_end").phases.end(phase); });
}

int dyngrid_phases_plan(int64_t cycles) {
  return guard([&] { agreed("dyngrid_phases_plan", changing).phases.plan(cycles); });
}

int dyngrid_run_on(int nprow, int npcol, int nb, const char* routine) {
  return guard([&] { blacs_dyn::calls::run_on(nprow, npcol, nb, routine); });
}

int dyngrid_run_on_begin(int nprow, int npcol, int nb, const char* routines) {
  return guard([&] { blacs_dyn::calls::run_on_begin(nprow, npcol, nb, routines); });
}

int dyngrid_run_on_end(void) {
  return guard([] { blacs_dyn::calls::run_on_end(); });
}

int dyngrid_phases_keep(int64_t bytes) {
  return guard([&] {
    if (bytes < -1)
      throw bad_argument("dyngrid_phases_keep", fmt::format("bytes is {}, expected 0 or more, or -1 for any", bytes));
    begun("dyngrid_phases_keep").phases.keep(bytes);
  });
}

int dyngrid_matrix_written(const dyngrid_matrix* matrix) {
  return guard([&] {
    base::detail::not_null(matrix, "blacs-dyn: dyngrid_matrix_written: matrix");
    begun("dyngrid_matrix_written").registered.matrices.written(matrix);
  });
}

int dyngrid_last_phase(dyngrid_phase_report* report) {
  return guard([&] {
    base::detail::not_null(report, "blacs-dyn: dyngrid_last_phase: report");
    *report = begun("dyngrid_last_phase").phases.last();
  });
}

int dyngrid_lu(dyngrid_matrix* a, int options, int* pivots, int* info) {
  return guard([&] {
    return factor("dyngrid_lu", a, pblas::FactorKind::lu, options, pivots ? info : nullptr,
                  [&](const pblas::Progress& done) {
                    std::transform(done.pivots.begin(), done.pivots.end(), pivots,
                                   [](std::int64_t row) { return static_cast<int>(row + 1); });
                  });
  });
}

int dyngrid_cholesky(dyngrid_matrix* a, char uplo, int options, int* info) {
  return guard([&] {
    using pblas::FactorKind;
    const FactorKind kind = uplo == 'L' || uplo == 'l'   ? FactorKind::lower
                            : uplo == 'U' || uplo == 'u' ? FactorKind::upper
                                                         : FactorKind::none;
    return factor("dyngrid_cholesky", a, kind, options, info, [](const pblas::Progress&) {});
  });
}

int dyngrid_lu_pivots(const dyngrid_matrix* a, const int* pivots, int* ipiv) {
  return guard([&] {
    const char* const routine = "dyngrid_lu_pivots";
    if (!a || !pivots || !ipiv) throw null_argument(routine, "the matrix, pivots or ipiv");
    if (!begun(routine).grid.has_me()) return;
    const std::int64_t count = std::min(a->rows.n, a->cols.n);
    std::vector<std::int64_t> rows(pivots, pivots + count);
    for (std::int64_t& row : rows) --row;
    pblas::local_pivots(a->descriptor().data(), rows, ipiv);
  });
}

int dyngrid_share(const char* name, void* data, size_t bytes) {
  return guard([&] { share(name, data, bytes, false); });
}

// for the Fortran module alone: of a section with gaps, which has no one address
__attribute__((visibility("hidden"))) int dyngrid_share_with_gaps(const char* name) {
  return guard([&] { share(name, nullptr, 0, true); });
}

int dyngrid_unshare(const char* name) {
  return guard([&] { holding("dyngrid_unshare").registered.shared.unshare(name); });
}

int dyngrid_checkpoint(const char* path) {
  return guard([&] {
    begun("dyngrid_checkpoint")
        .registered.routines.refuse_inside("dyngrid_checkpoint", {Inside::panel}); // A is not whole
    app().program_position.agree_on_call("dyngrid_checkpoint");
    app().checkpoints.write(path);
  });
}

int dyngrid_restore(const char* path) {
  return guard([&] { agreed("dyngrid_restore", changing).checkpoints.restore(path); });
}

int dyngrid_is_restarted(void) {
  return app().is_active() && app().checkpoints.must_restore() ? 1 : 0;
}

const char* dyngrid_version(void) {
  return DYNGRID_VERSION;
}

} // extern "C"
