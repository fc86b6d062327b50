// SPDX-License-Identifier: BSD-3-Clause
#include "link.hpp"

#include <arpa/inet.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "control/host.hpp"
#include "shared/failure.hpp"

namespace slurm {

using command::Failure;

namespace {
constexpr std::size_t longest_line = std::size_t{4} << 20; // a group's command has a good part of the environment in it
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
  place.port = base::whole_number<int>(std::string_view(text).substr(colon + 1, question - colon - 1)).value_or(0);
  in_addr ignored{};
  const bool is_good = place.port > 0 && place.port < 65536 && !place.word.empty() &&
                       place.word.find_first_not_of("0123456789abcdef") == std::string::npos &&
                       inet_pton(AF_INET, place.host.c_str(), &ignored) == 1;
  return is_good ? std::optional(place) : std::nullopt;
}

bool Link::take() {
  for (;;) {
    const base::Io came = fd_ ? input_.receive(fd_.get()) : base::Io::ended;
    if (came != base::Io::some) return came == base::Io::later;
    if (input_.size() > longest_line) return false;
  }
}

bool Link::say(const std::string& line) {
  return fd_ && base::send_all(fd_.get(), line + "\n", base::Deadline(2)) == base::Io::some;
}

Listener::Listener(const std::string& address) {
  base::TcpListener tcp = base::listen_tcp(address);
  if (!tcp.fd) throw Failure(fmt::format("cannot listen on {}: {}", address, std::strerror(errno)), 1);
  fd_ = std::move(tcp.fd);
  place_ = {address, tcp.port, ""};
}

Place Listener::invitation() const {
  return {place_.host, place_.port, control::random_word()};
}

void Listener::receive(const std::function<void(Link, const std::string& line)>& take_in) {
  strangers_.serve(fd_.get(), [&](int fd, const std::string& line, std::string rest) {
    base::keep_alive(fd);
    take_in(Link(base::FileDescriptor(fd), std::move(rest)), line);
  });
}

Link connect_to(const Place& place, double limit_s) {
  const base::Deadline deadline(limit_s);
  for (;;) {
    base::FileDescriptor fd = base::connect_tcp(place.host, place.port, deadline);
    if (fd) return Link(std::move(fd));
    const int failed = errno;
    const bool may_get_better =
        failed == ETIMEDOUT || failed == EHOSTUNREACH || failed == ENETUNREACH || failed == EAGAIN;
    if (!may_get_better || deadline.is_over())
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
