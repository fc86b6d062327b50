// SPDX-License-Identifier: BSD-3-Clause
// Queries for the special properties of Open MPI 4. Its abilities and limits: docs/mpi.md.
#pragma once
#include <string>
#include <string_view>

namespace blacs_dyn::openmpi4 {

/// Whether mpirun may start more processes than it has slots.
bool may_oversubscribe();

/// The value of --ompi-server of mpirun; null without one.
const char* name_server();

/// What other mpiruns call that of this process: 16 bits of its host's name and its process number, in decimal. Two may
/// have the same. Empty: not known.
std::string mpirun_name();
/// That of a job: "1712586753" or, of an ompi-server, the beginning of "2005663744.0;tcp://...".
std::string mpirun_name(std::string_view job);

/// Whether mpirun gives this variable to its processes to describe them; another mpirun that is started
/// from one of them must not see it. What a user sets for every run, transports and the like, is not.
bool is_of_its_mpirun(std::string_view name);

/// While one is there, MPI_Comm_spawn gives up new processes that have not come through MPI_Init within about the given
/// number of seconds. Otherwise it waits for ever. No effect with another MPI.
class SpawnLimit {
public:
  explicit SpawnLimit(double seconds);
  ~SpawnLimit();
  SpawnLimit(const SpawnLimit&) = delete;
  SpawnLimit& operator=(const SpawnLimit&) = delete;

private:
  int* limit_ = nullptr; ///< Open MPI's own
  int before_ = 0;
};

} // namespace blacs_dyn::openmpi4
