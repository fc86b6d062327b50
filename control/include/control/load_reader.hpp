// SPDX-License-Identifier: BSD-3-Clause
// Reads the texts for control/load.hpp. No MPI; any thread may call.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "control/load.hpp"

namespace control {

namespace detail {
class LoadFiles;
}

double thread_cpu_s(); ///< that this thread ran

/// The sources that are available here.
struct LoadSources {
  LoadSource share = LoadSource::competitors; ///< that is in force
  bool has_throttling = false, has_steal = false, has_competitors = false;
  std::string text; ///< one line: which, and why no better one
};

/// Tests whether the kernel counts: this thread runs for 5 ms of its own time, and schedstat must show it. Takes about
/// 5 ms, more on a loaded machine, a second at most.
LoadSources test_load_sources(const std::string& root = "");

/// The share of this process since the last sample. Holds about ten files open, and two for each thread.
class LoadReader {
public:
  explicit LoadReader(LoadSource source = LoadSource::schedstat, std::string root = "");
  ~LoadReader();
  LoadReader(const LoadReader&) = delete;
  LoadReader& operator=(const LoadReader&) = delete;
  /// Since the last call, or since it was made.
  Load look();
  /// The same once this process has requested a processor for `wanted_s` since the last sample, and nothing before
  /// that. No share can be derived from a few milliseconds. A sleeping process requests none: it is judged at once, by
  /// its control group. Where the kernel reports no running time while this process ran, marked work is judged. Without
  /// marked work, competitors are judged.
  /// @param stopped_s that the process was stopped since the last call
  std::optional<Load> look_after(double wanted_s, bool sleeps, double stopped_s);
  /// Marked work: its thread's CPU time, and its wall time.
  void work(double cpu_s, double wall_s);

private:
  void begin_again(LoadSample now);

  std::mutex mutex_;
  LoadSource source_;
  std::unique_ptr<detail::LoadFiles> files_;
  LoadSample before_;
  double cpu_before_s_; ///< of this process, by its own clock
  MarkedWork work_;
  double stopped_s_ = 0; ///< since before_
};

} // namespace control
