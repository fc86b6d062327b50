// SPDX-License-Identifier: BSD-3-Clause
// Who has connected and has not said yet who it is. Sockets only; what is said, and whether it is believed, is the
// caller's matter.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace control {

/// Equal, in a time that does not tell how many of the first characters are.
bool is_same_secret(std::string_view said, std::string_view wanted);

struct StrangerLimits {
  std::size_t connections = 64;  ///< at a time; of more, the one that has been here longest is hung up on
  std::size_t line_bytes = 4096; ///< of the first line
  double line_s = 5;             ///< for the first line
  double pause_s = 0.1;          ///< without accepting, when this process has no descriptor left
};

/// The connections of one listening socket until each has said its first line. Never blocks; not thread-safe.
class Strangers {
public:
  /// fd: non-blocking, close-on-exec, and the callee's from now on. line: without its end; rest: what was read behind
  /// it.
  using Hello = std::function<void(int fd, const std::string& line, std::string rest)>;

  explicit Strangers(StrangerLimits limits = {}) : limits_(limits) {}
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;
  ~Strangers();

  /// What a poll must wait for, half a second at most, so that who says nothing goes in time. The listener is left out
  /// during a pause.
  void add_to(std::vector<pollfd>& polled, int listener) const;
  /// Accepts and hears everything that is there. hello may not call this again.
  void serve(int listener, const Hello& hello);
  std::size_t count() const { return all_.size(); }

private:
  using Clock = std::chrono::steady_clock;
  struct Stranger {
    int fd;
    Clock::time_point since;
    std::string said;
  };
  bool has_gone(Stranger& stranger, const Hello& hello) const;
  void accept_all(int listener, const Hello& hello);

  StrangerLimits limits_;
  std::deque<Stranger> all_; ///< in the order in which they came
  Clock::time_point accept_again_{};
};

} // namespace control
