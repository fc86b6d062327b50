// SPDX-License-Identifier: BSD-3-Clause
// What dyngrid sets of Open MPI 5 before MPI_Init, unless the user has; `dyngrid env` and `doctor` show it. And what a
// command takes away that is started inside an MPI process.
#pragma once

#include <vector>

namespace control {

struct MpiSetting {
  const char* name;  ///< of the variable
  const char* value; ///< that it gets
  const char* reason;
  const char* price;
};

/// Set where a growth is possible: in processes of an mpirun of Open MPI 5 that has started them all on one host.
const std::vector<MpiSetting>& settings_of_open_mpi_5();

/// By a variable, or in a file of parameters ($HOME/.openmpi/mca-params.conf), which a variable would override.
bool is_set_by_user(const MpiSetting& setting);

/// For a command that starts an mpirun, before it looks at its environment. Removes the variables by which an mpirun,
/// or MPI_Init, made the caller an MPI process (a script under mpirun, a notebook that has imported mpi4py): an mpirun
/// that inherits them ends with status 1 and says nothing. The user's own settings stay (OMPI_MCA_*, PRTE_MCA_*,
/// PMIX_MCA_*).
void forget_outer_mpirun();

} // namespace control
