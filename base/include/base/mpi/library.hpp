// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/mpi_version.hpp"

namespace base {

/// The MPI that this process runs with; also before MPI_Init.
const MpiVersion& mpi_library();

} // namespace base
