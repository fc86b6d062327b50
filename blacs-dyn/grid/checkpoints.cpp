// SPDX-License-Identifier: BSD-3-Clause
#include "grid/checkpoints.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <signal.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "dyngrid/balance.h"
#include "grid/checkpoint.hpp"
#include "grid/place.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

constexpr std::int64_t block_of_unknown = 64; ///< of a matrix that the program has not made and that lay by a rule

SpreadMatrix spread(const Matrix& a, redist::Layout layout, void* local, std::int64_t lld) {
  SpreadMatrix s;
  s.saved.name = a.name;
  s.saved.type = a.type;
  s.saved.m = a.rows.n;
  s.saved.n = a.cols.n;
  s.saved.mb = a.rows.has_rule() ? 0 : a.rows.nb;
  s.saved.nb = a.cols.has_rule() ? 0 : a.cols.nb;
  s.saved.shape = static_cast<int>(a.lies_on.kind);
  s.saved.nprow = a.lies_on.most.nprow;
  s.saved.npcol = a.lies_on.most.npcol;
  s.saved.order = a.order;
  s.saved.field = a.field_dimensions();
  s.layout = std::move(layout);
  s.local = local;
  s.lld = lld;
  return s;
}

/// The path that process 0 was given, or that of its environment.
std::string path_of(const char* what, const char* given, const char* variable, const std::string& from_environment) {
  if (given && *given) return given;
  if (!from_environment.empty()) return from_environment;
  throw Error(Status::bad_argument, "blacs-dyn: {}: no path, and {} is not set", what, variable);
}

/// The program's command, grid and progress, and what it shares.
SavedState state_of(const Processes& processes, const Settings& settings, std::int64_t points_passed,
                    const SharedState& shared) {
  SavedState state;
  state.folder = start_folder();
  MPI_Comm_size(MPI_COMM_WORLD, &state.started); // process 0, which writes it, is one of those that mpirun started
  state.pool = settings.pool;
  state.dyngrid_version = DYNGRID_VERSION;
  state.written = base::utc_text(static_cast<std::int64_t>(base::unix_time_s()));
  state.resize_points = points_passed;
  state.nprow = processes.process_set().grid.shape.nprow;
  state.npcol = processes.process_set().grid.shape.npcol;
  const std::vector<double> speeds = processes.process_set().speeds_on(processes.process_set().grid);
  if (!are_alike(speeds)) state.speeds = speeds;
  state.command = own_arguments();
  state.command.insert(state.command.begin(), own_program());
  state.shared = shared.list();
  return state;
}

/// A matrix that the program has not made: it is restored too, as on a new process.
std::unique_ptr<Matrix> unknown_matrix(const SavedMatrix& saved) {
  auto a = std::make_unique<Matrix>();
  a->name = saved.name;
  a->type = saved.type;
  a->rows.n = saved.m;
  a->cols.n = saved.n;
  a->rows.nb = saved.mb > 0 ? saved.mb : block_of_unknown;
  a->cols.nb = saved.nb > 0 ? saved.nb : block_of_unknown;
  a->lies_on = {static_cast<MatrixGrid::Kind>(saved.shape), {saved.nprow, saved.npcol}};
  a->lies_on.check("dyngrid_restore");
  if (saved.order < 0 || saved.order > DYNGRID_ORDER_FACTOR)
    throw Error(Status::io_failure,
                "blacs-dyn: dyngrid_restore: matrix \"{}\" is dealt out in order {}, expected 0 .. {}", saved.name,
                saved.order, int{DYNGRID_ORDER_FACTOR});
  a->order = saved.order;
  if (!saved.field.empty()) make_field(*a, saved.field);
  return a;
}

} // namespace

void Checkpoints::begin() {
  settings_.must_restore = !settings_.restore.empty();
  last_s_ = MPI_Wtime();
}

