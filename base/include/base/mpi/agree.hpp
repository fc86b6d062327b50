// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/status.hpp"

namespace base {

/// The worst status over comm, and the lowest rank that has it. Collective. Waits asleep.
struct Verdict {
  Status status;
  int rank;
};
Verdict agree(MPI_Comm comm, Status mine);

/// As agree; when the verdict is not success every rank throws the same status with the text of the rank that it names.
void agree_or_throw(MPI_Comm comm, Status mine, const std::string& message);

/// Runs `step` and agrees over comm how it went. Whatever step throws on one rank, all ranks throw.
template <class Step> void together(MPI_Comm comm, Step&& step) {
  Status status = Status::success;
  std::string message;
  try {
    step();
  } catch (const Error& error) {
    status = error.status();
    message = error.what();
  } catch (const std::bad_alloc&) {
    status = Status::out_of_memory;
    message = "dyngrid: out of memory";
  } catch (const std::exception& error) {
    status = Status::internal;
    message = error.what();
  }
  agree_or_throw(comm, status, message);
}

/// Collective over comm. @throws Error{rank_mismatch} with `message` on all ranks when `mine` is not the same number
/// everywhere.
void check_same(MPI_Comm comm, std::int64_t mine, const char* message);

/// Broadcast of any length below 2^31 from rank root. Collective.
void broadcast(std::vector<char>& bytes, int root, MPI_Comm comm);

} // namespace base
