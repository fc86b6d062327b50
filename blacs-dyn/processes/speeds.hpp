// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <mpi.h>

#include "processes/names.hpp"

namespace blacs_dyn {

bool are_alike(const std::vector<double>& speeds);

/// Sets the shares of rows and columns of `map` by the speeds of its processes, row-major. Rank 0 of comm works them
/// out, so that all have the same to the last bit. Nothing is sent when all speeds are alike. Collective. @throws
/// agreed Error
void share_out(MPI_Comm comm, GridMap& map, const std::vector<double>& speeds);

} // namespace blacs_dyn
