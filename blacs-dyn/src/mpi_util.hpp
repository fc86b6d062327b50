// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/status.hpp"

namespace blacs_dyn {

/// @throws Error{mpi_failure} with MPI's own text.
void check_mpi(int code, const char* what);

/// Owner of one communicator. Freeing is collective, so `close()` is the normal way out; the destructor is the net
/// under it, and leaks on purpose after MPI_Finalize or while an exception unwinds, because a leak can be counted and a
/// hang cannot.
class Comm {
public:
  Comm() = default;
  static Comm adopt(MPI_Comm comm);
  static Comm duplicate(MPI_Comm comm); ///< collective over comm
  Comm(Comm&& other) noexcept : comm_(other.release()) {}
  Comm& operator=(Comm&& other) noexcept;
  ~Comm();

  MPI_Comm get() const { return comm_; }
  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  int rank() const;
  int size() const;
  void close();      ///< MPI_Comm_free
  void disconnect(); ///< MPI_Comm_disconnect: for the bridge between a unit and its owner only
  MPI_Comm release() noexcept;

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Waits without burning the core that another process may need to come up. Cancels nothing.
void wait_asleep(MPI_Request* request);
/// True when the request completed within `seconds`.
bool wait_asleep_for(int count, MPI_Request* requests, double seconds);

/// The worst status over comm, and the lowest rank that has it. Collective. Waits asleep.
struct Verdict {
  base::Status status;
  int rank;
};
Verdict agree(MPI_Comm comm, base::Status mine);

/// As agree; when the verdict is not success every rank throws the same status with the text of the rank that it names.
void agree_or_throw(MPI_Comm comm, base::Status mine, const std::string& message);

/// Runs `step` and agrees over comm how it went. Whatever step throws on one rank, all ranks throw.
template <class Step> void together(MPI_Comm comm, Step&& step) {
  base::Status status = base::Status::success;
  std::string message;
  try {
    step();
  } catch (const base::Error& error) {
    status = error.status();
    message = error.what();
  } catch (const std::bad_alloc&) {
    status = base::Status::out_of_memory;
    message = "blacs-dyn: out of memory";
  } catch (const std::exception& error) {
    status = base::Status::internal;
    message = error.what();
  }
  agree_or_throw(comm, status, message);
}

/// Collective over comm. @throws Error{rank_mismatch} with `message` on all ranks when `mine` is not the same number
/// everywhere.
void check_same(MPI_Comm comm, std::int64_t mine, const char* message);

/// Broadcast of any length below 2^31 from rank root. Collective.
void broadcast(std::vector<char>& bytes, int root, MPI_Comm comm);

} // namespace blacs_dyn
