// SPDX-License-Identifier: BSD-3-Clause
// The set-up entry points of the BLACS that we replace, for the program and for the calls inside ScaLAPACK. Where the
// application never grows they do what the stock ones do, by calling them.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "base/mpi/blacs.hpp"
#include "base/mpi/check.hpp"
#include "base/spellings.hpp"
#include "dyngrid/status.h"
#include "grid/application.hpp"
#include "grid/calls/calls.hpp"
#include "grid/contexts.hpp"
#include "grid/stock_blacs.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/setup_file.hpp"

namespace {

using blacs_dyn::Application;
namespace contexts = blacs_dyn::contexts;
namespace stock = blacs_dyn::stock;

bool context_was_closed = false; ///< blacs_exit(1) was called: the next blacs_setup may grow

bool is_waiting_newcomer() {
  const char* newcomer = std::getenv("DYNGRID_NEWCOMER");
  return newcomer && std::string_view(newcomer) == "classical";
}

/// The BLACS has no status to return: an error is printed, and ends the program as the BLACS's own errors do.
template <class Call> void guarded(const char* name, Call&& call) {
  const int status = base::detail::guard([&] {
    static const std::string trouble = blacs_dyn::trouble_with_integers();
    if (!trouble.empty()) throw base::Error(base::Status::unsupported, "blacs-dyn: " + trouble);
    call();
  });
  if (status == DYNGRID_SUCCESS) return;
  std::fprintf(stderr, "dyngrid: %s: %s\n", name, dyngrid_last_message());
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void pinfo(int* iam, int* nprocs) {
  guarded("blacs_pinfo", [&] {
    Application& app = Application::instance();
    if (is_waiting_newcomer() || (app.is_active() && app.is_classical() && app.processes.is_newcomer()))
      app.classical_join();
    if (const int size = contexts::processes_in_making()) { // stock BLACS asks how large its tables are to be
      *iam = 0;
      *nprocs = size;
    } else if (app.is_active() && !app.processes.is_newcomer())
      app.grid.rank_and_size(iam, nprocs);
    else
      stock::pinfo(iam, nprocs);
  });
}

void setup(int* iam, int* nprocs) {
  guarded("blacs_setup", [&] {
    Application& app = Application::instance();
    if (is_waiting_newcomer() || app.is_active()) {
      const bool grows = app.is_active() && app.is_classical() && !app.processes.is_newcomer() && context_was_closed;
      context_was_closed = false;
      if (grows)
        app.classical_setup(iam, nprocs);
      else
        pinfo(iam, nprocs);
      return;
    }
    const bool may_grow = context_was_closed && access(blacs_dyn::setup_file_name().c_str(), R_OK) == 0;
    context_was_closed = false;
    if (may_grow)
      app.classical_setup(iam, nprocs);
    else
      stock::setup(iam, nprocs);
  });
}

constexpr int system_context = 0; ///< what blacs_get is asked for

bool is_ours(int what) {
  return what == system_context && Application::instance().is_active() && Application::instance().grid.has_me();
}

void get(int context, int what, int* value) {
  guarded("blacs_get", [&] {
    if (is_ours(what))
      *value = Application::instance().grid.system_handle();
    else
      stock::get(context, what, value);
  });
}

void get_fortran(int context, int what, int* value) {
  guarded("blacs_get", [&] {
    if (is_ours(what))
      *value = Application::instance().grid.fortran_handle();
    else
      stock::get_fortran(context, what, value);
  });
}

void leave(int not_done) {
  guarded("blacs_exit", [&] {
    Application& app = Application::instance();
    context_was_closed = not_done != 0;
    blacs_dyn::calls::contexts_are_closed();
    if (!app.is_active()) {
      contexts::close_all(not_done);
      return;
    }
    app.grid.close_all_contexts();
    if (not_done) return;
    app.finalize();
    if (base::mpi_is_up()) MPI_Finalize();
  });
}

/// A grid of processes of `base`. Grids are remembered by the communicator that they stand on only where a change can
/// come.
template <class Make> void make_grid(int* context, blacs_dyn::Shape shape, MPI_Comm (*base)(int), Make&& make) {
  guarded("blacs_gridmap", [&] {
    ++blacs_dyn::grids_seen;
    const Application& app = Application::instance();
    if (!app.is_active()) {
      make();
      blacs_dyn::show_stock_program(shape);
      return;
    }
    const MPI_Comm comm = base(*context);
    contexts::Making making(comm, comm == app.grid.comm());
    make();
    making.made(*context);
  });
}

void grid_map(int* context, int* map, int ld, int nprow, int npcol) {
  make_grid(context, {nprow, npcol}, Cblacs2sys_handle, [&] { stock::gridmap(context, map, ld, nprow, npcol); });
}

void grid_map_fortran(int* context, int* map, const int* ld, const int* nprow, const int* npcol) {
  make_grid(
      context, {*nprow, *npcol}, [](int handle) { return MPI_Comm_f2c(handle); },
      [&] { stock::gridmap_fortran(context, map, ld, nprow, npcol); });
}

/// One that is closed already, by a change or by its owner, is no error in a program that uses dyngrid; stock BLACS
/// crashes.
void grid_exit(int context) {
  guarded("blacs_gridexit", [&] {
    const Application& app = Application::instance();
    if (context < 0 || !app.processes.is_known() || contexts::is_open(context)) {
      stock::gridexit(context);
      return;
    }
    static bool was_said = false;
    if (!was_said && app.processes.id() == 0)
      std::fprintf(stderr,
                   "dyngrid: blacs_gridexit: context %d is closed already; a change of the grid closes the contexts "
                   "that stand on dyngrid's communicators\n",
                   context);
    was_said = true;
  });
}

} // namespace

// Each entry point as C and as Fortran call it.
extern "C" {

DYNGRID_API void Cblacs_pinfo(int* iam, int* nprocs) {
  pinfo(iam, nprocs);
}
DYNGRID_API void Cblacs_setup(int* iam, int* nprocs) {
  setup(iam, nprocs);
}
DYNGRID_API void Cblacs_get(int context, int what, int* value) {
  get(context, what, value);
}
DYNGRID_API void Cblacs_exit(int not_done) {
  leave(not_done);
}
DYNGRID_API void Cblacs_gridmap(int* context, int* map, int ld, int nprow, int npcol) {
  grid_map(context, map, ld, nprow, npcol);
}
DYNGRID_API void Cblacs_gridexit(int context) {
  grid_exit(context);
}

DYNGRID_API void blacs_pinfo_(int* iam, int* nprocs) {
  pinfo(iam, nprocs);
}
DYNGRID_API void blacs_setup_(int* iam, int* nprocs) {
  setup(iam, nprocs);
}
DYNGRID_API void blacs_get_(const int* context, const int* what, int* value) {
  get_fortran(*context, *what, value);
}
DYNGRID_API void blacs_exit_(const int* not_done) {
  leave(*not_done);
}
DYNGRID_API void blacs_gridmap_(int* context, int* map, const int* ld, const int* nprow, const int* npcol) {
  grid_map_fortran(context, map, ld, nprow, npcol);
}
DYNGRID_API void blacs_gridexit_(const int* context) {
  grid_exit(*context);
}

} // extern "C"

// A twin of both that no other library can have, at the same address.
#define DYNGRID_TWIN(name)                                                                                             \
  extern "C" decltype(name) dyngrid_##name __attribute__((alias(#name), visibility("default")));
#define DYNGRID_BLACS_NAMES(lower, UPPER)                                                                              \
  DYNGRID_TWIN(C##lower)                                                                                               \
  DYNGRID_TWIN(lower##_)                                                                                               \
  DYNGRID_SPELLINGS_WITH_TWIN(lower, UPPER)
DYNGRID_BLACS_NAMES(blacs_pinfo, BLACS_PINFO)
DYNGRID_BLACS_NAMES(blacs_setup, BLACS_SETUP)
DYNGRID_BLACS_NAMES(blacs_get, BLACS_GET)
DYNGRID_BLACS_NAMES(blacs_exit, BLACS_EXIT)
DYNGRID_BLACS_NAMES(blacs_gridmap, BLACS_GRIDMAP)
DYNGRID_BLACS_NAMES(blacs_gridexit, BLACS_GRIDEXIT)
