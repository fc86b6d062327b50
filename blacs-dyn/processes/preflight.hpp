// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace blacs_dyn {

/// Checks a program before it is spawned, because Open MPI ends the whole application when it cannot start. It must
/// exist, be executable, be complete (not replaced since this process started, when it is this process's own) and find
/// all its shared libraries on this host. Local. @throws Error{not_found, spawn_failure} saying what to do.
void check_program(const std::string& path);

/// The path by which `command` would be started: from start_folder() on when it has a slash, otherwise found in PATH.
/// @throws Error{not_found}
std::string find_program(const std::string& command);

/// A host must be known by name, and be in the -H list when the launcher on this host was given one: mpirun never ends
/// after a spawn onto a host that it does not have. Local. @throws Error{not_found}
void check_host(const std::string& host);

/// The hosts after -H, -host or --host on the command line of what started this process; none: a host file is given.
/// `arguments`: this program's own, which end its part of the line and may look the same. Pure.
std::optional<std::vector<std::string>> hosts_given_to(const std::vector<std::string>& launcher,
                                                       const std::vector<std::string>& arguments);

/// Whether the launcher on this host may start processes on others than those of `known`. That is so in three cases: it
/// was given a host file or a list with more; it runs in a batch system's allocation that has more; new processes are
/// started by DYNGRID_START=command. Local.
bool has_other_hosts(const std::vector<std::string>& known);

/// The folder in which this program was started, whatever it has changed to since; empty when it is not known.
const std::string& start_folder();

/// New processes start in start_folder(): it must still be there. Local. @throws Error{not_found}
void check_start_folder();

/// The running program's own arguments, without its name.
std::vector<std::string> own_arguments();

using base::own_program;

} // namespace blacs_dyn
