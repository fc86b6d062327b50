// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/agree.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/mpi/check.hpp"
#include "base/mpi/wait.hpp"

namespace base {

void agree_on_number(MPI_Comm comm, Status mine, const std::string& message, std::int64_t number, const char* differs) {
  constexpr std::int64_t for_ranks = std::int64_t{1} << 32;
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::int64_t packed = static_cast<std::int64_t>(mine) * for_ranks + rank; // a status is below 0
  const std::array<std::int64_t, 3> values{packed, number, -number};
  std::array<std::int64_t, 3> least{};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(values.data(), least.data(), 3, MPI_INT64_T, MPI_MIN, comm, &request), "MPI_Iallreduce");
  wait_asleep(&request);
  const std::int64_t worst_rank = least[0] & (for_ranks - 1);
  const auto worst = static_cast<Status>((least[0] - worst_rank) / for_ranks);
  if (worst != Status::success) {
    std::vector<char> text(message.begin(), message.end());
    broadcast(text, static_cast<int>(worst_rank), comm);
    throw Error(worst, std::string(text.begin(), text.end()));
  }
  if (least[1] != -least[2]) throw Error(Status::rank_mismatch, differs);
}

void check_same(MPI_Comm comm, std::int64_t mine, const char* message) {
  const std::int64_t range[] = {mine, -mine};
  std::int64_t most[2] = {};
  check_mpi(MPI_Allreduce(range, most, 2, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
  if (most[0] != -most[1]) throw Error(Status::rank_mismatch, message);
}

void broadcast(std::vector<char>& bytes, int root, MPI_Comm comm) {
  // The length and what fits behind it: a short message is one round. With MPI's own words before it, it stays below
  // 4096, from where Open MPI's root waits on its own host until the others take it.
  std::array<char, 4000> first{};
  std::int64_t length = 0;
  constexpr std::size_t room = sizeof first - sizeof length;
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (rank == root) {
    length = static_cast<std::int64_t>(bytes.size());
    std::memcpy(first.data(), &length, sizeof length);
    std::copy_n(bytes.begin(), std::min(bytes.size(), room), first.begin() + sizeof length);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(first.data(), sizeof first, MPI_BYTE, root, comm, &request), "MPI_Ibcast");
  wait_asleep(&request);
  std::memcpy(&length, first.data(), sizeof length);
  constexpr std::int64_t always_fits = 1 << 16;
  const auto make_room = [&] { bytes.resize(static_cast<std::size_t>(length)); };
  if (length <= always_fits)
    make_room();
  else
    together(comm, make_room);
  const std::size_t had = std::min(bytes.size(), room);
  if (rank != root) std::copy_n(first.begin() + sizeof length, had, bytes.begin());
  broadcast(bytes.data() + had, bytes.size() - had, root, comm);
}

void broadcast(void* data, std::size_t bytes, int root, MPI_Comm comm) {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += at_once) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(static_cast<char*>(data) + at, mpi_count(std::min(at_once, bytes - at)), MPI_BYTE, root, comm,
                         &request),
              "MPI_Ibcast");
    wait_asleep(&request);
  }
}

} // namespace base
