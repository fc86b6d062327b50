// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include "base/control_groups.hpp"

namespace base {
namespace {

double mib(double bytes) {
  return bytes / (1 << 20);
}

} // namespace

FreeMemory free_memory(const std::string& root) {
  const std::vector<std::int64_t> of_host =
      entries_in(root + "/proc/meminfo",
                 {"MemAvailable:", "MemTotal:", "Balloon:", "AnonPages:", "Shmem:", "SUnreclaim:", "Hugetlb:"});
  const auto bytes = [&](std::size_t entry) { return std::max<std::int64_t>(0, of_host[entry]) * 1024; };
  const std::int64_t total = bytes(1), lent = bytes(2);
  FreeMemory least{"MemAvailable", of_host[0] < 0 ? -1 : bytes(0)};
  if (lent > 0 && least.bytes >= 0) {
    const std::int64_t taken = bytes(3) + bytes(4) + bytes(5) + bytes(6);
    least.bytes = std::max(least.bytes, std::min(least.bytes + lent, total - taken));
  }
  const auto group = [&](const std::string& folder, const char* most_file, const char* anonymous, const char* shared) {
    const auto most = number_in(folder + most_file);
    // version 1 writes no limit as a number; what a group has taken is no more than the host has
    if (!most || (total > 0 && least.bytes >= 0 && *most - total >= least.bytes)) return;
    const std::vector<std::int64_t> own = entries_in(folder + "/memory.stat", {anonymous, shared});
    if (own[0] < 0) return;
    const std::int64_t left = std::max<std::int64_t>(0, *most - own[0] - std::max<std::int64_t>(0, own[1]));
    if (least.bytes < 0 || left < least.bytes) least = {folder.substr(root.size()) + most_file, left};
  };
  for (const std::string& folder : control_groups(root, "memory")) {
    group(folder, "/memory.max", "anon", "shmem");
    group(folder, "/memory.limit_in_bytes", "total_rss", "total_shmem");
  }
  return least;
}

FreeMemory free_memory_soon(std::int64_t needed, const std::string& root) {
  FreeMemory free = free_memory(root);
  for (int look = 0; look < 10 && free.bytes >= 0 && free.bytes < needed; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    free = free_memory(root);
  }
  return free;
}

std::string memory_left(const std::string& root) {
  rlimit limit{};
  const std::int64_t used_kib = entry_in("/proc/self/status", "VmSize:");
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && used_kib >= 0)
    return fmt::format("{:.0f} MiB of address space are left (ulimit -v)",
                       mib(static_cast<double>(limit.rlim_cur) - 1024.0 * static_cast<double>(used_kib)));
  const FreeMemory free = free_memory(root);
  return free.bytes < 0 ? "how much is left is not known"
                        : fmt::format("{:.0f} MiB are free ({})", mib(static_cast<double>(free.bytes)), free.of);
}

Error out_of_memory(const std::string& what, std::size_t bytes) {
  return {Status::out_of_memory, "dyngrid: no memory for {}, {:.1f} MiB: {}", what, mib(static_cast<double>(bytes)),
          memory_left()};
}

void require_addresses(const std::string& what, std::size_t bytes) {
  void* const tried = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) throw out_of_memory(what, bytes);
  munmap(tried, bytes);
}

void require_memory(const std::string& what, std::int64_t bytes, const std::string& root) {
  const FreeMemory free = free_memory_soon(bytes, root);
  if (free.bytes < 0 || free.bytes >= bytes) return;
  throw Error(Status::out_of_memory, "dyngrid: no memory for {}: {:.1f} MiB are needed, {:.1f} MiB are free ({})", what,
              mib(static_cast<double>(bytes)), mib(static_cast<double>(free.bytes)), free.of);
}

} // namespace base
