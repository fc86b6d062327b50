// SPDX-License-Identifier: BSD-3-Clause
// Stops processes on other hosts, and resumes them.
#pragma once
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"

namespace sched {

/// Uses the command that reaches a host, without waiting for it. The last request for a host and a mark is in force. A
/// signal follows the one before it, and is sent again until the host has answered.
class HostSignals {
public:
  /// @param shell words; the host and a line for its shell follow.
  /// @param warn called when a host does not answer, and when it does again.
  HostSignals(const std::string& shell, std::function<void(const std::string&)> warn);
  ~HostSignals(); ///< waits for calls under way
  HostSignals(const HostSignals&) = delete;
  HostSignals& operator=(const HostSignals&) = delete;

  /// All processes there that were started with `mark`, NAME=value, in their environment.
  void want(const std::string& host, const std::string& mark, bool is_stopped);
  /// The job has ended: what is left of it goes on, so that it can end. A host that does not answer is not asked again.
  void forget(const std::string& mark);
  /// Starts and collects calls; call it often while not idle.
  /// @throws nothing
  void progress();
  bool is_idle() const { return wanted_.empty(); }
  /// Until it is idle, for at most `patience_s`.
  /// @return whether it is
  bool finish(double patience_s);
  /// Hosts without an answer yet, of those asked for this mark.
  std::vector<std::string> silent(const std::string& mark) const;

private:
  using Place = std::pair<std::string, std::string>; ///< host and mark
  struct Wanted {
    bool is_stopped = false;
    std::future<base::Outcome> call; ///< valid while one is under way
    bool call_stops = false;         ///< of that call
    double next_s = 0;
    bool is_silent = false; ///< and that was reported
    bool is_last = false;   ///< it is not tried again
  };
  /// Whether that call is finished.
  bool collect(const Place& place, Wanted& wanted);
  std::future<base::Outcome> call(const Place& place, bool is_stopped) const;

  std::vector<std::string> shell_;
  std::function<void(const std::string&)> warn_;
  std::map<Place, Wanted> wanted_;
};

} // namespace sched
