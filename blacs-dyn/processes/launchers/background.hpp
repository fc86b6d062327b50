// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include "processes/launchers/rendezvous_launcher.hpp"

namespace blacs_dyn {

/// PMIx starts the new processes in the application's mpirun. They and their owners connect by MPI_Comm_accept and
/// MPI_Comm_connect when they are ready.
std::unique_ptr<Launcher> make_background_launcher(LossText loss);

/// Why processes cannot be started that way; empty: they can. The same on all processes of an mpirun.
std::string background_trouble(bool is_one_host);
/// Whether it is the default way: it has been tried with this MPI.
bool is_background_usual();

/// True in a process that was started that way.
bool was_started_in_background();

} // namespace blacs_dyn
