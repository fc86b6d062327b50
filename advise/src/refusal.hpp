// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "base/status.hpp"

namespace advise {

[[noreturn]] inline void refuse(const std::string& why) {
  throw base::Error(base::Status::bad_argument, "control: " + why);
}

} // namespace advise
