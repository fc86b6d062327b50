// SPDX-License-Identifier: BSD-3-Clause
// A /proc of this process's own, for DYNGRID_LOAD_ROOT: a known load.
#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace own {

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The contents of /proc/self for a process with one thread.
class Kernel {
public:
  explicit Kernel(std::string folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_ + "/proc/self/task/1");
    write();
  }
  void ran(double share) { // since the last call
    const double t = now_s();
    cpu_s_ += share * (t - at_s_);
    wait_s_ += (1 - share) * (t - at_s_);
    at_s_ = t;
    write();
  }

private:
  void write() const {
    const std::string file = folder_ + "/proc/self/task/1/schedstat", made = file + ".new";
    std::ofstream(made) << fmt::format("{:.0f} {:.0f} 1\n", 1e9 * cpu_s_, 1e9 * wait_s_);
    std::filesystem::rename(made, file); // the other thread never sees half of it
  }
  std::string folder_;
  double cpu_s_ = 0, wait_s_ = 0, at_s_ = now_s();
};

} // namespace own
