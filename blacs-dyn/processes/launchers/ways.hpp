// SPDX-License-Identifier: BSD-3-Clause
// The ways in which new processes are started, in one place. The way `join` is a component: CMake's DYNGRID_WITH_JOIN.
#pragma once
#include <memory>
#include <string>

#include "processes/launchers/rendezvous_launcher.hpp"

namespace blacs_dyn {

/// @throws Error{bad_state, unsupported} where processes cannot be started that way.
std::unique_ptr<Launcher> make_launcher(LauncherKind way, LossText loss);

/// How this process was started, if an application of ours started it.
LauncherKind way_of_this_process();

/// Why no process can ever be started that way with this MPI and this build of dyngrid; empty: it can.
std::string never_by(LauncherKind way);
/// The same for this run. are_several_hosts: on which mpirun started the program. are_cores_known: of each of them.
std::string trouble_with(LauncherKind way, bool are_several_hosts, bool are_cores_known);

} // namespace blacs_dyn
