// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace base {

/// Makes a directory and those above it, as far as they are not there; new ones have mode 0700, which std::filesystem
/// cannot give them at once. False with errno.
bool make_directories(const std::string& path);

/// All that is in a file; empty when it cannot be read.
std::string content_of(const std::string& path);

/// The part of a path after its last slash.
std::string file_name(std::string_view path);
/// The part before it: "." without a slash, "/" in the root.
std::string folder_of(std::string_view path);

} // namespace base
