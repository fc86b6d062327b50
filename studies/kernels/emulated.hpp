// SPDX-License-Identifier: BSD-3-Clause
// What bench_kernels measures on processors of chosen speed, emulated by libdyngrid-slow.so.
#pragma once
#include <string>
#include <vector>

#include "common/report.hpp"

namespace bench {

struct EmulatedSettings {
  std::vector<int> orders;
  int nb = 32;
  std::vector<std::string> routines;
  int reps = 3;
  double gflops = 0.2; ///< of a processor of speed 1
  bool check = false;
  int processors = 0; ///< run_unequal: 0: as many as processes
};

// Collective over MPI_COMM_WORLD; before the first call of BLAS. @return false, with a line on stderr, when
// libdyngrid-slow.so is not preloaded, or there is nothing for as many processes.

/// --unequal: blocks of unequal sizes against equal shares and ScaLAPACK's, for those sets of speeds that have as many
/// as there are processes.
bool run_unequal(const EmulatedSettings& settings, apps::Report& report);
/// --competitor: a processor becomes slow in the middle of a factorization.
bool run_competitor(const EmulatedSettings& settings, apps::Report& report);

} // namespace bench
