// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.hpp"

namespace base {

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

void detail::is_null(const char* what) {
  throw Error(Status::null_pointer, std::string(what) + " is null");
}

} // namespace base
