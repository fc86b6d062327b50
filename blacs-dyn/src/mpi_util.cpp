// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_util.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include <fmt/format.h>

namespace blacs_dyn {

using base::Error;
using base::Status;

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Status::mpi_failure,
              fmt::format("blacs-dyn: {} failed: {}", what, std::string(text, static_cast<std::size_t>(length))));
}

Comm Comm::adopt(MPI_Comm comm) {
  Comm owner;
  owner.comm_ = comm;
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return owner;
}

Comm Comm::duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return adopt(copy);
}

Comm& Comm::operator=(Comm&& other) noexcept {
  if (this != &other) {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    comm_ = other.release();
  }
  return *this;
}

Comm::~Comm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ == MPI_COMM_NULL || finalized || std::uncaught_exceptions() > 0) return;
  MPI_Comm_free(&comm_);
}

int Comm::rank() const {
  int rank = -1;
  check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  return rank;
}

int Comm::size() const {
  int size = 0;
  check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  return size;
}

void Comm::close() {
  if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

void Comm::disconnect() {
  if (comm_ != MPI_COMM_NULL) check_mpi(MPI_Comm_disconnect(&comm_), "MPI_Comm_disconnect");
}

MPI_Comm Comm::release() noexcept {
  const MPI_Comm comm = comm_;
  comm_ = MPI_COMM_NULL;
  return comm;
}

namespace {
/// 20 us at first, then longer, up to 1 ms: a quick answer costs little, a slow one no core.
class Backoff {
public:
  void pause() {
    std::this_thread::sleep_for(std::chrono::microseconds(us_));
    us_ = std::min(us_ * 5 / 4 + 1, 1000);
  }

private:
  int us_ = 20;
};
} // namespace

void wait_asleep(MPI_Request* request) {
  Backoff backoff;
  for (int done = 0, spins = 0; !done; ++spins) {
    check_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done && spins > 50) backoff.pause();
  }
}

bool wait_asleep_for(int count, MPI_Request* requests, double seconds) {
  Backoff backoff;
  const double start = MPI_Wtime();
  for (int done = 0;;) {
    check_mpi(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done) return true;
    if (MPI_Wtime() - start > seconds) return false;
    backoff.pause();
  }
}

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
  if (most[0] != -most[1]) throw base::Error(base::Status::rank_mismatch, message);
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

} // namespace blacs_dyn
