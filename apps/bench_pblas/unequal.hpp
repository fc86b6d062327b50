// SPDX-License-Identifier: BSD-3-Clause
// Processors of different speed: shares by speed and our kernels against equal shares and ScaLAPACK's.
#pragma once
#include <string>
#include <vector>

#include <mpi.h>

#include "common/report.hpp"

namespace bench {

struct UnequalSettings {
  std::vector<int> orders;
  int nb = 32;
  std::vector<std::string> routines;
  int reps = 3;
  double gflops = 0.2; ///< of a processor of speed 1
  bool check = false;
};

/// Of the sets of speeds those with as many as there are processes. Collective over MPI_COMM_WORLD; before the first
/// call of BLAS. @return false, with a line on stderr, when libdyngrid-slow.so is not preloaded
bool run_unequal(const UnequalSettings& settings, apps::Report& report);

} // namespace bench
