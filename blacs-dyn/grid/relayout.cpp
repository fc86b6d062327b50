// SPDX-License-Identifier: BSD-3-Clause
#include "grid/relayout.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/fnv1a.hpp"
#include "grid/change_reports.hpp"
#include "grid/change_routines.hpp"
#include "grid/copier.hpp"
#include "grid/matrix_move.hpp"
#include "grid/program_position.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

int Relayout::all() {
  return carry_out("dyngrid_relayout", parts_.registered.matrices.list(), [] {});
}

int Relayout::one(const char* routine, Matrix* matrix, AxisRule rows, AxisRule cols, bool wants_rule) {
  const bool is_known = parts_.registered.matrices.has(matrix);
  AxisRule rows_before, cols_before;
  const int order_before = is_known ? matrix->order : 0, relayouts_before = is_known ? matrix->relayouts : 0;
  const std::int64_t number = is_known ? matrix->number : 0;
  const bool was_missing = is_known && matrix->is_rule_missing;
  if (is_known) {
    matrix->is_rule_missing = false; // all have what they are given here
    rows_before = matrix->rows;
    cols_before = matrix->cols;
    rows.n = rows_before.n;
    cols.n = cols_before.n;
  }
  const auto check = [&] {
    parts_.registered.matrices.require(routine, matrix);
    if (matrix->is_field())
      throw Error(Status::unsupported,
                  "blacs-dyn: {}: matrix \"{}\" is a field, whose blocks stay as it was made with; copy it to another "
                  "one (dyngrid_copy)",
                  routine, matrix->name);
    if (wants_rule && !rows.has_rule()) throw Error(Status::null_pointer, "blacs-dyn: {}: the rule is null", routine);
    rows.check(routine);
    cols.check(routine);
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->order = 0;
    ++matrix->relayouts;
  };
  try {
    return carry_out(routine, is_known ? std::vector<Matrix*>{matrix} : std::vector<Matrix*>{}, check);
  } catch (...) {
    // the program's routines may have freed it, and made another one
    if (is_known && parts_.registered.matrices.has(matrix) && matrix->number == number) {
      matrix->rows = rows_before;
      matrix->cols = cols_before;
      matrix->order = order_before;
      matrix->relayouts = relayouts_before;
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
  const GridMap& grid = parts_.grid.map();
  const Matrices::Layouts received = Matrices::missing_layouts(parts_.grid.comm(), asked, grid);
  base::Fnv1a hash;
  std::string differs;
  const std::optional<Error> objection = attempt([&] {
    differs = fmt::format("blacs-dyn: {}: the processes of the grid name different matrices or give different block "
                          "sizes or owners; expected the same on all",
                          routine);
    check();
    for (Matrix* a : asked) {
      const redist::Layout layout = received.count(a) != 0 ? received.at(a) : a->on(grid);
      hash.text(a->name).number(fingerprint({&layout}));
      if (!(layout.rows == a->layout.rows && layout.cols == a->layout.cols)) moving.push_back(a);
    }
  });
  const bool is_quiet = !objection && moving.empty() && asked.size() == parts_.registered.matrices.list().size();
  const Place here(Place::Kind::call, routine);
  constexpr std::uint64_t has_something = PlaceWord::own_request;
  if ((program_position_.agree(here, is_quiet ? 0 : has_something) & has_something) == 0) return {};
  const auto compared = [&] {
    if (objection) throw *objection;
    return hash.positive();
  };
  together_on_number(parts_.grid.comm(), compared, differs.c_str());
  return moving;
}

int Relayout::carry_out(const char* routine, const std::vector<Matrix*>& asked, const std::function<void()>& check) {
  if (!parts_.grid.has_me()) {
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
  const Grid& grid = parts_.grid;
  ChangeRoutines& routines = parts_.registered.routines;
  std::optional<Participants> who;
  together(grid.comm(), [&] { who.emplace(grid.participants()); });
  MatrixMove move(*who);
  move.spare = &spare_;
  try {
    move.received = Matrices::missing_layouts(grid.comm(), moving, grid.map());
    move.run_by(copier_.executor(), grid.comm(), grid.map(), std::move(moving),
                {parts_.settings, parts_.machine, true, parts_.checkpoints, routines});
  } catch (const Error& error) {
    // not after a failure of MPI: the routine would wait for processes that are not here
    if (error.status() != Status::mpi_failure && routines.owes_after()) routines.call_after();
    throw;
  }
  move.use_new();
  parts_.registered.matrices.changed();
  parts_.reports.relaid(move, started);
  routines.call_after();
}

} // namespace blacs_dyn
