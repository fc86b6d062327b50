// SPDX-License-Identifier: BSD-3-Clause
// Connections that have not identified themselves yet. Sockets only; the caller interprets and checks the first line.
#pragma once

#include <poll.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace control {

/// Equal, in a time that does not depend on the number of equal first characters.
bool is_same_secret(std::string_view given, std::string_view expected);

struct StrangerLimits {
  std::size_t connections = 64;  ///< at a time; beyond, the oldest connection is closed
  std::size_t line_bytes = 4096; ///< of the first line
  double line_s = 5;             ///< for the first line
  double pause_s = 0.1;          ///< without accepting, when this process has no descriptor left
};

/// The connections of one listening socket until each has sent its first line. Never blocks; not thread-safe.
class Strangers {
public:
  /// fd: non-blocking, close-on-exec; the callee owns it from now on. line: without its end; rest: what was read after
  /// it.
  using Hello = std::function<void(int fd, const std::string& line, std::string rest)>;

  explicit Strangers(StrangerLimits limits = {}) : limits_(limits) {}

  /// The descriptors for a poll of half a second at most, so that a silent connection is closed in time. The listener
  /// is left out during a pause.
  void add_to(std::vector<pollfd>& polled, int listener) const;
  /// Accepts connections and reads all that has arrived. hello may not call this again.
  void serve(int listener, const Hello& hello);

private:
  struct Stranger {
    base::FileDescriptor fd;
    double since_s; ///< base::monotonic_s
    std::string given;
  };
  bool has_gone(Stranger& stranger, const Hello& hello) const;
  void accept_all(int listener, const Hello& hello);

  StrangerLimits limits_;
  std::deque<Stranger> all_; ///< in the order of arrival
  double accept_again_s_ = 0;
};

} // namespace control
