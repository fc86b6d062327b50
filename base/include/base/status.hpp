// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "dyngrid/status.h"

namespace base {

/// The statuses of dyngrid/status.h as a scoped enum.
enum class Status : int {
  success = DYNGRID_SUCCESS,
  bad_argument = DYNGRID_ERR_ARGUMENT,
  null_pointer = DYNGRID_ERR_NULL,
  bad_type = DYNGRID_ERR_TYPE,
  shape_mismatch = DYNGRID_ERR_SHAPE,
  bad_descriptor = DYNGRID_ERR_DESCRIPTOR,
  rank_mismatch = DYNGRID_ERR_MISMATCH,
  bad_state = DYNGRID_ERR_STATE,
  not_found = DYNGRID_ERR_NOT_FOUND,
  unsupported = DYNGRID_ERR_UNSUPPORTED,
  out_of_memory = DYNGRID_ERR_MEMORY,
  io_failure = DYNGRID_ERR_IO,
  no_slots = DYNGRID_ERR_SLOTS,
  spawn_failure = DYNGRID_ERR_SPAWN,
  timeout = DYNGRID_ERR_TIMEOUT,
  mpi_failure = DYNGRID_ERR_MPI,
  internal = DYNGRID_ERR_INTERNAL,
};

const char* to_string(Status status) noexcept;

/// Thrown by the C++ interface. `what()` says what, got, expected, where.
class Error : public std::runtime_error {
public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  /// The message in the form that fmt::format() takes.
  template <class First, class... Rest>
  Error(Status status, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest)
      : Error(status, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
  Status status() const noexcept { return status_; }

private:
  Status status_;
};

namespace detail {
/// @throws Error{null_pointer}: "redist: descriptor is null", where `what` is "redist: descriptor".
[[noreturn]] void is_null(const char* what);
template <class T> T& not_null(T* pointer, const char* what) {
  if (pointer == nullptr) is_null(what);
  return *pointer;
}

/// Keeps `message` for dyngrid_last_message() of this thread.
void set_last_message(const std::string& message) noexcept;

/// The body of a C function: runs `call`, turns whatever it throws into a status and keeps the text.
/// Returns what `call` returns when it returns int, otherwise DYNGRID_SUCCESS.
int guard_failed() noexcept;
template <class Call> int guard(Call&& call) noexcept {
  try {
    if constexpr (std::is_same_v<decltype(call()), int>) {
      return call();
    } else {
      call();
      return DYNGRID_SUCCESS;
    }
  } catch (...) {
    return guard_failed();
  }
}
} // namespace detail
} // namespace base
