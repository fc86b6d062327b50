// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>

namespace bench {

/// The processor of this process, as libdyngrid-slow.so has it: a file of one speed.
class Processor {
public:
  Processor(); ///< not slowed yet. Before the first call of BLAS
  ~Processor();
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;
  /// @return false, with a line on stderr that names the option which wants it, when the library is not preloaded
  static bool is_there(const char* option, int rank);

  void set(double gflops) const; ///< returns when it counts
  void begin_to_set(double gflops) const;
  const std::filesystem::path& folder() const { return folder_; } ///< of this process alone, removed with this

private:
  std::filesystem::path folder_;
};

} // namespace bench
