// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "launchers/launcher.hpp"

namespace blacs_dyn {

/// What happens when a group ends that holds part of the matrices, or is on its way in: says so on every process and
/// ends it. `where_to_go_on`: asked when it happens.
struct LossText {
  int id = -1; ///< of this process
  std::function<std::string()> where_to_go_on;
};

/// Each group an mpirun of its own on one host. They meet by MPI_Comm_accept and MPI_Comm_connect over the ompi-server
/// that mpirun was started with.
/// @throws Error{bad_state} when mpirun knows of no ompi-server.
std::unique_ptr<Launcher> make_join_launcher(LossText loss);

/// True in a process that was started as DYNGRID_JOIN says.
bool was_sent_for();

} // namespace blacs_dyn
