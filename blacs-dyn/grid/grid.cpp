// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/mpi/blacs.hpp"
#include "grid/calls/calls.hpp"
#include "grid/contexts.hpp"
#include "pblas/contexts.hpp"
#include "redist/gemr2d.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

int Grid::rank() const {
  int rank = -1;
  if (has_me()) MPI_Comm_rank(comm(), &rank);
  return rank;
}

Participants Grid::participants() const {
  Change same_grid;
  same_grid.to = map();
  return {processes_.process_set(), same_grid, processes_.id()};
}

int Grid::system_handle() {
  if (system_handle_ < 0) system_handle_ = Csys2blacs_handle(comm());
  return system_handle_;
}

int Grid::fortran_handle() const {
  return MPI_Comm_c2f(comm());
}

void Grid::rank_and_size(int* iam, int* nprocs) const {
  *iam = rank();
  *nprocs = 0;
  if (has_me()) MPI_Comm_size(comm(), nprocs);
}

void Grid::open_context() {
  context_ = system_handle();
  Cblacs_gridinit(&context_, "Row", shape().nprow, shape().npcol);
  pblas::prefer_ours(context_);
  arranged_.push_back({redist::Grid::row_major(shape().nprow, shape().npcol), false, false, context_});
  open_contexts_of_matrices();
}

void Grid::open_contexts_of_matrices() {
  matrices_.set_contexts([this](const Matrix& a) { return context_of(a.layout); });
}

/// A context is made the first time: one for each copy, at once, which MPI_Comm_create takes since no process is in two
/// of them. None where each process has the whole.
int Grid::context_of(const redist::Layout& layout) {
  if (layout.rows_replicated && layout.cols_replicated) return -1;
  const redist::Grid& grid = layout.grid;
  for (const Arranged& known : arranged_)
    if (known.grid.nprow == grid.nprow && known.grid.npcol == grid.npcol && known.grid.ranks == grid.ranks &&
        known.rows_replicated == layout.rows_replicated && known.cols_replicated == layout.cols_replicated)
      return known.context;
  const auto [p, q] = grid.position_of(rank());
  const auto processes = [](bool is_replicated, int mine, int all) {
    return is_replicated ? std::pair{mine, mine + 1} : std::pair{0, all};
  };
  const auto [row, row_end] = processes(layout.rows_replicated, p, grid.nprow);
  const auto [col, col_end] = processes(layout.cols_replicated, q, grid.npcol);
  std::vector<int> column_major;
  for (int j = col; j < col_end; ++j)
    for (int i = row; i < row_end; ++i) column_major.push_back(grid.rank_at(i, j));
  int context = system_handle();
  Cblacs_gridmap(&context, column_major.data(), row_end - row, row_end - row, col_end - col);
  arranged_.push_back({grid, layout.rows_replicated, layout.cols_replicated, context});
  return context;
}

void Grid::forget_contexts() {
  context_ = -1;
  system_handle_ = -1;
  arranged_.clear();
  matrices_.set_contexts([](const Matrix&) { return -1; });
  calls::contexts_are_closed();
  pblas::forget_all_contexts();
  redist::forget_all_contexts();
}

void Grid::close_contexts(MPI_Comm gathered, const std::vector<int>& staying_ranks, const std::string& by) {
  on_close();
  forget_contexts();
  const base::Group world = base::Group::of(processes_.world());
  const base::Group staying =
      gathered == MPI_COMM_NULL ? base::Group() : base::Group::of(gathered).with_ranks(staying_ranks);
  contexts::close_ours(staying, world, by);
}

void Grid::close_all_contexts() {
  forget_contexts();
  contexts::close_all(1);
}

void Grid::tie() {
  const std::vector<int>& ids = processes_.process_set().grid.ids;
  const auto is_gone = [](const Tied& grid) { return grid.life.expired(); };
  tied_.erase(std::remove_if(tied_.begin(), tied_.end(), is_gone), tied_.end());
  for (const Tied& grid : tied_)
    if (const auto life = grid.life.lock())
      life->is_whole = has_me() && std::all_of(grid.ids.begin(), grid.ids.end(), [&](int id) { return has(ids, id); });
  if (!has_me()) return;
  const auto life = std::make_shared<redist::GridLife>();
  redist::tie_to_grid(comm(), life);
  tied_.push_back({life, ids});
}

void Grid::check_choice(const char* routine, const char* what, int value, int least, int most) const {
  const auto check = [&] {
    if (value < least || value > most)
      throw Error(Status::bad_argument, "blacs-dyn: {}: {} is {}, expected {} .. {}", routine, what, value, least,
                  most);
    return std::int64_t{value};
  };
  if (has_me())
    together_on_number(comm(), check,
                       fmt::format("blacs-dyn: {}: {} differs between the processes", routine, what).c_str());
  else
    check();
}

} // namespace blacs_dyn
