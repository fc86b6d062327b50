// SPDX-License-Identifier: BSD-3-Clause
#include "exec/once.hpp"

#include <limits>
#include <memory>

#include "base/status.hpp"
#include "exec/mpi_check.hpp"
#include "exec/work.hpp"

namespace redist::detail {

void exchange_once(const std::vector<const RankPlan*>& plans, const std::vector<Pointers>& pointers, MPI_Comm comm,
                   int tag) {
  int rank = 0, size = 1;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Work work(plans, {}, rank, size, [](int) { return false; });
  work.bind(pointers);
  for (const auto* streams : {&work.in, &work.out})
    for (const Stream& stream : *streams)
      if (stream.bytes_left > std::numeric_limits<int>::max())
        throw base::Error(base::Status::bad_argument,
                          "redist: {} bytes between rank {} and rank {} in one message, expected at most {}",
                          stream.bytes_left, rank, stream.peer, std::numeric_limits<int>::max());
  // not a vector: the zeros are not needed
  const std::unique_ptr<char[]> buffer(new char[static_cast<std::size_t>(work.bytes_in() + work.bytes_out()) + 1]);
  char* free = buffer.get();
  std::vector<MPI_Request> requests(work.in.size() + work.out.size(), MPI_REQUEST_NULL);
  std::vector<const char*> packed(work.in.size(), nullptr); // null: it lands where it belongs
  for (std::size_t s = 0; s < work.in.size(); ++s) {
    const Stream& stream = work.in[s];
    std::size_t together = 0;
    char* to = stream.contiguous(together);
    if (to == nullptr || together < static_cast<std::size_t>(stream.bytes_left)) {
      packed[s] = to = free;
      free += stream.bytes_left;
    }
    check(MPI_Irecv(to, static_cast<int>(stream.bytes_left), MPI_BYTE, stream.peer, tag, comm, &requests[s]),
          "MPI_Irecv");
  }
  for (std::size_t s = 0; s < work.out.size(); ++s) {
    Stream& stream = work.out[s];
    const std::int64_t bytes = stream.bytes_left;
    std::size_t together = 0;
    char* from = stream.contiguous(together);
    if (from == nullptr || together < static_cast<std::size_t>(bytes)) {
      from = free;
      while (stream.bytes_left > 0) free += stream.pack(free, static_cast<std::size_t>(stream.bytes_left));
    }
    check(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, stream.peer, tag, comm, &requests[work.in.size() + s]),
          "MPI_Isend");
  }
  for (const Piece& keep : work.keeps) {
    const LocalCopy copy = work.copy_of(keep);
    copy_direct(copy.source, copy.target, copy.first, copy.count);
  }
  for (std::size_t k = 0; k < work.in.size(); ++k) {
    int s = 0;
    check(MPI_Waitany(static_cast<int>(work.in.size()), requests.data(), &s, MPI_STATUS_IGNORE), "MPI_Waitany");
    const auto at = static_cast<std::size_t>(s);
    if (packed[at] != nullptr) work.in[at].unpack({}, packed[at], static_cast<std::size_t>(work.in[at].bytes_left));
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

} // namespace redist::detail
