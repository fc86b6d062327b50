// SPDX-License-Identifier: BSD-3-Clause
#include "redist/grid_life.hpp"

#include "exec/mpi_check.hpp"

namespace redist {
namespace {

using Held = std::shared_ptr<GridLife>;

int copy(MPI_Comm, int, void*, void* from, void* to, int* is_copied) {
  *static_cast<Held**>(to) = new Held(*static_cast<Held*>(from));
  *is_copied = 1;
  return MPI_SUCCESS;
}
int drop(MPI_Comm, int, void* held, void*) {
  delete static_cast<Held*>(held);
  return MPI_SUCCESS;
}

int key = MPI_KEYVAL_INVALID;

} // namespace

void tie_to_grid(MPI_Comm comm, const std::shared_ptr<GridLife>& life) {
  if (key == MPI_KEYVAL_INVALID)
    detail::check(MPI_Comm_create_keyval(copy, drop, &key, nullptr), "MPI_Comm_create_keyval");
  detail::check(MPI_Comm_set_attr(comm, key, new Held(life)), "MPI_Comm_set_attr");
}

void require_whole_grid(MPI_Comm comm, const char* what) {
  if (comm == MPI_COMM_NULL)
    throw base::Error(base::Status::bad_argument, "redist: {}: the communicator is MPI_COMM_NULL", what);
  Held* held = nullptr;
  int is_there = 0;
  if (key == MPI_KEYVAL_INVALID) return;
  detail::check(MPI_Comm_get_attr(comm, key, &held, &is_there), "MPI_Comm_get_attr");
  if (is_there && !(*held)->is_whole)
    throw base::Error(
        base::Status::bad_state,
        "redist: {}: its communicator is a duplicate of dyngrid_comm from an earlier grid, of whose processes some "
        "have left or sleep; expected one made on the current grid (make it anew in a routine of dyngrid_on_change)",
        what);
}

} // namespace redist
