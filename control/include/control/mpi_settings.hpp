// SPDX-License-Identifier: BSD-3-Clause
// The settings of Open MPI 5 that dyngrid makes before MPI_Init, unless the user has; `dyngrid env` and `doctor` show
// them. Also the variables that a command removes when it was started inside an MPI process.
#pragma once

#include <string_view>
#include <vector>

namespace control {

struct MpiSetting {
  const char* name;  ///< of the variable
  const char* value; ///< that dyngrid sets
  const char* reason;
  const char* price;
};

/// Set where a growth is possible: in processes of an mpirun of Open MPI 5 that has started them all on one host.
const std::vector<MpiSetting>& settings_of_open_mpi_5();

/// By a variable, or in a parameter file ($HOME/.openmpi/mca-params.conf), which a variable would override.
bool is_set_by_user(const MpiSetting& setting);

/// Whether an mpirun, or MPI_Init, sets this variable in the processes that it starts: Open MPI 4.1 and 5, MPICH. The
/// user's own settings are none of them (OMPI_MCA_*, PRTE_MCA_*, PMIX_MCA_*).
bool is_of_an_mpirun(std::string_view name);

/// For a command that starts an mpirun, before it reads its environment. Removes the variables by which an mpirun, or
/// MPI_Init, made the caller an MPI process. Examples: a script under mpirun, a notebook that has imported mpi4py. An
/// mpirun that inherits them ends with status 1 and prints nothing.
void forget_outer_mpirun();

} // namespace control
