// SPDX-License-Identifier: BSD-3-Clause
#include "control/strangers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace control {
namespace {

constexpr int accepted_in_turn = 256; ///< then the other connections are served

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(s));
}

} // namespace

bool is_same_secret(std::string_view given, std::string_view wanted) {
  unsigned differs = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const volatile char mine = k < given.size() ? given[k] : '\0'; // volatile: no early exit
    differs |= static_cast<unsigned char>(mine) ^ static_cast<unsigned char>(wanted[k]);
  }
  return differs == 0 && !wanted.empty();
}

Strangers::~Strangers() {
  for (const Stranger& s : all_) close(s.fd);
}

void Strangers::add_to(std::vector<pollfd>& polled, int listener) const {
  polled.push_back({Clock::now() < accept_again_ ? -1 : listener, POLLIN, 0}); // poll skips descriptors below 0
  for (const Stranger& s : all_) polled.push_back({s.fd, POLLIN, 0});
}

/// It was closed, or belongs to the caller now.
bool Strangers::has_gone(Stranger& s, const Hello& hello) const {
  std::array<char, 4096> buffer;
  while (s.given.size() < limits_.line_bytes) {
    const ssize_t got =
        recv(s.fd, buffer.data(), std::min(buffer.size(), limits_.line_bytes - s.given.size()), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (Clock::now() - s.since < seconds(limits_.line_s)) return false;
      break;
    }
    if (got <= 0) break;
    s.given.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t end = s.given.find('\n');
    if (end == std::string::npos) continue;
    hello(s.fd, s.given.substr(0, end), s.given.substr(end + 1));
    return true;
  }
  close(s.fd);
  return true;
}

void Strangers::serve(int listener, const Hello& hello) {
  for (auto s = all_.begin(); s != all_.end();) s = has_gone(*s, hello) ? all_.erase(s) : std::next(s);
  if (Clock::now() >= accept_again_) accept_all(listener, hello);
}

void Strangers::accept_all(int listener, const Hello& hello) {
  const auto hang_up_on_oldest = [this] {
    close(all_.front().fd);
    all_.pop_front();
  };
  for (int count = 0; count < accepted_in_turn; ++count) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // no descriptor or no memory left: an unidentified connection is closed to make room, or others wait in the
      // queue; repeated attempts would only load the core
      if (all_.empty() || (errno != EMFILE && errno != ENFILE)) {
        accept_again_ = Clock::now() + seconds(limits_.pause_s);
        return;
      }
      hang_up_on_oldest();
      continue;
    }
    Stranger s{fd, Clock::now(), {}};
    if (has_gone(s, hello)) continue; // most identify themselves at once
    if (all_.size() >= limits_.connections) hang_up_on_oldest();
    all_.push_back(std::move(s));
  }
}

} // namespace control
