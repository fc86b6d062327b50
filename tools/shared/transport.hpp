// SPDX-License-Identifier: BSD-3-Clause
// How the messages of an application travel with Open MPI. ob1, its usual choice, connects old and new processes of a
// host by TCP; UCX connects them by shared memory.
#pragma once

#include <string>

#include "launch.hpp"

namespace command {

/// Why `auto` leaves the choice to Open MPI. Empty: it takes UCX.
std::string objection_to_ucx(const RunRequest& request, const Site& site);

/// The transport that the request names, or that suits this machine: variables of the launch, and the reason in it.
/// @throws Failure when the request contradicts itself.
void add_transport(const RunRequest& request, const Site& site, Launch& launch);

enum class UcxTrial {
  where_unknown, ///< without an answer that an earlier trial has left
  anew,          ///< an older answer does not count
  never          ///< no process is started for it; ompi_info is asked
};
/// Completes the site with what is known of transports. For auto it asks ompi_info and tries UCX, which takes half a
/// second. So the answer is kept in the runtime directory, for this host, this Open MPI and its settings.
void look_at_transports(const RunRequest& request, Site& site, UcxTrial trial);

/// Whether the transport depends on a trial of UCX that was not made.
bool is_trial_open(const RunRequest& request, const Site& site);

} // namespace command