void Checkpoints::write(const char* path) {
  if (!grid_.has_me())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_checkpoint before this process's first resize point");
  std::string name;
  SavedState state;
  std::vector<SpreadMatrix> matrices;
  together(grid_.comm(), [&] {
    if (must_restore())
      throw Error(Status::bad_state,
                  "blacs-dyn: dyngrid_checkpoint before the run has what DYNGRID_RESTORE ({}) names, expected after "
                  "it: call dyngrid_restore(NULL) first, or write the checkpoint after the first resize point",
                  settings_.restore);
    if (processes_.id() == 0) name = path_of("dyngrid_checkpoint", path, "DYNGRID_CHECKPOINT", settings_.checkpoint);
    state = state_of(processes_, settings_, points_passed(), registered_.shared);
    for (const auto& a : registered_.matrices.all())
      matrices.push_back(spread(*a, a->layout, a->local.data(), a->lld()));
  });
  write_checkpoint(grid_.comm(), name, std::move(state), matrices);
}

void Checkpoints::restore(const char* path) {
  if (grid_.is_still_outside()) return; // what was read comes with the first change that wakes this process
  if (!grid_.has_me())
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_restore before this process's first resize point");
  int is_environments = !(path && *path) && !settings_.restore.empty();
  check_mpi(MPI_Bcast(&is_environments, 1, MPI_INT, 0, grid_.comm()), "MPI_Bcast");
  std::string name;
  together(grid_.comm(), [&] {
    if (processes_.id() == 0) name = path_of("dyngrid_restore", path, "DYNGRID_RESTORE", settings_.restore);
  });
  try {
    restore_from(name);
  } catch (const std::exception& error) {
    if (!is_environments) throw;
    end_without_restore(error.what());
  }
}

bool Checkpoints::restore_if_due() {
  if (!must_restore()) return false;
  registered_.routines.call_before();
  restore(nullptr);
  registered_.routines.call_after();
  return true;
}

void Checkpoints::end_without_restore(const std::string& why) const {
  if (processes_.id() == 0) {
    std::fprintf(stderr,
                 "dyngrid: DYNGRID_RESTORE is %s, which is not taken: %s. The run ends here, status 1. Start it with "
                 "the program and arguments that wrote the "
                 "checkpoint, or without DYNGRID_RESTORE to begin anew\n",
                 settings_.restore.c_str(), why.c_str());
  }
  std::fflush(nullptr);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(processes_.id() == 0 ? 100 : 2000)); // mpirun reads the line before it receives the end
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// What is read from a checkpoint.
struct Checkpoints::Restored {
  SavedState state;
  GridMap map;                                  ///< of the grid, with the speeds that count
  bool takes_speeds = false;                    ///< those of the file
  std::vector<std::unique_ptr<Matrix>> unknown; ///< the program has not made them
  // of all matrices: those of the program, then the unknown ones
  std::vector<redist::LocalSize> sizes;
  std::vector<LocalArray> arrays;
  std::vector<SpreadMatrix> matrices;
  // of shared state
  std::vector<std::vector<char>> contents; ///< on process 0, which reads
  std::vector<char> buffer;

  void add(const Matrix& a, redist::Layout layout, int rank_in_grid) {
    sizes.push_back(a.local_size_on(layout, rank_in_grid));
    arrays.push_back(a.array_of(sizes.back()));
    matrices.push_back(spread(a, std::move(layout), arrays.back().data(), sizes.back().lld()));
  }
};

void Checkpoints::restore_from(const std::string& name) {
  Restored read;
  read.state = look_into_checkpoint(grid_.comm(), name);
  SavedState& state = read.state;
  const std::size_t shared_before = registered_.shared.count();
  // speeds that this run was given go before those of the file, which are for its grid alone
  read.map = processes_.process_set().grid;
  read.takes_speeds = state.speeds.size() == read.map.ids.size() && read.map.shape == Shape{state.nprow, state.npcol} &&
                      are_alike(processes_.process_set().speeds_on(read.map));
  if (read.takes_speeds) share_out(grid_.comm(), read.map, state.speeds);
  try {
    together(grid_.comm(), [&] {
      // what the program made must be there; what it did not make comes along
      for (const SavedMatrix& saved : state.matrices)
        if (!registered_.matrices.find(saved.name)) read.unknown.push_back(unknown_matrix(saved));
      registered_.shared.check(state.shared);
      for (const auto& a : registered_.matrices.all())
        read.add(*a, a->order != 0 ? a->on(read.map) : a->layout, grid_.rank());
      for (const auto& a : read.unknown) read.add(*a, a->on(read.map), grid_.rank());
      registered_.shared.expect(state.shared, false);
      read.buffer = SharedState::buffer_for(state.shared);
      for (SavedShared& one : state.shared) {
        if (grid_.rank() != 0) break;
        read.contents.emplace_back(static_cast<std::size_t>(one.bytes));
        one.data = read.contents.back().data();
      }
    });
    read_checkpoint(grid_.comm(), name, read.matrices, state.shared);
  } catch (...) {
    registered_.shared.forget_from(shared_before);
    throw;
  }
  take(read);
  if (settings_.is_verbose && processes_.id() == 0)
    std::fputs(fmt::format("dyngrid: restored {} on {}: {} matrices, resize point {}, written {} on {}x{}\n", name,
                           to_string(grid_.shape()), state.matrices.size(), state.resize_points, state.written,
                           state.nprow, state.npcol)
                   .c_str(),
               stderr);
}

