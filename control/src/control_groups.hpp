// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace control::detail {

/// Folders of the control groups that this process is in for `controller` ("cpu", "pids"), version 1 and 2, itself
/// first, up to the topmost that can be seen. `root`: before /proc and /sys.
std::vector<std::string> control_groups(const std::string& root, const std::string& controller);

} // namespace control::detail
