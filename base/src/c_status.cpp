// SPDX-License-Identifier: BSD-3-Clause
// What the C interface says of errors. A file of its own: programs that link base beside libdyngrid.so take the
// library's exported functions, not a second copy whose text is never set.
#include <exception>
#include <new>
#include <string>

#include "base/status.hpp"

namespace base {
namespace {
std::string& last_message() {
  // never destroyed: a thread's own objects have ended when an atexit handler asks why dyngrid_finalize failed
  thread_local auto* const text = new std::string;
  return *text;
}
} // namespace

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
