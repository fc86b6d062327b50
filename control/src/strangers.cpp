// SPDX-License-Identifier: BSD-3-Clause
#include "control/strangers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "base/clock.hpp"

namespace control {

using base::monotonic_s;

namespace {

constexpr int accepted_in_turn = 256; ///< then the other connections are served

} // namespace

bool is_same_secret(std::string_view given, std::string_view expected) {
  unsigned differs = given.size() == expected.size() ? 0 : 1;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const volatile char mine = k < given.size() ? given[k] : '\0'; // volatile: no early exit
    differs |= static_cast<unsigned char>(mine) ^ static_cast<unsigned char>(expected[k]);
  }
  return differs == 0 && !expected.empty();
}

void Strangers::add_to(std::vector<pollfd>& polled, int listener) const {
  polled.push_back({monotonic_s() < accept_again_s_ ? -1 : listener, POLLIN, 0}); // poll skips descriptors below 0
  for (const Stranger& s : all_) polled.push_back({s.fd.get(), POLLIN, 0});
}

/// It is to be closed, or belongs to the caller now.
bool Strangers::has_gone(Stranger& s, const Hello& hello) const {
  std::array<char, 4096> buffer;
  while (s.given.size() < limits_.line_bytes) {
    const ssize_t got =
        recv(s.fd.get(), buffer.data(), std::min(buffer.size(), limits_.line_bytes - s.given.size()), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return monotonic_s() - s.since_s >= limits_.line_s;
    if (got <= 0) return true;
    s.given.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t end = s.given.find('\n');
    if (end == std::string::npos) continue;
    hello(s.fd.release(), s.given.substr(0, end), s.given.substr(end + 1));
    return true;
  }
  return true;
}

void Strangers::serve(int listener, const Hello& hello) {
  for (auto s = all_.begin(); s != all_.end();) s = has_gone(*s, hello) ? all_.erase(s) : std::next(s);
  if (monotonic_s() >= accept_again_s_) accept_all(listener, hello);
}

void Strangers::accept_all(int listener, const Hello& hello) {
  for (int count = 0; count < accepted_in_turn; ++count) {
    base::FileDescriptor fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // no descriptor or no memory left: an unidentified connection is closed to make room, or others wait in the
      // queue; repeated attempts would only load the core
      if (all_.empty() || (errno != EMFILE && errno != ENFILE)) {
        accept_again_s_ = monotonic_s() + limits_.pause_s;
        return;
      }
      all_.pop_front();
      continue;
    }
    Stranger s{std::move(fd), monotonic_s(), {}};
    if (has_gone(s, hello)) continue; // most identify themselves at once
    if (all_.size() >= limits_.connections) all_.pop_front();
    all_.push_back(std::move(s));
  }
}

} // namespace control
