// SPDX-License-Identifier: BSD-3-Clause
#include "processes/messages.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sched.h>

#include "base/clock.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

void send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet) {
  check_mpi(MPI_Send(packet.bytes().data(), base::mpi_count(packet.bytes().size()), MPI_BYTE, rank, tag, comm),
            "MPI_Send");
}

MPI_Request start_send(MPI_Comm comm, int rank, base::Tag tag, const Packet& packet) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Isend(packet.bytes().data(), base::mpi_count(packet.bytes().size()), MPI_BYTE, rank, tag, comm, &request),
      "MPI_Isend");
  return request;
}

std::optional<std::vector<char>> receive_if_there(MPI_Comm comm, int rank, base::Tag tag) {
  MPI_Status status;
  int is_here = 0, length = 0;
  check_mpi(MPI_Iprobe(rank, tag, comm, &is_here, &status), "MPI_Iprobe");
  if (!is_here) return std::nullopt;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
  std::vector<char> bytes(static_cast<std::size_t>(length));
  check_mpi(MPI_Recv(bytes.data(), length, MPI_BYTE, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  return bytes;
}

namespace {

/// pause: between two empty polls.
template <class Pause> Packet receive(MPI_Comm comm, int rank, base::Tag tag, Pause&& pause) {
  for (;;) {
    std::optional<std::vector<char>> bytes = receive_if_there(comm, rank, tag);
    if (bytes) return Packet(std::move(*bytes));
    pause();
  }
}

auto sleeping(int longest_ms) {
  return [longest_ms, ms = 1]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    ms = std::min(ms + ms / 4 + 1, longest_ms);
  };
}

} // namespace

Packet receive_soon(MPI_Comm comm, int rank, base::Tag tag) {
  constexpr double awake_s = 0.2;
  const base::Deadline awake(awake_s);
  return receive(comm, rank, tag, [&awake, asleep = sleeping(5)]() mutable {
    if (awake.is_over())
      asleep();
    else
      sched_yield(); // there may be more processes than cores
  });
}

Packet receive_asleep(MPI_Comm comm, int rank, base::Tag tag, int longest_ms, const std::function<void()>& meanwhile) {
  return receive(comm, rank, tag, [&meanwhile, asleep = sleeping(longest_ms)]() mutable {
    if (meanwhile) meanwhile();
    asleep();
  });
}

void tell_to_go(MPI_Comm intercomm, int count) {
  Packet packet;
  packet.put(0); // small enough to be sent without a receiver
  for (int i = 0; i < count; ++i) send(intercomm, i, base::tag_go, packet);
}

} // namespace blacs_dyn
