// SPDX-License-Identifier: BSD-3-Clause
#include "grid/factoring.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "advise/factor_layout.hpp"
#include "base/fnv1a.hpp"
#include "grid/checkpoints.hpp"
#include "grid/registered_name.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;
using pblas::FactorKind;

namespace {

Place place_of(const char* routine, const Matrix* matrix) {
  const std::string name = fmt::format("{}:{}", routine, matrix ? matrix->name : "");
  return Place(Place::Kind::within, name.substr(0, longest_name));
}

enum Slot { next_, info_, has_looked_, must_save_, given_rows_, given_cols_, pivots_ };

} // namespace

/// As long as this lives the state is shared, and the matrix cannot be freed.
class Factoring::InShared {
public:
  InShared(SharedState& shared, const std::string& name, std::vector<std::int64_t>& state, MPI_Comm grid,
           Matrix& matrix)
      : shared_(shared), name_(name), matrix_(matrix) {
    shared_.share(name_.c_str(), state.data(), state.size() * sizeof state[0], grid);
    matrix_.is_factored = true;
  }
  ~InShared() {
    matrix_.is_factored = false;
    shared_.unshare(name_.c_str());
  }
  InShared(const InShared&) = delete;
  InShared& operator=(const InShared&) = delete;

private:
  SharedState& shared_;
  std::string name_;
  Matrix& matrix_;
};

/// A handle of no living matrix is refused with the others.
Factoring::Factoring(const Parts& parts, const Asked& asked)
    : parts_(parts), asked_(asked),
      place_(place_of(asked.routine, parts.registered.matrices.has(asked.matrix) ? asked.matrix : nullptr)) {}

void Factoring::check() const {
  const auto fail = [&](Status status, const std::string& what) {
    throw Error(status, "blacs-dyn: {}: {}", asked_.routine, what);
  };
  const Matrix* a = asked_.matrix;
  if (!a || !asked_.has_place) fail(Status::null_pointer, "the matrix, or a pointer for a result, is null");
  if (asked_.kind == FactorKind::none) fail(Status::bad_argument, "uplo is neither 'L' nor 'U'");
  if ((asked_.options & ~DYNGRID_GIVE_BACK) != 0)
    fail(Status::bad_argument,
         fmt::format("options is {}, expected 0 or DYNGRID_GIVE_BACK ({})", asked_.options, int{DYNGRID_GIVE_BACK}));
  parts_.registered.matrices.require(asked_.routine, a);
  if (!a->is_ordinary())
    fail(Status::unsupported,
         fmt::format("\"{}\" lies{}, expected a matrix over the whole grid; dyngrid_copy fills one", a->name,
                     a->lies_text()));
  if (a->is_placed) static_cast<void>(a->descriptor()); // one that cannot be made is refused before the first panel
  if (a->type == 'i') fail(Status::bad_type, fmt::format("\"{}\" has integers, expected s, d, c or z", a->name));
  if (asked_.kind != FactorKind::lu && a->rows.n != a->cols.n)
    fail(Status::shape_mismatch,
         fmt::format("\"{}\" is {} x {}, expected as many rows as columns", a->name, a->rows.n, a->cols.n));
}

/// All that this process takes for the state, before it is shared.
void Factoring::make_room() {
  const std::int64_t pivots =
      asked_.kind == FactorKind::lu ? std::min(asked_.matrix->rows.n, asked_.matrix->cols.n) : 0;
  shared_state_.assign(static_cast<std::size_t>(pivots_ + pivots), 0);
  progress_.pivots.reserve(static_cast<std::size_t>(pivots));
}

/// All are at the same factorization, and have room for it.
void Factoring::agree() {
  const auto checked = [&] {
    check();
    make_room();
    const auto kind = static_cast<std::int64_t>(asked_.kind);
    return base::Fnv1a().text(place_.text).text(asked_.matrix->name).number(kind).number(asked_.options).positive();
  };
  together_on_number(parts_.grid.comm(), checked,
                     fmt::format("blacs-dyn: {}: called with another matrix, triangle or option on different processes",
                                 asked_.routine)
                         .c_str());
}

int Factoring::run() {
  const bool is_in_grid = parts_.grid.has_me();
  if (is_in_grid) {
    agree();
  } else {
    check();
    make_room();
  }
  const InShared shared(parts_.registered.shared, place_.text, shared_state_, parts_.grid.comm(), *asked_.matrix);
  panels_.emplace(parts_.balancing, *asked_.matrix, place_);
  if (const std::optional<int> outcome = parts_.points.come_in(place_)) {
    outcome_ = *outcome;
    if (outcome_ != DYNGRID_RESIZED) return outcome_;
    came_of_point_ = outcome_;
    read_shared();
  }
  while (come_to_panel() && !is_done()) do_panel();
  return outcome_;
}

