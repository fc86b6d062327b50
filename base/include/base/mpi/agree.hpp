// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/memory.hpp"
#include "base/status.hpp"

namespace base {

/// The worst status over comm is agreed. When it is not success every rank throws it, with the text of the lowest rank
/// that has it. `number` has to be the same everywhere, else all throw rank_mismatch with `differs`. One round.
/// Collective. Sleeps while it waits.
void agree_on_number(MPI_Comm comm, Status mine, const std::string& message, std::int64_t number, const char* differs);

/// The error that `step` throws; empty: none.
template <class Step> std::optional<Error> attempt(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Status::out_of_memory, "dyngrid: out of memory: " + memory_left());
  } catch (const std::exception& error) {
    return Error(Status::internal, error.what());
  } catch (...) { // of a routine of the program's
    return Error(Status::internal, "dyngrid: an exception that is no std::exception");
  }
  return std::nullopt;
}

/// Runs `step` and agrees over comm how it went. Whatever step throws on one rank, all ranks throw. The number that
/// `step` returns has to be the same everywhere, else all throw rank_mismatch with `differs`. One round. @return the
/// number
template <class Step> std::int64_t together_on_number(MPI_Comm comm, Step&& step, const char* differs) {
  std::int64_t number = 0;
  const std::optional<Error> mine = attempt([&] { number = step(); });
  agree_on_number(comm, mine ? mine->status() : Status::success, mine ? mine->what() : "", number, differs);
  return number;
}

/// The same for a step that returns nothing.
template <class Step> void together(MPI_Comm comm, Step&& step) {
  const auto without_number = [&step] {
    step();
    return std::int64_t{0};
  };
  together_on_number(comm, without_number, "");
}

/// Collective over comm. @throws Error{rank_mismatch} with `message` on all ranks when `mine` is not the same number
/// everywhere.
void check_same(MPI_Comm comm, std::int64_t mine, const char* message);

/// Broadcast of any length from rank root. Collective. @throws agreed Error{out_of_memory} where a rank has no room for
/// a long one.
void broadcast(std::vector<char>& bytes, int root, MPI_Comm comm);
/// The same into memory that is there, as long on all ranks.
void broadcast(void* data, std::size_t bytes, int root, MPI_Comm comm);

} // namespace base
