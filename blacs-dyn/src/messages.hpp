// SPDX-License-Identifier: BSD-3-Clause
// What owners, newcomers and sleepers say to each other while no grid has all of them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include <mpi.h>

#include "base/tags.hpp"
#include "packet.hpp"

namespace blacs_dyn {

void send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet);
/// Without waiting for the receiver; the packet stays as it is until the request is done.
MPI_Request start_send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet);

/// Waits for a message from `rank` that is about to come: awake at first, since a connection between two worlds is made
/// in several steps for each of which both have to look into MPI; then asleep.
Packet receive_soon(MPI_Comm comm, int rank, base::Tag tag);
/// A message of anybody that has come; empty: there is none.
std::optional<std::vector<char>> receive_if_there(MPI_Comm comm, base::Tag tag);
/// Waits asleep for a message from `rank`; the back-off grows to `longest_ms`. meanwhile: called between two looks.
Packet receive_asleep(MPI_Comm comm, int rank, base::Tag tag, int longest_ms,
                      const std::function<void()>& meanwhile = {});

/// To all `count` processes of a new group, over the intercommunicator to it: they are not wanted. Who is not there yet
/// finds it later.
void tell_to_go(MPI_Comm intercomm, int count);

} // namespace blacs_dyn