void Factoring::do_panel() {
  const std::int64_t first = progress_.next;
  const double begun_s = MPI_Wtime();
  step();
  panels_->done(first, progress_.next);
  const int came_of_point = std::exchange(came_of_point_, DYNGRID_SAME);
  if (progress_.next == first) return; // it failed
  const Matrix& a = *asked_.matrix;
  const Shape grid = parts_.grid.shape();
  parts_.registered.routines.call_on_panel({first, progress_.next - first, std::min(a.rows.n, a.cols.n), grid.nprow,
                                            grid.npcol, MPI_Wtime() - begun_s, came_of_point});
}

bool Factoring::is_done() const {
  if (asked_.kind != FactorKind::lu && progress_.info != 0) return true;
  return progress_.next >= std::min(asked_.matrix->rows.n, asked_.matrix->cols.n);
}

/// The resize point before a panel. @return false: this process is not in the grid any more
bool Factoring::come_to_panel() {
  const Balancing::Point here(parts_.balancing);
  for (;;) {
    if (found_ && is_whole()) {
      check_mpi(MPI_Barrier(parts_.grid.comm()), "MPI_Barrier");
      panels_->all_came();
    }
    if (found_ && is_whole() && !act(*std::exchange(found_, std::nullopt))) return false;
    if (has_looked_ || is_done()) return true; // a process that slept in act() wakes as the others are now
    save_if_due();
    give_back();
    ResizePoints::Findings found = parts_.points.look();
    panels_->all_came();
    has_looked_ = true;
    if (found.is_anything() || found.wants_checkpoint()) found_ = std::move(found);
    if (!is_whole()) return true;
  }
}

/// A checkpoint, too, wants the matrix whole; and what the environment asks to be restored comes before the first
/// panel.
void Factoring::save_if_due() {
  if (parts_.points.restore_if_due()) {
    outcome_ = came_of_point_ = DYNGRID_RESIZED;
    read_shared();
    must_save_ = false;
    given_back_ = {}; // this run has asked for nothing yet
  } else if (must_save_ || (parts_.checkpoints.may_be_due() && parts_.points.agree_on_due(place_))) {
    must_save_ = !is_whole();
    if (must_save_) return;
    write_shared();
    parts_.checkpoints.save();
  }
}

/// Does what was found at a resize point. @return false: this process is not in the grid any more
bool Factoring::act(ResizePoints::Findings found) {
  write_shared();
  steps_.reset(); // its communicators go with the grid
  int outcome = DYNGRID_SAME;
  try {
    outcome = parts_.points.act(std::move(found));
  } catch (const Error& error) { // was reported; the grid and all data are as they were
    if (error.status() == Status::mpi_failure) throw;
    base::detail::set_last_message(error.what()); // for the caller that gets the status
    came_of_point_ = static_cast<int>(error.status());
  }
  if (outcome == DYNGRID_LEAVE || outcome == DYNGRID_REDIRECT) {
    outcome_ = outcome;
    return false;
  }
  if (outcome == DYNGRID_RESIZED) outcome_ = came_of_point_ = outcome;
  read_shared();
  return true;
}

void Factoring::step() {
  try {
    Matrix& a = *asked_.matrix;
    if (!steps_) steps_ = pblas::go_on(asked_.kind, a.type, a.local.data(), a.descriptor().data(), progress_);
    steps_->step(!found_ && !must_save_);
    ++a.writes;
    has_looked_ = false;
  } catch (const std::exception& error) { // of this process alone: the others wait for it in the middle of a panel
    std::fprintf(stderr, "dyngrid: %s: %s; the application ends\n", asked_.routine, error.what());
    std::fflush(stderr);
    MPI_Abort(parts_.grid.comm(), 1);
  }
}

void Factoring::write_shared() {
  shared_state_[next_] = progress_.next;
  shared_state_[info_] = progress_.info;
  shared_state_[Slot::has_looked_] = has_looked_ ? 1 : 0;
  shared_state_[Slot::must_save_] = must_save_ ? 1 : 0;
  shared_state_[given_rows_] = given_back_.nprow;
  shared_state_[given_cols_] = given_back_.npcol;
  std::copy(progress_.pivots.begin(), progress_.pivots.end(), shared_state_.begin() + pivots_);
}

void Factoring::read_shared() {
  progress_.next = shared_state_[next_];
  progress_.info = shared_state_[info_];
  has_looked_ = shared_state_[Slot::has_looked_] != 0;
  must_save_ = shared_state_[Slot::must_save_] != 0;
  given_back_ = {static_cast<int>(shared_state_[given_rows_]), static_cast<int>(shared_state_[given_cols_])};
  if (asked_.kind == FactorKind::lu)
    progress_.pivots.assign(shared_state_.begin() + pivots_, shared_state_.begin() + pivots_ + progress_.next);
}

/// All ask for the same. What the program asks for goes before it.
void Factoring::give_back() {
  if ((asked_.options & DYNGRID_GIVE_BACK) == 0 || progress_.next == 0) return;
  const Matrix& a = *asked_.matrix;
  const Shape now = parts_.grid.shape();
  const Shape to = advise::grid_for_rest(now, a.rows.n - progress_.next, a.cols.n - progress_.next);
  if (to == now || to == given_back_) return; // the second: it was refused
  if (parts_.changes.request_if_none(to)) given_back_ = to;
}

} // namespace blacs_dyn
