// SPDX-License-Identifier: BSD-3-Clause
// Lines over a stream socket. What to do about an end, a line that is too long or a peer that does not read is the
// caller's.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"

namespace base {

enum class Io {
  some,   ///< a part went over, at least a byte
  later,  ///< nothing now: it would have to wait
  ended,  ///< the other side sends no more
  failed, ///< errno says how
};

/// Input that is no whole line yet.
class LineReader {
public:
  explicit LineReader(std::string received = {}) : input_(std::move(received)) {}
  /// Reads once, without waiting. Calls that a signal interrupts are made again.
  Io receive(int fd);
  /// The next whole line, without its end.
  std::optional<std::string> line();
  std::size_t size() const { return input_.size(); } ///< bytes that no line() has given out
  bool is_empty() const { return input_.empty(); }

private:
  std::string input_;
  std::size_t searched_ = 0; ///< of input_, without an end of line
};

/// Sends what goes now, without waiting and without SIGPIPE, and cuts it off `text`. `some` when all has gone.
Io send_some(int fd, std::string_view& text);
/// Waits until `events` (POLLIN, POLLOUT) are there; also true when something is wrong with it, which the call that
/// follows will say. False when the patience has ended.
bool wait_for(int fd, short events, const Deadline& deadline);
/// All of it, waiting where it must. `later` when the patience has ended.
Io send_all(int fd, std::string_view text, const Deadline& deadline);

/// The process at the other end of a Unix socket, and its user. Empty with errno: it is not known.
std::optional<ucred> peer_of(int fd);

} // namespace base
