// SPDX-License-Identifier: BSD-3-Clause
#include "exec/liveness.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "base/status.hpp"

namespace redist::detail {
namespace {

std::size_t read_file(const char* path, char* text, std::size_t size) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return 0;
  const std::size_t got = std::fread(text, 1, size - 1, file);
  std::fclose(file);
  text[got] = '\0';
  return got;
}

constexpr std::int64_t not_known = -2; ///< for want of a file descriptor, say

/// When process `pid` began; -1 when there is none or it has ended.
std::int64_t start_of(std::int64_t pid) {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(pid));
  errno = 0;
  if (read_file(path, text, sizeof text) == 0) return errno == ENOENT || errno == ESRCH ? -1 : not_known;
  const char* at = std::strrchr(text, ')'); // the name before it may hold anything
  if (at == nullptr || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X') return -1;
  ++at;
  for (int field = 3; field < 22 && at != nullptr; ++field) at = std::strchr(at + 1, ' '); // before field 22
  long long start = -1;
  return at != nullptr && std::sscanf(at, "%lld", &start) == 1 ? start : -1;
}

std::uint64_t kernel_id() {
  char text[64];
  const std::size_t got = read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
  return got == 0 ? 0 : std::hash<std::string>{}(std::string(text, got)) | 1;
}

} // namespace

ProcessCard ProcessCard::mine() {
  return {kernel_id(), getpid(), start_of(getpid())};
}

Liveness::Liveness(const std::vector<ProcessCard>& cards, int rank) : processes_(cards.size()), rank_(rank) {
  const ProcessCard& mine = cards[static_cast<std::size_t>(rank)];
  for (std::size_t r = 0; r < cards.size(); ++r) {
    const ProcessCard& other = cards[r];
    // in another container the number means another process, which began at another time
    if (mine.kernel != 0 && other.kernel == mine.kernel && other.start >= 0 && start_of(other.pid) == other.start)
      processes_[r] = {other.pid, other.start};
  }
}

void Liveness::check(int rank) const {
  const Process& process = processes_[static_cast<std::size_t>(rank)];
  if (process.pid == 0 || rank == rank_) return;
  if (const std::int64_t start = start_of(process.pid); start == process.start || start == not_known) return;
  throw base::Error(base::Status::timeout,
                    "redist: executor: rank {} (process {}) has ended in the middle of an exchange, expected it to "
                    "take part [rank {} of {}]",
                    rank, process.pid, rank_, processes_.size());
}

void Liveness::check_all() const {
  for (std::size_t r = 0; r < processes_.size(); ++r) check(static_cast<int>(r));
}

} // namespace redist::detail
