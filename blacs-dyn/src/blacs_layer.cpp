// SPDX-License-Identifier: BSD-3-Clause
// The set-up entry points of the BLACS that we replace, for the program and for the calls inside ScaLAPACK. Where the application never grows they do
// what the stock ones do, by calling them.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "dyngrid/status.h"
#include "gridmap/spellings.hpp"
#include "session.hpp"
#include "stock_blacs.hpp"

namespace {

using blacs_dyn::Session;
namespace stock = blacs_dyn::stock;

bool context_was_closed = false; ///< blacs_exit(1) was called: the next blacs_setup may grow

bool is_waiting_newcomer(const char* mode) {
  const char* newcomer = std::getenv("DYNGRID_NEWCOMER");
  return newcomer && std::string_view(newcomer) == mode;
}

/// The BLACS has no status to return: what cannot be is said, and ends the program as the BLACS's own errors do.
template <class Call>
void guarded(const char* name, Call&& call) {
  const int status = gridmap::detail::guard(call);
  if (status == DYNGRID_SUCCESS) return;
  std::fprintf(stderr, "dyngrid: %s: %s\n", name, dyngrid_last_message());
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void pinfo(int* iam, int* nprocs) {
  guarded("blacs_pinfo", [&] {
    Session& session = Session::instance();
    if (is_waiting_newcomer("classical") || (session.is_active() && session.is_classical() && session.is_newcomer())) session.classical_join();
    if (session.is_active() && !session.is_newcomer()) session.rank_and_size(iam, nprocs);
    else stock::pinfo(iam, nprocs);
  });
}

void setup(int* iam, int* nprocs) {
  guarded("blacs_setup", [&] {
    Session& session = Session::instance();
    if (is_waiting_newcomer("classical") || session.is_active()) {
      const bool grows = session.is_active() && session.is_classical() && !session.is_newcomer() && context_was_closed;
      context_was_closed = false;
      if (grows) session.classical_setup(iam, nprocs);
      else pinfo(iam, nprocs);
      return;
    }
    const char* file = std::getenv("DYNGRID_SETUP_FILE");
    const bool may_grow = context_was_closed && access(file && *file ? file : "blacs_setup.dat", R_OK) == 0;
    context_was_closed = false;
    if (may_grow) session.classical_setup(iam, nprocs);
    else stock::setup(iam, nprocs);
  });
}

constexpr int system_context = 0; ///< what blacs_get is asked for

bool is_ours(int what) {
  return what == system_context && Session::instance().is_active() && Session::instance().grid_comm() != MPI_COMM_NULL;
}

void get(int context, int what, int* value) {
  guarded("blacs_get", [&] {
    if (is_ours(what)) *value = Session::instance().system_handle();
    else stock::get(context, what, value);
  });
}

void get_fortran(int context, int what, int* value) {
  guarded("blacs_get", [&] {
    if (is_ours(what)) *value = Session::instance().fortran_handle();
    else stock::get_fortran(context, what, value);
  });
}

void leave(int not_done) {
  guarded("blacs_exit", [&] {
    Session& session = Session::instance();
    context_was_closed = not_done != 0;
    if (!session.is_active()) {
      stock::exit(not_done);
      return;
    }
    session.close_contexts();
    if (not_done) return;
    session.finalize();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Finalize();
  });
}

} // namespace

// Each entry point as C and as Fortran call it, and a twin of both that no other library can have.
extern "C" {

DYNGRID_API void Cblacs_pinfo(int* iam, int* nprocs) { pinfo(iam, nprocs); }
DYNGRID_API void Cblacs_setup(int* iam, int* nprocs) { setup(iam, nprocs); }
DYNGRID_API void Cblacs_get(int context, int what, int* value) { get(context, what, value); }
DYNGRID_API void Cblacs_exit(int not_done) { leave(not_done); }
DYNGRID_API void dyngrid_Cblacs_pinfo(int* iam, int* nprocs) { pinfo(iam, nprocs); }
DYNGRID_API void dyngrid_Cblacs_setup(int* iam, int* nprocs) { setup(iam, nprocs); }
DYNGRID_API void dyngrid_Cblacs_get(int context, int what, int* value) { get(context, what, value); }
DYNGRID_API void dyngrid_Cblacs_exit(int not_done) { leave(not_done); }

DYNGRID_API void blacs_pinfo_(int* iam, int* nprocs) { pinfo(iam, nprocs); }
DYNGRID_API void blacs_setup_(int* iam, int* nprocs) { setup(iam, nprocs); }
DYNGRID_API void blacs_get_(const int* context, const int* what, int* value) { get_fortran(*context, *what, value); }
DYNGRID_API void blacs_exit_(const int* not_done) { leave(*not_done); }
DYNGRID_API void dyngrid_blacs_pinfo_(int* iam, int* nprocs) { pinfo(iam, nprocs); }
DYNGRID_API void dyngrid_blacs_setup_(int* iam, int* nprocs) { setup(iam, nprocs); }
DYNGRID_API void dyngrid_blacs_get_(const int* context, const int* what, int* value) { get_fortran(*context, *what, value); }
DYNGRID_API void dyngrid_blacs_exit_(const int* not_done) { leave(*not_done); }

} // extern "C"

DYNGRID_SPELLINGS_WITH_TWIN(blacs_pinfo, BLACS_PINFO)
DYNGRID_SPELLINGS_WITH_TWIN(blacs_setup, BLACS_SETUP)
DYNGRID_SPELLINGS_WITH_TWIN(blacs_get, BLACS_GET)
DYNGRID_SPELLINGS_WITH_TWIN(blacs_exit, BLACS_EXIT)
