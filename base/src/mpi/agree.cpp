// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi/agree.hpp"

#include "base/mpi/check.hpp"
#include "base/mpi/wait.hpp"

namespace base {

Verdict agree(MPI_Comm comm, Status mine) {
  struct {
    int badness;
    int rank;
  } local{-static_cast<int>(mine), 0}, worst{0, 0};
  check_mpi(MPI_Comm_rank(comm, &local.rank), "MPI_Comm_rank");
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&local, &worst, 1, MPI_2INT, MPI_MAXLOC, comm, &request), "MPI_Iallreduce");
  wait_asleep(&request);
  return {static_cast<Status>(-worst.badness), worst.rank};
}

void agree_or_throw(MPI_Comm comm, Status mine, const std::string& message) {
  const Verdict verdict = agree(comm, mine);
  if (verdict.status == Status::success) return;
  std::vector<char> text(message.begin(), message.end());
  broadcast(text, verdict.rank, comm);
  throw Error(verdict.status, std::string(text.begin(), text.end()));
}

void check_same(MPI_Comm comm, std::int64_t mine, const char* message) {
  const std::int64_t range[] = {mine, -mine};
  std::int64_t most[2] = {};
  check_mpi(MPI_Allreduce(range, most, 2, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
  if (most[0] != -most[1]) throw Error(Status::rank_mismatch, message);
}

void broadcast(std::vector<char>& bytes, int root, MPI_Comm comm) {
  auto length = static_cast<int>(bytes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&length, 1, MPI_INT, root, comm, &request), "MPI_Ibcast");
  wait_asleep(&request);
  bytes.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Ibcast(bytes.data(), length, MPI_BYTE, root, comm, &request), "MPI_Ibcast");
  wait_asleep(&request);
}

} // namespace base
