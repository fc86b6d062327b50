// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of the application: what it holds to a file, and back on any grid.
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "checkpoint.hpp"
#include "preflight.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

constexpr std::int64_t block_of_unknown = 64; ///< of a matrix that the program has not made and that lay as a rule said

SpreadMatrix spread(const Matrix& a, const Lay& lay, void* local) {
  SpreadMatrix s;
  s.saved.name = a.name;
  s.saved.type = a.type;
  s.saved.m = a.rows.n;
  s.saved.n = a.cols.n;
  s.saved.mb = a.rows.rule ? 0 : a.rows.nb;
  s.saved.nb = a.cols.rule ? 0 : a.cols.nb;
  s.rows = lay.rows;
  s.cols = lay.cols;
  s.local = local;
  s.lld = lay.lld();
  return s;
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// What process 0 was given, or what its environment says.
std::string path_of(const char* what, const char* given, const char* variable, const std::string& from_environment) {
  if (given && *given) return given;
  if (!from_environment.empty()) return from_environment;
  throw Error(Status::bad_argument, fmt::format("blacs-dyn: {}: no path, and {} is not set", what, variable));
}

} // namespace

void Session::checkpoint(const char* path) {
  require_grid("dyngrid_checkpoint");
  if (processes_.grid() == MPI_COMM_NULL)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_checkpoint before this process's first resize point");
  const MPI_Comm grid = processes_.grid();
  std::string name;
  SavedState state;
  together(grid, [&] {
    if (processes_.id() == 0) name = path_of("dyngrid_checkpoint", path, "DYNGRID_CHECKPOINT", settings_.checkpoint);
  });
  const std::vector<int>& ids = processes_.roster().grid.ids;
  const auto writer =
      static_cast<int>(std::find(ids.begin(), ids.end(), 0) - ids.begin()); // where the user started the application
  char folder[4096];
  state.folder = getcwd(folder, sizeof folder) ? folder : "";
  state.started = static_cast<int>(processes_.roster().units[0].members.size());
  const Shape shape = processes_.roster().grid.shape;
  state.dyngrid_version = DYNGRID_VERSION;
  state.written = now();
  state.resize_points = settings_.points;
  state.nprow = shape.nprow;
  state.npcol = shape.npcol;
  state.command = own_arguments();
  state.command.insert(state.command.begin(), own_program());
  for (const Shared& s : holdings_.shared()) {
    const auto* first = static_cast<const char*>(s.data);
    state.shared.push_back({s.name, s.data ? std::vector<char>(first, first + s.bytes) : s.early});
  }
  std::vector<SpreadMatrix> matrices;
  for (const auto& a : holdings_.matrices()) matrices.push_back(spread(*a, a->lay, a->local.data()));
  write_checkpoint(grid, writer, name, std::move(state), matrices);
}

/// The program's own path: a status. The environment's: taken, or the end of the run, since who set it wants to go on
/// from there, and a program that does not look at statuses would compute on from zeros.
void Session::restore(const char* path) {
  require_grid("dyngrid_restore");
  refuse_inside("dyngrid_restore");
  if (sleeps_at_first_point_)
    return; // outside the first grid: what was read comes with the first change that wakes this process
  if (processes_.grid() == MPI_COMM_NULL)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_restore before this process's first resize point");
  const MPI_Comm grid = processes_.grid();
  const std::vector<int>& ids = processes_.roster().grid.ids;
  const auto reader = static_cast<int>(std::find(ids.begin(), ids.end(), 0) - ids.begin());
  int is_environments = !(path && *path) && !settings_.restore.empty();
  check_mpi(MPI_Bcast(&is_environments, 1, MPI_INT, reader, grid), "MPI_Bcast");
  std::string name;
  together(grid, [&] {
    if (processes_.id() == 0) name = path_of("dyngrid_restore", path, "DYNGRID_RESTORE", settings_.restore);
  });
  try {
    restore_from(name, reader);
  } catch (const Error& error) {
    if (!is_environments) throw;
    end_without_restore(error.what());
  }
}

