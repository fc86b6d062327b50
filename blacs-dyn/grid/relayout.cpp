// SPDX-License-Identifier: BSD-3-Clause
#include "grid/relayout.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "grid/application.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

int Relayout::all() {
  return carry_out("dyngrid_relayout", app_.matrices.list(), [] {});
}

int Relayout::reblock(Matrix* matrix, std::int64_t mb, std::int64_t nb) {
  return one("dyngrid_matrix_reblock", matrix, {'R', 0, mb}, {'C', 0, nb});
}

int Relayout::set_rule(Matrix* matrix, dyngrid_distribution rule, void* context) {
  return one("dyngrid_matrix_set_rule", matrix, {'R', 0, 1, rule, context}, {'C', 0, 1, rule, context}, true);
}

int Relayout::one(const char* routine, Matrix* matrix, AxisRule rows, AxisRule cols, bool wants_rule) {
  const bool is_known = app_.matrices.has(matrix);
  AxisRule rows_before, cols_before;
  const int order_before = is_known ? matrix->order : 0;
  const bool was_missing = is_known && matrix->is_rule_missing;
  if (is_known) {
    matrix->is_rule_missing = false; // all have what they are given here
    rows_before = matrix->rows;
    cols_before = matrix->cols;
    rows.n = rows_before.n;
    cols.n = cols_before.n;
  }
  const auto check = [&] {
    if (!matrix) throw Error(Status::null_pointer, fmt::format("blacs-dyn: {}: the matrix is null", routine));
    if (!is_known)
      throw Error(Status::not_found, fmt::format("blacs-dyn: {}: the handle is of no living matrix", routine));
    if (wants_rule && !rows.rule)
      throw Error(Status::null_pointer, fmt::format("blacs-dyn: {}: the rule is null", routine));
    rows.check(routine);
    cols.check(routine);
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->order = 0;
  };
  try {
    const int outcome = carry_out(routine, is_known ? std::vector<Matrix*>{matrix} : std::vector<Matrix*>{}, check);
    ++matrix->relayouts;
    return outcome;
  } catch (...) {
    if (is_known) {
      matrix->rows = rows_before;
      matrix->cols = cols_before;
      matrix->order = order_before;
      matrix->is_rule_missing = was_missing;
    }
    throw;
  }
}

/// Those of `asked` that have another layout by their present rules. One all-reduce of 8 bytes when there are none and
/// no process objects. check: alone on this process, before the rules are asked.
std::vector<Matrix*> Relayout::those_that_move(const char* routine, const std::vector<Matrix*>& asked,
                                               const std::function<void()>& check) const {
  std::vector<Matrix*> moving;
  const GridMap& grid = app_.processes.process_set().grid;
  const Matrices::Told told = Matrices::told_by_others(app_.grid.comm(), asked, grid);
  base::Fnv1a hash;
  const std::optional<Error> objection = attempt([&] {
    check();
    for (Matrix* a : asked) {
      const redist::Layout layout = told.count(a) != 0 ? told.at(a) : a->on(grid);
      hash.text(a->name).number(fingerprint({&layout}));
      if (!(layout.rows == a->layout.rows && layout.cols == a->layout.cols)) moving.push_back(a);
    }
  });
  const bool is_quiet = !objection && moving.empty() && asked.size() == app_.matrices.list().size();
  const Place here(Place::Kind::call, routine);
  constexpr std::uint64_t has_something = PlaceWord::own_request;
  if ((app_.whereabouts.agree(here, is_quiet ? 0 : has_something) & has_something) == 0) return {};
  const std::int64_t print = hash.positive();
  const std::array<std::int64_t, 3> mine{objection ? 1 : 0, print, -print};
  std::array<std::int64_t, 3> most{};
  check_mpi(MPI_Allreduce(mine.data(), most.data(), 3, MPI_INT64_T, MPI_MAX, app_.grid.comm()), "MPI_Allreduce");
  if (most[0] != 0)
    together(app_.grid.comm(), [&] {
      if (objection) throw *objection;
    });
  if (most[1] != -most[2])
    throw Error(Status::rank_mismatch,
                fmt::format("blacs-dyn: {}: the processes of the grid name different matrices or give different block "
                            "sizes; expected the same on all",
                            routine));
  return moving;
}

int Relayout::carry_out(const char* routine, const std::vector<Matrix*>& asked, const std::function<void()>& check) {
  if (!app_.grid.has_me()) {
    check();
    return DYNGRID_SAME;
  }
  std::vector<Matrix*> moving = those_that_move(routine, asked, check);
  if (moving.empty()) return DYNGRID_SAME;
  move(std::move(moving));
  return DYNGRID_RESIZED;
}

void Relayout::move(std::vector<Matrix*> moving) {
  const double started = MPI_Wtime();
  const ProcessSet& processes = app_.processes.process_set();
  Change same_grid;
  same_grid.to = processes.grid;
  const Participants who(processes, same_grid, app_.processes.id());
  const Shape shape = app_.grid.shape();
  MatrixMove move(who);
  move.spare = &spare_;
  try {
    move.told = Matrices::told_by_others(app_.grid.comm(), moving, processes.grid);
    move.run_by(app_.copier.executor(app_.grid.comm()), app_.grid.comm(), processes.grid, std::move(moving),
                move_orders(app_.settings, app_.checkpoints, app_.routines));
  } catch (...) {
    if (app_.routines.owes_after()) app_.routines.call_after();
    throw;
  }
  move.use_new(app_.grid.context());
  app_.matrices.changed();

  const std::array<double, 3> mine{move.plan_s, move.exchange_s, MPI_Wtime() - started};
  std::array<double, 3> most{};
  check_mpi(MPI_Allreduce(mine.data(), most.data(), 3, MPI_DOUBLE, MPI_MAX, app_.grid.comm()), "MPI_Allreduce");
  dyngrid_resize_report& r = app_.last_resize;
  r = {};
  r.asked_at_step = r.changed_at_step = -1;
  r.from_nprow = r.to_nprow = shape.nprow;
  r.from_npcol = r.to_npcol = shape.npcol;
  r.plan_s = most[0];
  r.exchange_s = most[1];
  r.total_s = most[2];
  r.moved_bytes = move.moved_bytes;
  r.kept_bytes = move.kept_bytes;
  if (app_.control) app_.control->relaid();
  if (app_.settings.is_verbose && app_.processes.id() == 0)
    std::fputs(fmt::format("dyngrid: {} laid out anew: plan {:.4f} s, exchange {:.3f} s{}, all {:.3f} s; {} bytes "
                           "moved, {} kept\n",
                           to_string(shape), r.plan_s, r.exchange_s, move.is_in_slabs ? " in slabs" : "", r.total_s,
                           r.moved_bytes, r.kept_bytes)
                   .c_str(),
               stderr);
  app_.routines.call_after();
}

} // namespace blacs_dyn
