// SPDX-License-Identifier: BSD-3-Clause
// How the mpirun of a group is started: here, on another host, or by a command that knows how.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "processes/launchers/launcher.hpp"

namespace blacs_dyn {

/// Which variables a new process's mpirun gets of process 0's environment: all but those in which mpirun, PMIx or a
/// batch system described this process.
bool is_passed_on(std::string_view variable);

/// The command that starts a group's mpirun: words, no shell. It wants DYNGRID_JOIN, which is a secret and has no place
/// on a command line, in its environment.
std::vector<std::string> group_command(const std::string& mpirun, const std::string& server, const NewGroup& group,
                                       const SpawnOptions& options);
/// The same for where its environment is not ours to set: DYNGRID_JOIN, where it is not set, is the first line of its
/// standard input.
std::vector<std::string> with_join_from_input(const std::vector<std::string>& words);

struct StartedMpirun {
  pid_t pid = 0;         ///< our child
  bool is_group = false; ///< it lives as long as the group; otherwise it may end when it has asked for it
};
/// number: passed to it as DYNGRID_UNIT_NUMBER. @throws Error{spawn_failure, not_found}
StartedMpirun start_group_mpirun(const NewGroup& group, int number, const std::string& server,
                                 const std::string& invitation, const SpawnOptions& options);

} // namespace blacs_dyn
