// SPDX-License-Identifier: BSD-3-Clause
// ScaLAPACK's kernels and ours in turn: on matrices in equal blocks, after a growth, on shares by speed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include "common/blacs.hpp"
#include "common/report.hpp"

namespace bench {

constexpr int one = 1; ///< the first row or column
#ifdef DYNGRID_HAVE_COSMA
constexpr bool has_cosma = true;
#else
constexpr bool has_cosma = false;
#endif

/// The measurement, on the present grid.
struct EqualCase {
  std::string part, routine; ///< part: of the CSV file
  std::string from;          ///< the grid before; empty: it did not change
  apps::BlacsGrid grid;
  int n = 0, nb = 0, reps = 0;
  bool check = false; ///< results are compared with ScaLAPACK's
  /// stock; own: ours on ScaLAPACK's descriptors; listed: on those of DTYPE_ 601; cosma: products, if it was found
  std::vector<std::string> methods;
};

/// Collective over comm, all processes of the grid. @return medians by method
std::map<std::string, double> measure(const EqualCase& what, MPI_Comm comm, apps::Report& report);

/// The command line's values.
struct Settings {
  std::vector<int> orders{1000, 2000};
  std::vector<int> blocks{64};
  std::vector<std::string> grids, routines{"gemm", "getrf", "potrf"};
  int reps = 5;
  std::vector<double> speeds; ///< of the processes, by rank, over and over
  std::string csv, grow;      ///< grow: the larger grid
  bool check = false;
};
/// --grow: dyngrid starts the missing processes, and then all is measured on the larger grid. Collective over
/// MPI_COMM_WORLD; new processes call it too.
/// @return exit status
int run_grown(const Settings& settings);
/// --speeds: matrices whose processes have shares by speed, as in a program that states the speed of its processor:
/// our kernels on these, ScaLAPACK's on equal shares, in turn. Collective over MPI_COMM_WORLD.
/// @return exit status
int run_shares(const Settings& settings);

} // namespace bench
