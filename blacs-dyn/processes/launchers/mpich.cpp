// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/mpich.hpp"

#include <fmt/format.h>

namespace blacs_dyn::mpich {

std::string spawn_trouble(const base::MpiVersion& mpi) {
  if (base::starts_processes(mpi)) return {};
  return fmt::format("this MPI, MPICH {} over UCX (device ch4:ucx), cannot start processes or connect to others, so a "
                     "grid has at most the processes that mpiexec started: start as many as the largest grid needs, by "
                     "dyngrid run --spare N, and they sleep until then. Or take Open MPI, MPICH from {}.{}, or one "
                     "built with ch4:ofi",
                     base::to_string(mpi.version), base::mpich_spawns_over_ucx_from[0],
                     base::mpich_spawns_over_ucx_from[1]);
}

} // namespace blacs_dyn::mpich
