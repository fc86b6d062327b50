// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>
#include <mpi.h>

#include "base/status.hpp"
#include "exec/mpi_check.hpp"
#include "redist/grid_life.hpp"

namespace redist::detail {

/// One outcome for all ranks of comm: runs `checks`, which may throw and do not communicate, and throws the
/// worst status on every rank. Collective, one reduction of two ints.
template <class Checks> void agreed(MPI_Comm comm, const char* what, Checks&& checks) {
  using base::Error;
  using base::Status;
  if (comm == MPI_COMM_NULL)
    throw Error(Status::bad_argument, fmt::format("redist: {}: the communicator is MPI_COMM_NULL", what));
  require_whole_grid(comm, what);
  Status mine = Status::success;
  std::string message;
  try {
    checks();
  } catch (const Error& error) {
    mine = error.status();
    message = error.what();
  } catch (const std::bad_alloc&) {
    mine = Status::out_of_memory;
    message = fmt::format("redist: {}: no memory", what);
  }
  struct {
    int status, rank;
  } worst{static_cast<int>(mine), 0};
  check(MPI_Comm_rank(comm, &worst.rank), "MPI_Comm_rank");
  check(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_2INT, MPI_MINLOC, comm), "MPI_Allreduce");
  const auto status = static_cast<Status>(worst.status);
  if (status == Status::success) return;
  throw Error(status, mine == status
                          ? message
                          : fmt::format("redist: {}: rank {} reports: {}", what, worst.rank, base::to_string(status)));
}

} // namespace redist::detail
