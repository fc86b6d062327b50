// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "base/status.hpp"

namespace control {

[[noreturn]] inline void refuse(const std::string& why) {
  throw base::Error(base::Status::bad_argument, "control: " + why);
}

} // namespace control
