// SPDX-License-Identifier: BSD-3-Clause
// A program on emulated processors of unequal speed (common/slow_processor.c): each process has one of its own and
// sleeps for the rest of the time that it would need, so that sixteen unequal ones show their step times on two cores.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/launch.hpp"

namespace bench {

struct Processor {
  std::string host; ///< its own
  double speed;
};

class Emulation {
public:
  /// @param first  speeds of mpirun's processes, by rank; those on `free_ones` come later, to these hosts
  /// @param gflops  of speed 1
  Emulation(std::string name, const std::vector<double>& first, const std::vector<Processor>& free_ones, double gflops);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  /// `dyngrid run` of one of our programs, with --check and --csv.
  /// @param of_run  words for `dyngrid run`
  void start(std::vector<std::string> of_run, const std::string& program, const std::vector<std::string>& arguments);
  void until(const char* what, const std::function<bool()>& is_done); ///< @throws std::runtime_error
  /// Until the program has ended. @throws std::runtime_error when it fails, or a step was wrong
  apps::RunRecord end();
  [[noreturn]] void fail(const std::string& what);

  std::string path(const char* name) const { return (folder_ / name).string(); } ///< in the folder of this run
  static std::string what_is_missing();                                          ///< on this machine; empty: nothing
  static constexpr double patience_s = 60;

private:
  void write(const std::vector<double>& first, const std::vector<Processor>& free_ones, double gflops) const;

  std::string name_, program_;
  std::filesystem::path folder_, apps_;
  pid_t pid_ = -1;
};

} // namespace bench
