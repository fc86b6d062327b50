// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "base/status.hpp"

namespace advise {

/// What a request from outside asks for is not possible; `why` says what is wrong with it.
/// @throws Error{bad_argument}
[[noreturn]] inline void refuse(const std::string& why) {
  throw base::Error(base::Status::bad_argument, "advise: " + why);
}

} // namespace advise
