// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/check.hpp"

#include <climits>
#include <string>

#include <mpi.h>

#include "base/status.hpp"

namespace base {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(Status::mpi_failure, "dyngrid: {} failed: {}", what, std::string(text, static_cast<std::size_t>(length)));
}

int mpi_count(std::size_t count) {
  if (count > INT_MAX)
    throw Error(Status::unsupported, "dyngrid: a message of {} bytes, expected at most {}", count, INT_MAX);
  return static_cast<int>(count);
}

bool mpi_is_up() noexcept {
  int up = 0;
  int down = 0;
  MPI_Initialized(&up);
  MPI_Finalized(&down);
  return up != 0 && down == 0;
}

} // namespace base
