// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "launchers/launcher.hpp"
#include "launchers/rendezvous.hpp"

namespace blacs_dyn {

/// Which variables a newcomer's mpirun gets of process 0's environment: all but what mpirun, PMIx or Slurm told this
/// process about itself.
bool is_passed_on(std::string_view variable);

/// The command that starts a unit's mpirun: words, no shell. It wants DYNGRID_JOIN, which is a secret and has no place
/// on a command line, in its environment.
std::vector<std::string> unit_command(const std::string& mpirun, const std::string& server, const NewUnit& unit,
                                      const SpawnOptions& options);
/// The same for where its environment is not ours to set: DYNGRID_JOIN, where it is not set, is the first line of its
/// standard input.
std::vector<std::string> with_join_from_input(const std::vector<std::string>& words);
/// The same words for a shell.
std::string shell_line(const std::vector<std::string>& words);

/// What happens when a unit ends that holds part of the matrices, or is on its way in: says so on every process and
/// ends it. `where_to_go_on`: asked when it happens.
struct LossText {
  int id = -1; ///< of this process
  std::function<std::string()> where_to_go_on;
};

/// Each unit an mpirun of its own on one host. They meet by MPI_Comm_accept and MPI_Comm_connect over the ompi-server
/// that mpirun was started with.
/// @throws Error{bad_state} when mpirun knows of no ompi-server.
std::unique_ptr<Launcher> make_join_launcher(LossText loss);

/// True in a process that was started as DYNGRID_JOIN says.
bool was_sent_for();

} // namespace blacs_dyn
