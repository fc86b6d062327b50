// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace base {

/// Memory that the system would still give this process: "18 MiB of address space are left (ulimit -v)", "731 MiB are
/// free".
std::string memory_left();
/// "no memory for {what}, 36 MiB: 18 MiB of address space are left (ulimit -v)"
Error out_of_memory(const std::string& what, std::size_t bytes);
/// Tries to get that many bytes, for other libraries that end the program without them. Nothing is kept or written to.
/// @throws Error{out_of_memory}
void require_memory(const std::string& what, std::size_t bytes);

} // namespace base
