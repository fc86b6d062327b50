// SPDX-License-Identifier: BSD-3-Clause
// Stops processes on other hosts, and has them go on.
#pragma once
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"

namespace sched {

/// Through the command that reaches a host; nobody waits for it. What was said last of a host and a mark holds: a
/// signal follows the one before it, and is sent again until the host has answered.
class HostSignals {
public:
  /// @param shell  words; the host and a line for its shell follow.
  /// @param warn  told when a host does not answer, and when it does again.
  HostSignals(const std::string& shell, std::function<void(const std::string&)> warn);
  ~HostSignals(); ///< waits for what is under way
  HostSignals(const HostSignals&) = delete;
  HostSignals& operator=(const HostSignals&) = delete;

  /// All processes there that were started with `mark`, NAME=value, in their environment.
  void want(const std::string& host, const std::string& mark, bool is_stopped);
  /// Starts and collects; to be called often while not idle. @throws nothing
  void progress();
  bool is_idle() const { return wanted_.empty(); }
  /// Until it is idle, at most so long. @return whether it is
  bool finish(double patience_s);
  /// Hosts that did not answer yet, of those asked for this mark.
  std::vector<std::string> silent(const std::string& mark) const;

private:
  using Place = std::pair<std::string, std::string>; ///< host and mark
  struct Wanted {
    bool is_stopped = false;
    std::future<base::Outcome> call; ///< valid while one is under way
    bool call_stops = false;         ///< what that one does
    double next_s = 0;
    bool is_silent = false; ///< and that was said
  };
  /// Whether that is done with.
  bool collect(const Place& place, Wanted& wanted);
  std::future<base::Outcome> call(const Place& place, bool is_stopped) const;

  std::vector<std::string> shell_;
  std::function<void(const std::string&)> warn_;
  std::map<Place, Wanted> wanted_;
};

} // namespace sched
