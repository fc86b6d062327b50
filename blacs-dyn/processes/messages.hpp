// SPDX-License-Identifier: BSD-3-Clause
// Messages among owners, new processes and sleeping processes while no grid has all of them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include <mpi.h>

#include "base/mpi/agree.hpp"
#include "base/tags.hpp"
#include "processes/packet.hpp"

namespace blacs_dyn {

void send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet);
/// Without waiting for the receiver; the packet stays as it is until the request is done.
MPI_Request start_send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet);

/// Waits for a message from `rank` that is about to come: awake at first, then sleeping. A connection between two
/// worlds is made in several steps, and both processes have to call MPI for each of them.
Packet receive_soon(MPI_Comm comm, int rank, base::Tag tag);
/// A message that has come, of `rank` or MPI_ANY_SOURCE; empty: there is none.
std::optional<std::vector<char>> receive_if_there(MPI_Comm comm, int rank, base::Tag tag);
/// Sleeps until there is a message from `rank`; the back-off grows to `longest_ms`. meanwhile: called between two
/// polls.
Packet receive_asleep(MPI_Comm comm, int rank, base::Tag tag, int longest_ms,
                      const std::function<void()>& meanwhile = {});

/// What rank root has, on all ranks. Collective. Sleeps while it waits. @throws agreed Error{out_of_memory}
template <class T> T value_of_root(const T& mine, int root, MPI_Comm comm) {
  Packet packet;
  packet.put(mine);
  base::broadcast(packet.bytes(), root, comm);
  return packet.get<T>();
}

/// To all `count` processes of a new group, over the intercommunicator to it: they are not needed. A process that is
/// not there yet finds it later.
void tell_to_go(MPI_Comm intercomm, int count);

} // namespace blacs_dyn
