// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace command {

/// An error that is not one of gridmap's: its text and the exit status of the process (2: bad arguments).
class Failure : public std::runtime_error {
public:
  explicit Failure(const std::string& text, int status = 2) : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

private:
  int status_;
};

} // namespace command
