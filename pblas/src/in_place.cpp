// SPDX-License-Identifier: BSD-3-Clause
#include "in_place.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <random>

#include "base/index.hpp"
#include "base/mpi/check.hpp"
#include "base/mpi/comm.hpp"
#include "base/mpi/wait.hpp"
#include "base/status.hpp"

namespace pblas {

using base::at;
using base::check_mpi;

namespace {

bool is_always_on = false;

/// Some are of a world that is not this process's: so says each of them, or none.
bool spans_worlds(MPI_Comm comm) {
  const auto group = base::Group::of(comm), world = base::Group::of(MPI_COMM_WORLD); // for processes in it only
  const int size = group.size();
  std::vector<int> ranks(at(size)), in_world(at(size));
  for (int r = 0; r < size; ++r) ranks[at(r)] = r;
  check_mpi(MPI_Group_translate_ranks(group.get(), size, ranks.data(), world.get(), in_world.data()),
            "MPI_Group_translate_ranks");
  return std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) != in_world.end();
}

/// Where a process shows a number that is hard to guess: a process of that number on another host does not have it.
struct Sample {
  std::int64_t process;
  std::uint64_t address, number;
};

bool can_read(const Sample& other) {
  std::uint64_t number = 0;
  const iovec local{&number, sizeof number};
  const iovec remote{reinterpret_cast<void*>(other.address), sizeof number};
  return process_vm_readv(static_cast<pid_t>(other.process), &local, 1, &remote, 1, 0) == sizeof number &&
         number == other.number;
}

/// @throws Error{internal} when the kernel does not let this process
void read_memory(std::int64_t process, void* to, std::uint64_t from, std::size_t bytes) {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const iovec local{next, bytes};
    const iovec remote{reinterpret_cast<void*>(from), bytes};
    const ssize_t done = process_vm_readv(static_cast<pid_t>(process), &local, 1, &remote, 1, 0);
    if (done <= 0)
      throw base::Error(base::Status::internal, "pblas: the memory of process {} cannot be read: {}", process,
                        std::strerror(done < 0 ? errno : EFAULT));
    next += done;
    from += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

} // namespace

void always_read_in_place(bool is_on) {
  is_always_on = is_on;
}

std::vector<std::int64_t> processes_to_read(MPI_Comm comm) {
  int size = 1;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (size == 1 || !(is_always_on || spans_worlds(comm))) return {};
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) + random();
  const Sample mine{getpid(), reinterpret_cast<std::uintptr_t>(&number), number};
  std::vector<Sample> all(at(size));
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm), "MPI_Allgather");
  int can = std::all_of(all.begin(), all.end(), can_read) ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  std::vector<std::int64_t> processes;
  for (const Sample& one : all)
    if (can == 1) processes.push_back(one.process);
  return processes;
}

InPlace::InPlace(MPI_Comm comm, int rank, const std::vector<std::int64_t>& processes, int tag_address, int tag_read)
    : comm_(comm), rank_(at(rank)), processes_(processes), tag_address_(tag_address), tag_read_(tag_read),
      addresses_(processes.size()), told_(processes.size(), MPI_REQUEST_NULL),
      read_(processes.size(), MPI_REQUEST_NULL) {}

InPlace::~InPlace() {
  base::call_off(static_cast<int>(told_.size()), told_.data());
  const bool is_lost = std::uncaught_exceptions() > 0; // others may not come any more
  for (std::vector<MPI_Request>* requests : {&turns_[0].requests, &turns_[1].requests, &read_})
    if (is_lost)
      base::call_off(static_cast<int>(requests->size()), requests->data());
    else
      MPI_Waitall(static_cast<int>(requests->size()), requests->data(), MPI_STATUSES_IGNORE);
}

bool InPlace::is_read(Turn& turn, bool waits) {
  int is_done = 1;
  const int count = static_cast<int>(turn.requests.size());
  if (waits)
    check_mpi(MPI_Waitall(count, turn.requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  else
    check_mpi(MPI_Testall(count, turn.requests.data(), &is_done, MPI_STATUSES_IGNORE), "MPI_Testall");
  if (is_done != 0) turn.requests.clear();
  return is_done != 0;
}

bool InPlace::has_been_read(Round round, bool waits) {
  return is_read(turns_[round == Round::last ? turn_ : 1 - turn_], waits);
}

/// Empty slices are not announced.
void InPlace::start(char* buffer, const std::int64_t* offsets, std::int64_t element_bytes, const void* mine) {
  buffer_ = buffer;
  offsets_ = offsets;
  element_bytes_ = element_bytes;
  Turn& turn = turns_[turn_ = 1 - turn_];
  is_read(turn, true);
  const std::int64_t first = offsets[rank_] * element_bytes, length = offsets[rank_ + 1] * element_bytes - first;
  if (mine == nullptr) {
    if (turn.mine.bytes() < at(length)) turn.mine = Room(at(length));
    std::copy_n(buffer + first, length, turn.mine.as<char>());
    mine = turn.mine.as<char>();
  }
  turn.address = reinterpret_cast<std::uintptr_t>(mine);
  left_ = 0;
  for (std::size_t r = 0; r < processes_.size(); ++r) {
    if (r == rank_) continue;
    const int rank = static_cast<int>(r);
    if (offsets[r + 1] > offsets[r]) {
      check_mpi(MPI_Irecv(&addresses_[r], 1, MPI_UINT64_T, rank, tag_address_, comm_, &told_[r]), "MPI_Irecv");
      ++left_;
    }
    if (length == 0) continue;
    turn.requests.resize(turn.requests.size() + 2, MPI_REQUEST_NULL);
    MPI_Request* two = &turn.requests[turn.requests.size() - 2];
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, tag_read_, comm_, two), "MPI_Irecv");
    check_mpi(MPI_Isend(&turn.address, 1, MPI_UINT64_T, rank, tag_address_, comm_, two + 1), "MPI_Isend");
  }
}

void InPlace::look(bool waits) {
  while (left_ > 0) {
    int owner = MPI_UNDEFINED, is_any = 1;
    const int count = static_cast<int>(told_.size());
    if (waits)
      check_mpi(MPI_Waitany(count, told_.data(), &owner, MPI_STATUS_IGNORE), "MPI_Waitany");
    else
      check_mpi(MPI_Testany(count, told_.data(), &owner, &is_any, MPI_STATUS_IGNORE), "MPI_Testany");
    if (is_any == 0 || owner == MPI_UNDEFINED) return;
    fetch(at(owner));
    --left_;
  }
}

void InPlace::fetch(std::size_t owner) {
  const std::int64_t first = offsets_[owner] * element_bytes_;
  read_memory(processes_[owner], buffer_ + first, addresses_[owner], at(offsets_[owner + 1] * element_bytes_ - first));
  check_mpi(MPI_Wait(&read_[owner], MPI_STATUS_IGNORE), "MPI_Wait");
  check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(owner), tag_read_, comm_, &read_[owner]), "MPI_Isend");
}

} // namespace pblas
