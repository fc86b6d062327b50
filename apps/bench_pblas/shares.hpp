// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose processes have shares by speed: our kernels on these, ScaLAPACK's on equal shares, in turn.
#pragma once
#include <string>
#include <vector>

namespace bench {

struct SharesSettings {
  std::vector<double> speeds; ///< of the processes, by rank, over and over
  std::vector<int> orders, blocks;
  std::vector<std::string> routines;
  int reps = 5;
  std::string csv;
  bool check = false;
};

/// --speeds: as in a program that states the speed of its processor. Collective over MPI_COMM_WORLD.
/// @return exit status
int run_shares(const SharesSettings& settings);

} // namespace bench
