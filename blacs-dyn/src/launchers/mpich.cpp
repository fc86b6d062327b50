// SPDX-License-Identifier: BSD-3-Clause
// What is special to MPICH, behind questions. What it can and cannot do: docs/mpi.md.
#include <cstring>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "preflight.hpp"

namespace blacs_dyn {

std::string spawn_trouble(const std::string& library_version) {
  const std::size_t mpich = library_version.find("MPICH Version:");
  if (mpich == std::string::npos) return {};
  int major = 0, minor = 0;
  std::istringstream number(library_version.substr(mpich + std::strlen("MPICH Version:")));
  char dot = 0;
  number >> major >> dot >> minor;
  const bool is_old = major < 4 || (major == 4 && minor < 2);
  if (!is_old || library_version.find("ch4:ucx") == std::string::npos) return {};
  return fmt::format("this MPI, MPICH {}.{} over UCX (device ch4:ucx), cannot start processes or connect to others, so "
                     "a grid has at most the processes that "
                     "mpiexec started: start as many as the largest grid needs, by dyngrid run --spare N, and they "
                     "sleep until then. Or take Open MPI 4.1, "
                     "MPICH from 4.2, or one built with ch4:ofi",
                     major, minor);
}

} // namespace blacs_dyn
