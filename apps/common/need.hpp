// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cerrno>
#include <cstdio>

#include <mpi.h>

#include "dyngrid.h"

namespace bench {

inline void need(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "%s: %s failed: %s\n", program_invocation_short_name, what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace bench
