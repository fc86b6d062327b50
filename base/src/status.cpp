// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.hpp"

#include <new>

namespace base {
namespace {
std::string& last_message() {
  thread_local std::string text;
  return text;
}
} // namespace

const char* to_string(Status status) noexcept {
  switch (status) {
  case Status::success:
    return "success";
  case Status::bad_argument:
    return "bad argument";
  case Status::null_pointer:
    return "null pointer";
  case Status::bad_type:
    return "unknown element type";
  case Status::shape_mismatch:
    return "shapes do not fit";
  case Status::bad_descriptor:
    return "bad descriptor";
  case Status::rank_mismatch:
    return "argument differs between processes";
  case Status::bad_state:
    return "not possible in this state";
  case Status::not_found:
    return "not found";
  case Status::unsupported:
    return "not supported here";
  case Status::out_of_memory:
    return "out of memory";
  case Status::io_failure:
    return "input or output failed";
  case Status::no_slots:
    return "too few slots";
  case Status::spawn_failure:
    return "could not start processes";
  case Status::timeout:
    return "timed out";
  case Status::mpi_failure:
    return "MPI failure";
  case Status::internal:
    return "internal error";
  }
  return "unknown status";
}

namespace detail {
void set_last_message(const std::string& message) noexcept {
  try {
    last_message() = message;
  } catch (...) { // no memory for the text: the status alone must do
  }
}

int guard_failed() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_message(error.what());
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    set_last_message("out of memory");
    return DYNGRID_ERR_MEMORY;
  } catch (const std::exception& error) {
    set_last_message(std::string("internal error: ") + error.what());
    return DYNGRID_ERR_INTERNAL;
  } catch (...) {
    set_last_message("internal error: unknown exception");
    return DYNGRID_ERR_INTERNAL;
  }
}
} // namespace detail
} // namespace base

extern "C" const char* dyngrid_status_string(int status) {
  return base::to_string(static_cast<base::Status>(status));
}

extern "C" const char* dyngrid_last_message(void) {
  return base::last_message().c_str();
}
