// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace command {

/// A request to a running job about the balance of its processes.
struct JobBalance {
  std::string job;
  std::string action; ///< now, or a mode from here on: off, advise, auto; "": only ask what would help
  double timeout_s = 60;
  bool json = false;
};
/// Sends it, and prints the answer. @throws Failure: declined (status 3), failed (status 1)
void ask_for_balance(const JobBalance& request);

} // namespace command
