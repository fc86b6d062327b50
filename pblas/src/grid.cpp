// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <algorithm>
#include <list>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "in_place.hpp"
#include "pblas/contexts.hpp"

namespace pblas {

using base::at;
using base::check_mpi;

namespace {

// These outlive MPI_Finalize: nothing is freed at exit.
std::list<std::unique_ptr<Grid>>& grids() {
  static auto* all = new std::list<std::unique_ptr<Grid>>;
  return *all;
}

int keyval = MPI_KEYVAL_INVALID, preference_keyval = MPI_KEYVAL_INVALID;

/// Called by MPI when the context's communicator goes, on all its ranks.
int on_delete(MPI_Comm, int, void* value, void*) {
  const auto found = std::find_if(grids().begin(), grids().end(), [&](const auto& g) { return g.get() == value; });
  if (found == grids().end()) return MPI_SUCCESS;
  const std::unique_ptr<Grid> grid = std::move(*found);
  grids().erase(found);
  try {
    grid->close();
  } catch (...) {
    return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

} // namespace

void prefer_ours(int ctxt) {
  if (!position_in(ctxt).is_inside()) return;
  if (preference_keyval == MPI_KEYVAL_INVALID)
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &preference_keyval, nullptr),
              "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(communicator_of(ctxt), preference_keyval, &preference_keyval), "MPI_Comm_set_attr");
}

bool are_ours_preferred(int ctxt) {
  if (preference_keyval == MPI_KEYVAL_INVALID || !position_in(ctxt).is_inside()) return false;
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(communicator_of(ctxt), preference_keyval, &value, &found), "MPI_Comm_get_attr");
  return found != 0;
}

Grid& Grid::of(int ctxt) {
  const MPI_Comm comm = communicator_of(ctxt);
  if (keyval == MPI_KEYVAL_INVALID)
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr), "MPI_Comm_create_keyval");
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<Grid*>(value);
  auto made = std::make_unique<Grid>(comm, position_in(ctxt));
  check_mpi(MPI_Comm_set_attr(comm, keyval, made.get()), "MPI_Comm_set_attr");
  grids().push_back(std::move(made));
  return *grids().back();
}

Grid::Grid(MPI_Comm all, const Position& here) : all_(all), here_(here) {
  MPI_Comm row = MPI_COMM_NULL, col = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(all, here.myrow, here.mycol, &row), "MPI_Comm_split");
  row_ = base::Comm::adopt(row);
  check_mpi(MPI_Comm_split(all, here.mycol, here.myrow, &col), "MPI_Comm_split");
  col_ = base::Comm::adopt(col);
  row_processes_ = processes_to_read(row_.get());
  col_processes_ = processes_to_read(col_.get());
  int rank = 0;
  check_mpi(MPI_Comm_rank(all, &rank), "MPI_Comm_rank");
  const int mine = here.myrow * here.npcol + here.mycol;
  std::vector<int> places(at(here.nprow * here.npcol));
  check_mpi(MPI_Allgather(&mine, 1, MPI_INT, places.data(), 1, MPI_INT, all), "MPI_Allgather");
  ranks_ = {here.nprow, here.npcol, places};
  for (std::size_t r = 0; r < places.size(); ++r) ranks_.ranks[at(places[r])] = static_cast<int>(r);
}

redist::Executor& Grid::executor() {
  if (!executor_) executor_.emplace(all_);
  return *executor_;
}

void Grid::close() {
  if (executor_) executor_->close();
  row_.close();
  col_.close();
}

void forget_all_contexts() {
  if (!base::mpi_is_up()) return;
  while (!grids().empty()) check_mpi(MPI_Comm_delete_attr(grids().front()->all(), keyval), "MPI_Comm_delete_attr");
}

std::size_t remembered_contexts() {
  return grids().size();
}

} // namespace pblas
