// SPDX-License-Identifier: BSD-3-Clause
// PDGEMR2D of ScaLAPACK's sources, compiled for SMPI where they were given.
#pragma once
#include "scale/traffic.hpp"

namespace scale {

bool has_pdgemr2d();

/// The BLACS grids of a change, on the ranks 0, 1, ... of MPI_COMM_WORLD. Collective.
class StockCopy {
public:
  explicit StockCopy(const Change& change);
  void run(const double* from, double* to);

private:
  Change change_;
  int from_context_ = -1, to_context_ = -1, all_ = -1;
};

} // namespace scale
