// SPDX-License-Identifier: BSD-3-Clause
// killed_outside: of a growth of 1x2 to 2x2 a new process is killed DYNGRID_TEST_US after the request, as a user or the
// system could do it. The growth works or is refused, the next growth works, and in the end no new process is left. Or
// the application ends with a message, which with_server judges: the process was connecting, or on the grid.
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include <dirent.h>
#include <unistd.h>

#include "follow.hpp"

namespace {

using follow::expect;
using Clock = std::chrono::steady_clock;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Processes that this application's mpirun started for it and that have not ended.
std::vector<int> new_processes() {
  std::vector<int> found;
  DIR* all = opendir("/proc");
  while (const dirent* entry = all ? readdir(all) : nullptr) {
    if (!std::isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    const std::string folder = std::string("/proc/") + entry->d_name, stat = content_of(folder + "/stat");
    char state = 'Z';
    int parent = 0;
    const std::size_t name_ends = stat.rfind(')');
    if (name_ends == std::string::npos || std::sscanf(stat.c_str() + name_ends + 1, " %c %d", &state, &parent) != 2)
      continue;
    const bool is_one =
        ('\0' + content_of(folder + "/environ")).find(std::string("\0DYNGRID_MEET=", 14)) != std::string::npos;
    if (parent == getppid() && state != 'Z' && is_one) found.push_back(std::atoi(entry->d_name));
  }
  if (all) closedir(all);
  return found;
}

/// Kills the first or the last of the new processes, at a moment after the request or once there is one.
class Killer {
public:
  Killer(int us, bool first)
      : thread_([this, us, first] {
          const auto moment = Clock::now() + std::chrono::microseconds(us);
          for (; !is_over_; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            if (Clock::now() < moment) continue;
            const std::vector<int> there = new_processes();
            if (there.empty() || is_over_) continue;
            has_killed = kill(first ? there.front() : there.back(), SIGKILL) == 0;
            return;
          }
        }) {}
  /// The new processes are part of the application, or are refused.
  ~Killer() {
    is_over_ = true;
    thread_.join();
  }
  std::atomic<bool> has_killed{false};

private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// Requests a grid and goes on until it is there or refused.
int change_to(int nprow, int npcol) {
  expect(!dyngrid_request(nprow, npcol), "request");
  for (;; usleep(1000)) {
    const int outcome = dyngrid_resize_point_at("step");
    if (outcome != DYNGRID_SAME) return outcome;
  }
}

} // namespace

int main() {
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  dyngrid_matrix* a = nullptr;
  expect(!dyngrid_matrix_create("a", 'd', 53, 47, 4, 3, &a), "create");
  if (dyngrid_is_newcomer()) {
    int outcome = DYNGRID_SAME;
    while (outcome == DYNGRID_SAME || outcome == DYNGRID_RESIZED) outcome = dyngrid_resize_point_at("step");
    expect(outcome == DYNGRID_LEAVE, "a new process leaves");
    return dyngrid_finalize();
  }
  follow::fill(a, 'd', 5);
  const bool is_first = dyngrid_is_first() != 0;
  const char* us = std::getenv("DYNGRID_TEST_US");
  const char* who = std::getenv("DYNGRID_TEST_WHO");
  int outcome = 0;
  {
    std::optional<Killer> killer;
    if (is_first) killer.emplace(us ? std::atoi(us) : 0, !who || std::atoi(who) == 1);
    outcome = change_to(2, 2);
    if (is_first)
      std::printf("%s us: %s, %s\n", us ? us : "0", killer->has_killed ? "killed" : "none was killed",
                  outcome < 0 ? "refused" : "grown");
    std::fflush(stdout);
  }
  expect(outcome == DYNGRID_RESIZED || outcome == DYNGRID_ERR_SPAWN || outcome == DYNGRID_ERR_TIMEOUT, "a growth");
  if (outcome < 0) expect(change_to(2, 2) == DYNGRID_RESIZED, "the next growth works");
  expect(follow::wrong(a, 'd', 5) == 0, "data");
  expect(change_to(1, 2) == DYNGRID_RESIZED && follow::wrong(a, 'd', 5) == 0, "back");
  while (is_first && !new_processes().empty()) usleep(1000);
  if (is_first) std::printf("killed_outside: right\n");
  return dyngrid_finalize();
}
