// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace control::detail {

/// Folders of the control groups of this process for `controller` ("cpu", "pids"), version 1 and 2, itself first, up to
/// the topmost visible one. `root`: before /proc and /sys.
std::vector<std::string> control_groups(const std::string& root, const std::string& controller);

} // namespace control::detail
