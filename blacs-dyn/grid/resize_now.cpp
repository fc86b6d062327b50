// SPDX-License-Identifier: BSD-3-Clause
// Where the program itself changes the grid, and waits for it.
#include <array>

#include "base/fnv1a.hpp"
#include "grid/program_position.hpp"
#include "grid/resize_points.hpp"
#include "grid/settings.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

int ResizePoints::resize(Shape to, gridmap::Placement placement, const char* without) {
  if (const std::optional<int> outcome = come_in(Place())) return *outcome;
  program_position_.agree_on_call("dyngrid_resize");
  const MPI_Comm grid = grid_.comm();
  const auto number = static_cast<int>(placement);
  Resize::Goal goal;
  together(grid, [&] {
    if (without) goal.without = advise::Without::parse(without, "dyngrid_resize_without: without");
    base::check_grid_shape(to, "blacs-dyn: dyngrid_resize");
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument, "blacs-dyn: dyngrid_resize: placement is {}, expected {} .. {}", number,
                  int{DYNGRID_OPTIMAL}, int{DYNGRID_LOCAL2});
  });
  const std::array<std::int64_t, 6> range{to.nprow, -to.nprow, to.npcol, -to.npcol, number, -number};
  std::array<std::int64_t, 6> most{};
  check_mpi(MPI_Allreduce(range.data(), most.data(), 6, MPI_INT64_T, MPI_MAX, grid), "MPI_Allreduce");
  if (most[0] != -most[1] || most[2] != -most[3] || most[4] != -most[5])
    throw Error(Status::rank_mismatch,
                "blacs-dyn: dyngrid_resize: arguments differ between the processes: rows {} .. {}, columns {} .. {}, "
                "placement {} .. {}",
                -most[1], most[0], -most[3], most[2], -most[5], most[4]);
  check_same(grid, base::Fnv1a().text(goal.without.text()).positive(),
             "blacs-dyn: dyngrid_resize_without: the processes to be left out differ between processes");
  goal.to = to;
  goal.placement = placement;
  return changes_.make(std::move(goal));
}

int ResizePoints::need(const char* grids) {
  if (const std::optional<int> outcome = come_in(Place())) return *outcome;
  program_position_.agree_on_call("dyngrid_need");
  advise::Allowed needed;
  const auto read = [&] {
    if (!grids) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_need: the text is null");
    needed = advise::Allowed::parse(grids);
    if (needed.text().empty())
      throw Error(Status::bad_argument, "blacs-dyn: dyngrid_need: no grids are named, expected e.g. \"8:32\"");
    return base::Fnv1a().text(needed.text()).positive();
  };
  together_on_number(grid_.comm(), read, "blacs-dyn: dyngrid_need: the grids differ between processes");
  if (needed.permits(grid_.shape())) return DYNGRID_SAME;
  Resize::Goal goal;
  goal.need = needed.text();
  goal.placement = settings_.placement;
  return changes_.make(std::move(goal));
}

int ResizePoints::pop() {
  program_position_.come_to(Place());
  program_position_.agree_on_call("dyngrid_pop");
  return changes_.pop();
}

int ResizePoints::rebalance() {
  if (const std::optional<int> outcome = come_in(Place())) return *outcome;
  program_position_.agree_on_call("dyngrid_rebalance");
  if (const Resize* under_way = changes_.under_way())
    throw Error(
        Status::bad_state,
        "blacs-dyn: dyngrid_rebalance while new processes for {} are on their way: ask again when they are there",
        to_string(under_way->goal().to));
  return changes_.balance(balancing_.exchange(true));
}

} // namespace blacs_dyn
