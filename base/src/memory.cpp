// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>

#include <fmt/format.h>

namespace base {
namespace {

/// In KiB, of a file of the kernel in which lines begin with names; below 0: it is not there. With stdio, which takes
/// little memory.
std::int64_t entry(const char* path, const char* name) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return -1;
  long long value = -1;
  for (char line[256]; value < 0 && std::fgets(line, sizeof line, file) != nullptr;)
    if (std::strncmp(line, name, std::strlen(name)) == 0) std::sscanf(line + std::strlen(name), "%lld", &value);
  std::fclose(file);
  return value;
}

double mib(double bytes) {
  return bytes / (1 << 20);
}

} // namespace

std::string memory_left() {
  rlimit limit{};
  const std::int64_t used_kib = entry("/proc/self/status", "VmSize:");
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && used_kib >= 0)
    return fmt::format("{:.0f} MiB of address space are left (ulimit -v)",
                       mib(static_cast<double>(limit.rlim_cur) - 1024.0 * static_cast<double>(used_kib)));
  const std::int64_t free_kib = entry("/proc/meminfo", "MemAvailable:");
  return free_kib < 0 ? "how much is left is not known"
                      : fmt::format("{:.0f} MiB are free", mib(1024.0 * static_cast<double>(free_kib)));
}

Error out_of_memory(const std::string& what, std::size_t bytes) {
  return {Status::out_of_memory, fmt::format("dyngrid: no memory for {}, {:.1f} MiB: {}", what,
                                             mib(static_cast<double>(bytes)), memory_left())};
}

void require_memory(const std::string& what, std::size_t bytes) {
  void* const tried = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) throw out_of_memory(what, bytes);
  munmap(tried, bytes);
}

} // namespace base
