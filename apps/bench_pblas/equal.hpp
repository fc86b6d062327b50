// SPDX-License-Identifier: BSD-3-Clause
// Matrices in equal blocks: ScaLAPACK's kernels and ours in turn.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "common/blacs.hpp"
#include "common/report.hpp"

namespace bench {

constexpr int one = 1; ///< the first row or column

/// The measurement, on the present grid.
struct EqualCase {
  std::string part, routine; ///< part: of the CSV file
  std::string from;          ///< the grid before; empty: it did not change
  apps::BlacsGrid grid;
  int n = 0, nb = 0, reps = 0;
  bool check = false;               ///< results are compared with ScaLAPACK's
  std::vector<std::string> methods; ///< stock; own: ours on ScaLAPACK's descriptors; listed: on those of DTYPE_ 601
};

/// Collective over comm, all processes of the grid. @return medians by method
std::map<std::string, double> measure(const EqualCase& what, MPI_Comm comm, apps::Report& report);

struct GrownSettings {
  std::string grid; ///< the larger grid
  std::vector<int> orders, blocks;
  std::vector<std::string> routines;
  int reps = 5;
  std::string csv;
  bool check = false;
};
/// --grow: dyngrid starts the missing processes, and then all is measured on the larger grid. Collective over
/// MPI_COMM_WORLD; new processes call it too.
/// @return exit status
int run_grown(const GrownSettings& settings);

} // namespace bench
