// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include "processes/launchers/rendezvous_launcher.hpp"

namespace blacs_dyn {

/// Each group an mpirun of its own on one host. They meet by MPI_Comm_accept and MPI_Comm_connect over the ompi-server
/// that mpirun was started with.
/// @throws Error{bad_state} when mpirun knows of no ompi-server.
std::unique_ptr<Launcher> make_join_launcher(LossText loss);

/// True in a process that was started as DYNGRID_JOIN says.
bool was_sent_for();

/// Why processes of two mpiruns cannot meet, or this build has no such launcher; empty: they can.
std::string join_trouble();

} // namespace blacs_dyn
