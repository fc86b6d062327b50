// SPDX-License-Identifier: BSD-3-Clause
#include <time.h>

// MPI_Message is a pointer in SMPI's header, with nothing behind it.
namespace {
struct Found {
  MPI_Comm comm;
  int source, tag;
};
timespec poll{0, 1000};
} // namespace

int scale::improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const int code = MPI_Iprobe(source, tag, comm, flag, status);
  if (code == MPI_SUCCESS && *flag != 0) *message = new Found{comm, status->MPI_SOURCE, status->MPI_TAG};
  return code;
}

int scale::imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const Found* found = static_cast<const Found*>(*message);
  const int code = MPI_Irecv(buffer, count, type, found->source, found->tag, found->comm, request);
  delete found;
  *message = MPI_MESSAGE_NULL;
  return code;
}

void scale::set_link_rate(double bytes_per_s) {
  poll.tv_nsec = static_cast<long>(bytes_of_a_poll / bytes_per_s * 1e9);
}

int scale::yield_in_simulation() {
  return nanosleep(&poll, nullptr);
}
