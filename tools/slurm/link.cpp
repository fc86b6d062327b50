// SPDX-License-Identifier: BSD-3-Clause
#include "link.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "control/host.hpp"
#include "dyngrid/failure.hpp"

namespace slurm {

using command::Failure;

namespace {
constexpr std::size_t longest_line = std::size_t{4} << 20; // a unit's command has a good part of the environment in it
}

std::string Place::text() const {
  return fmt::format("{}:{}?{}", host, port, word);
}

std::optional<Place> Place::parse(const std::string& text) {
  Place place;
  const std::size_t question = text.rfind('?'), colon = text.rfind(':', question);
  if (question == std::string::npos || colon == std::string::npos) return std::nullopt;
  place.host = text.substr(0, colon);
  place.word = text.substr(question + 1);
  const std::string port = text.substr(colon + 1, question - colon - 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  place.port = std::atoi(port.c_str());
  in_addr ignored{};
  const bool is_good = place.port > 0 && place.port < 65536 && !place.word.empty() &&
                       place.word.find_first_not_of("0123456789abcdef") == std::string::npos &&
                       inet_pton(AF_INET, place.host.c_str(), &ignored) == 1;
  return is_good ? std::optional(place) : std::nullopt;
}

Link& Link::operator=(Link&& other) noexcept {
  if (this != &other) {
    close();
    std::swap(fd_, other.fd_);
    input_ = std::move(other.input_);
  }
  return *this;
}

Link::~Link() {
  close();
}

void Link::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Link::take() {
  if (fd_ < 0) return false;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      input_.append(buffer.data(), static_cast<std::size_t>(got));
      if (input_.size() > longest_line) return false;
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
}

std::optional<std::string> Link::line() {
  const std::size_t end = input_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string text = input_.substr(0, end);
  input_.erase(0, end + 1);
  return text;
}

bool Link::say(const std::string& line) {
  if (fd_ < 0) return false;
  const std::string text = line + "\n";
  std::size_t sent = 0;
  const auto end_by = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (sent < text.size()) {
    const ssize_t put = send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      sent += static_cast<std::size_t>(put);
    } else if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && std::chrono::steady_clock::now() < end_by) {
      pollfd one{fd_, POLLOUT, 0};
      poll(&one, 1, 100);
    } else if (put < 0 && errno == EINTR) {
      continue;
    } else {
      return false;
    }
  }
  return true;
}

Listener::Listener(const std::string& address) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  socklen_t length = sizeof at;
  if (fd_ < 0 || inet_pton(AF_INET, address.c_str(), &at.sin_addr) != 1 ||
      bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || listen(fd_, 64) != 0 ||
      getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length) != 0) {
    const int why = errno;
    if (fd_ >= 0) ::close(fd_);
    throw Failure(fmt::format("cannot listen on {}: {}", address, std::strerror(why)), 1);
  }
  place_ = {address, ntohs(at.sin_port), ""};
}

Listener::~Listener() {
  ::close(fd_);
}

Place Listener::invitation() const {
  return {place_.host, place_.port, control::random_word()};
}

void Listener::hear(const std::function<void(Link, const std::string& line)>& take_in) {
  strangers_.serve(fd_, [&](int fd, const std::string& line, std::string rest) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    take_in(Link(fd, std::move(rest)), line);
  });
}

Link connect_to(const Place& place, double limit_s) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(place.port));
  inet_pton(AF_INET, place.host.c_str(), &at.sin_addr);
  const auto end_by = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  for (;;) {
    Link link(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int failed = connect(link.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? 0 : errno;
    if (failed == EINPROGRESS) {
      pollfd one{link.fd(), POLLOUT, 0};
      socklen_t length = sizeof failed;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end_by - std::chrono::steady_clock::now()).count();
      if (poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, left))) == 1)
        getsockopt(link.fd(), SOL_SOCKET, SO_ERROR, &failed, &length);
      else
        failed = ETIMEDOUT;
    }
    if (failed == 0) {
      const int on = 1;
      setsockopt(link.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
      fcntl(link.fd(), F_SETFL, 0);
      return link;
    }
    const bool may_get_better =
        failed == ETIMEDOUT || failed == EHOSTUNREACH || failed == ENETUNREACH || failed == EAGAIN;
    if (!may_get_better || std::chrono::steady_clock::now() >= end_by)
      throw Failure(fmt::format("nobody answers at {}:{}: {}", place.host, place.port, std::strerror(failed)), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

std::string own_address(const std::string& interface) {
  if (interface.empty()) return control::own_address();
  for (const auto& [name, address] : control::interfaces())
    if (name == interface) return address;
  throw Failure(fmt::format("--interface: {} is no interface here that is up and has an IPv4 address", interface), 1);
}

} // namespace slurm