/// What DYNGRID_RESTORE asks for was not done: the run ends, status 1.
void Session::end_without_restore(const std::string& why) {
  if (processes_.id() == 0) {
    std::fprintf(stderr,
                 "dyngrid: DYNGRID_RESTORE is %s, which is not taken: %s. The run ends here, status 1. Start it with "
                 "the program and arguments that wrote the "
                 "checkpoint, or without DYNGRID_RESTORE to begin anew\n",
                 settings_.restore.c_str(), why.c_str());
  }
  std::fflush(nullptr);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(processes_.id() == 0 ? 100 : 2000)); // mpirun reads the line before it hears of the end
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void Session::restore_from(const std::string& name, int reader) {
  const MPI_Comm grid = processes_.grid();
  const SavedState state = look_into_checkpoint(grid, reader, name);

  // what the program made must be there; what it did not make comes along, as it does to a newcomer
  std::vector<std::unique_ptr<Matrix>> unknown;
  std::vector<Lay> lays;
  std::vector<redist::SharedArray> arrays;
  std::vector<SpreadMatrix> matrices;
  together(grid, [&] {
    for (const SavedMatrix& s : state.matrices) {
      if (holdings_.find(s.name)) continue;
      auto a = std::make_unique<Matrix>();
      a->name = s.name;
      a->type = s.type;
      a->rows.n = s.m;
      a->cols.n = s.n;
      a->rows.nb = s.mb > 0 ? s.mb : block_of_unknown;
      a->cols.nb = s.nb > 0 ? s.nb : block_of_unknown;
      unknown.push_back(std::move(a));
    }
    holdings_.check_shared(state.shared);
    int at = 0;
    MPI_Comm_rank(grid, &at);
    const auto add = [&](const Matrix& a, Lay lay) {
      lays.push_back(std::move(lay));
      arrays.emplace_back(a.bytes(lays.back()));
      matrices.push_back(spread(a, lays.back(), arrays.back().data()));
    };
    for (const auto& a : holdings_.matrices()) add(*a, a->lay);
    for (const auto& a : unknown) add(*a, a->on(processes_.roster().grid.shape, at));
  });
  read_checkpoint(grid, reader, name, matrices);

  // from here on nothing fails
  std::size_t k = 0;
  for (const auto& a : holdings_.matrices()) {
    a->place(std::move(lays[k]), std::move(arrays[k]), context_);
    ++k;
  }
  for (auto& a : unknown) {
    a->place(std::move(lays[k]), std::move(arrays[k]), context_);
    ++k;
    holdings_.add(std::move(a));
  }
  holdings_.take_shared(state.shared);
  settings_.points = state.resize_points;
  must_restore_ = false;
  if (settings_.is_verbose && processes_.id() == 0)
    std::fputs(fmt::format("dyngrid: restored {} on {}: {} matrices, resize point {}, written {} on {}x{}\n", name,
                           to_string(processes_.roster().grid.shape), state.matrices.size(), state.resize_points,
                           state.written, state.nprow, state.npcol)
                   .c_str(),
               stderr);
}

/// At a resize point: what the environment asks for. Collective over the grid. A checkpoint that cannot be written is
/// said and does not stop the application; a restart that cannot be done ends the run.
void Session::save_if_due() {
  if (must_restore_) {
    restore(nullptr);
    last_checkpoint_s_ = MPI_Wtime();
    return;
  }
  if (settings_.checkpoint.empty()) return;
  int is_due =
      settings_.checkpoint_points > 0 && settings_.points > 0 && settings_.points % settings_.checkpoint_points == 0;
  if (settings_.checkpoint_seconds > 0) { // clocks differ: process 0's counts
    const std::vector<int>& ids = processes_.roster().grid.ids;
    is_due = MPI_Wtime() - last_checkpoint_s_ >= settings_.checkpoint_seconds;
    const auto process0 = static_cast<int>(std::find(ids.begin(), ids.end(), 0) - ids.begin());
    check_mpi(MPI_Bcast(&is_due, 1, MPI_INT, process0, processes_.grid()), "MPI_Bcast");
  }
  if (!is_due) return;
  last_checkpoint_s_ = MPI_Wtime();
  try {
    checkpoint(nullptr);
    if (settings_.is_verbose && processes_.id() == 0)
      std::fputs(fmt::format("dyngrid: checkpoint {} at resize point {}, {:.3f} s\n", settings_.checkpoint,
                             settings_.points, MPI_Wtime() - last_checkpoint_s_)
                     .c_str(),
                 stderr);
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw;
    if (processes_.id() == 0) std::fprintf(stderr, "dyngrid: no checkpoint: %s; going on\n", error.what());
  }
}

} // namespace blacs_dyn
