// SPDX-License-Identifier: BSD-3-Clause
// What dyngrid sets of Open MPI 5 before MPI_Init, unless the user has. `dyngrid env` and `doctor` show it.
#pragma once

#include <vector>

namespace control {

struct MpiSetting {
  const char* name;  ///< of the variable
  const char* value; ///< that it gets
  const char* reason;
  const char* price;
  bool is_for_workers = false; ///< only where DYNGRID_CALLS has workers
};

/// Set where a growth is possible: in processes of an mpirun of Open MPI 5 that has started them all on one host.
const std::vector<MpiSetting>& settings_of_open_mpi_5();

/// By what DYNGRID_CALLS says.
bool is_wanted(const MpiSetting& setting);

/// By a variable, or in a file of parameters ($HOME/.openmpi/mca-params.conf), which a variable would override.
bool is_set_by_user(const MpiSetting& setting);

} // namespace control
