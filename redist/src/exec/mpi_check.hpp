// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <mpi.h>

#include "base/status.hpp"

namespace redist::detail {

/// Throws Error{mpi_failure} unless `code` is MPI_SUCCESS. The communicator must return its errors.
inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw base::Error(base::Status::mpi_failure,
                    std::string("redist: ") + what + ": " + std::string(text, static_cast<std::size_t>(length)));
}

/// False before MPI_Init and after MPI_Finalize.
inline bool mpi_is_up() noexcept {
  int up = 0;
  int down = 0;
  MPI_Initialized(&up);
  MPI_Finalized(&down);
  return up != 0 && down == 0;
}

} // namespace redist::detail
