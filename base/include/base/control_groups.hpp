// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace base {

/// Folders of the control groups of this process for `controller` ("cpu", "pids"), version 1 and 2, itself first, up to
/// the topmost visible one. `root`: before /proc and /sys.
std::vector<std::string> control_groups(const std::string& root, const std::string& controller);

/// The number that is the first word of a file of the kernel; none: "max", or the file is not there.
std::optional<std::int64_t> number_in(const std::string& file);

/// The numbers after `names` in lines like "MemAvailable:   123 kB" or "inactive_file 123"; below 0: it is not there.
/// The file is read once: the kernel takes a while to write it.
std::vector<std::int64_t> entries_in(const std::string& file, std::initializer_list<const char*> names);
inline std::int64_t entry_in(const std::string& file, const char* name) {
  return entries_in(file, {name}).front();
}

} // namespace base