/// Nothing fails here. Collective over the grid.
void Checkpoints::take(Restored& restored) {
  const SavedState& state = restored.state;
  for (auto& a : restored.unknown) registered_.matrices.add(std::move(a));
  for (std::size_t k = 0; k < restored.matrices.size(); ++k) {
    Matrix& a = *registered_.matrices.all()[k];
    a.place(std::move(restored.matrices[k].layout), restored.sizes[k], std::move(restored.arrays[k]), a.context());
    ++a.writes;
  }
  grid_.open_contexts_of_matrices();
  if (restored.takes_speeds) processes_.take_speeds(state.speeds, std::move(restored.map));
  registered_.matrices.changed();
  registered_.shared.spread(grid_.comm(), 0, state.shared, true, restored.buffer);
  settings_.points = state.resize_points;
  if (control_) control_->state().restored(state.resize_points);
  settings_.must_restore = false;
  last_s_ = MPI_Wtime();
}

bool Checkpoints::may_be_due() const {
  if (settings_.checkpoint.empty()) return false;
  if (settings_.checkpoint_seconds > 0) return true;
  return settings_.checkpoint_points > 0 && settings_.points > 0 && settings_.points % settings_.checkpoint_points == 0;
}

bool Checkpoints::is_due() const {
  return may_be_due() && (settings_.checkpoint_seconds <= 0 || MPI_Wtime() - last_s_ >= settings_.checkpoint_seconds);
}

namespace {
std::atomic<bool> has_signal{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");
extern "C" void note_signal(int) {
  has_signal = true;
}
} // namespace

void Checkpoints::heed_signal() const {
  if (settings_.checkpoint_signal == 0) return;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  // mpirun ends the job at a SIGTERM of its own, and passes SIGUSR1 on: dyngrid run turns one into the other
  for (const int number : {SIGTERM, SIGUSR1})
    if (number == SIGUSR1 || number == settings_.checkpoint_signal) sigaction(number, &action, nullptr);
}

std::uint64_t Checkpoints::flags() const {
  const std::uint64_t of_clients = control_ ? control_->checkpoint_flags() : 0;
  if (!has_signal.load(std::memory_order_relaxed)) return of_clients;
  const bool ends = settings_.checkpoint_signal == SIGTERM;
  return of_clients | PlaceWord::checkpoint | (ends ? std::uint64_t{PlaceWord::ends_after_it} : 0);
}

void Checkpoints::forget_signal() {
  has_signal = false;
}

bool Checkpoints::save_as_asked() {
  std::optional<control::CheckpointRequest> request;
  if (control_) request = control_->state().take_checkpoint();
  forget_signal();
  const std::string failure = save();
  if (control_) control_->checkpointed(request, settings_.checkpoint, failure);
  return failure.empty();
}

std::string Checkpoints::save() {
  last_s_ = MPI_Wtime();
  try {
    write(nullptr);
    if (settings_.is_verbose && processes_.id() == 0)
      std::fputs(fmt::format("dyngrid: checkpoint {} at resize point {}, {:.3f} s\n", settings_.checkpoint,
                             points_passed(), MPI_Wtime() - last_s_)
                     .c_str(),
                 stderr);
  } catch (const Error& error) {
    if (error.status() == Status::mpi_failure) throw;
    if (processes_.id() == 0) std::fprintf(stderr, "dyngrid: no checkpoint: %s; going on\n", error.what());
    return error.what();
  }
  return {};
}

} // namespace blacs_dyn
