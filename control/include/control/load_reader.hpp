// SPDX-License-Identifier: BSD-3-Clause
// Reads what control/load.hpp judges. No MPI; any thread may call.
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

/// Which sources there are here.
struct LoadSources {
  LoadSource share = LoadSource::competitors; ///< that is in force
  bool has_throttling = false, has_steal = false, has_competitors = false;
  std::string text; ///< one line: which, and why no better one
};

/// Looks whether the kernel counts: this thread runs for 5 ms of its own time, and schedstat must have seen it. About 5
/// ms, more on a loaded machine, a second at most.
LoadSources test_load_sources(const std::string& root = "");

/// What this process got since the last look. It keeps some ten files open, and two for each thread.
class LoadReader {
public:
  explicit LoadReader(LoadSource source = LoadSource::schedstat, std::string root = "");
  ~LoadReader();
  LoadReader(const LoadReader&) = delete;
  LoadReader& operator=(const LoadReader&) = delete;
  /// Since the last call, or since it was made.
  Load look();
  /// The same once this process has wanted a processor for so long since the last look; nothing before that: of a few
  /// milliseconds no share can be told. A process that sleeps wants none, is told of its control group instead, and is
  /// judged at once. Where the kernel says that nothing ran while this process did, marked work is judged, and
  /// competitors where none is marked.
  /// @param stopped_s  that the process was stopped since the last call
  std::optional<Load> look_after(double wanted_s, bool sleeps, double stopped_s);
  /// Work that was marked: its thread's CPU time, and its wall time.
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
