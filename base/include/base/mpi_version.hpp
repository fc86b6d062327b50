// SPDX-License-Identifier: BSD-3-Clause
// Which MPI a text speaks of, and what depends on its version: the one place where versions of an MPI are compared.
// docs/mpi.md says what each can do.
#pragma once

#include <array>
#include <string>

namespace base {

using Version = std::array<int, 3>;
/// The first "a.b" or "a.b.c" in a text; {0,0,0} when there is none.
Version version_in(const std::string& text);
std::string to_string(const Version& version);

enum class Mpi { open_mpi, mpich, unknown };

struct MpiVersion {
  Mpi mpi = Mpi::unknown;
  Version version{};
  bool is_over_ucx = false; ///< MPICH's device ch4:ucx
};
/// Of what MPI_Get_library_version, `mpirun --version` or `mpichversion` says.
MpiVersion mpi_version_in(const std::string& text);

/// From here on MPICH over UCX has ports, which MPI_Comm_spawn and MPI_Comm_connect need. CMake reads this line, too.
constexpr Version mpich_spawns_over_ucx_from{4, 3, 0};
/// Whether it can start processes, or connect to others.
bool starts_processes(const MpiVersion& mpi);

/// From here on Open MPI starts processes on other hosts again. With 5 mpirun reads what its daemons send for that in
/// another form than they send it, and writes over its memory.
constexpr Version open_mpi_spawns_elsewhere_from{6, 0, 0};
/// Whether it can start processes on other hosts than those where the application is; starts_processes() holds.
bool starts_processes_elsewhere(const MpiVersion& mpi);

/// Open MPI from 5 on: its launcher is PRRTE, which has no ompi-server and other settings.
bool is_open_mpi_5(const MpiVersion& mpi);

} // namespace base
