// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace base {

/// Available memory, and the source of the figure.
struct FreeMemory {
  std::string of;          ///< "MemAvailable", or the file of a control group
  std::int64_t bytes = -1; ///< -1: not known
};

/// The least of MemAvailable and of what each control group leaves beside anonymous and shared memory. The kernel
/// reclaims the rest first. Memory that a virtual machine has lent to its host (Balloon) counts where it is returned on
/// demand. `root`: before /proc and /sys, for tests.
FreeMemory free_memory(const std::string& root = "");

/// The same, read again for up to a second while it is less than `needed`: a virtual machine's memory changes.
FreeMemory free_memory_soon(std::int64_t needed, const std::string& root = "");

/// Memory that the system would still give this process: "18 MiB of address space are left (ulimit -v)", "731 MiB are
/// free (MemAvailable)".
std::string memory_left(const std::string& root = "");
/// "no memory for {what}, 36 MiB: 18 MiB of address space are left (ulimit -v)"
Error out_of_memory(const std::string& what, std::size_t bytes);
/// Tries to get that many addresses, for other libraries that end the program without them. Nothing is kept or written
/// to.
/// @throws Error{out_of_memory}
void require_addresses(const std::string& what, std::size_t bytes);
/// Checks that so much memory can be written to: beyond it the kernel ends a process of this host or container.
/// @throws Error{out_of_memory}
void require_memory(const std::string& what, std::int64_t bytes, const std::string& root = "");

} // namespace base
