// SPDX-License-Identifier: BSD-3-Clause
#include "base/lines.hpp"

#include <poll.h>

#include <array>
#include <cerrno>

namespace base {
namespace {

bool would_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

} // namespace

Io LineReader::receive(int fd) {
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return would_wait() ? Io::later : Io::failed;
    if (got == 0) return Io::ended;
    input_.append(buffer.data(), static_cast<std::size_t>(got));
    return Io::some;
  }
}

std::optional<std::string> LineReader::line() {
  const std::size_t end = input_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = input_.size();
    return std::nullopt;
  }
  std::string text = input_.substr(0, end);
  input_.erase(0, end + 1);
  searched_ = 0;
  return text;
}

Io send_some(int fd, std::string_view& text) {
  while (!text.empty()) {
    const ssize_t put = send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0)
      text.remove_prefix(static_cast<std::size_t>(put));
    else if (put == 0 || errno != EINTR)
      return put < 0 && !would_wait() ? Io::failed : Io::later;
  }
  return Io::some;
}

bool wait_for(int fd, short events, const Deadline& deadline) {
  for (;;) {
    pollfd wait{fd, events, 0};
    const int count = poll(&wait, 1, deadline.left_ms());
    if (count != 0) {
      if (count < 0 && errno == EINTR) continue;
      return true;
    }
    return false;
  }
}

Io send_all(int fd, std::string_view text, const Deadline& deadline) {
  for (;;) {
    const Io went = send_some(fd, text);
    if (went != Io::later) return went;
    if (!wait_for(fd, POLLOUT, deadline)) return Io::later;
  }
}

std::optional<ucred> peer_of(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer;
}

} // namespace base
