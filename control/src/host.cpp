// SPDX-License-Identifier: BSD-3-Clause
#include "control/host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"

namespace control {

std::string random_word() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw base::Error(base::Status::io_failure, "control: no random numbers");
  std::string word;
  for (const unsigned char b : bytes) word += fmt::format("{:02x}", b);
  return word;
}

namespace {

bool is_loopback(const std::string& address) {
  return address.compare(0, 4, "127.") == 0;
}

std::string text_of(const sockaddr* address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text.data(), text.size());
  return text.data();
}

std::vector<std::string> addresses_of(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  std::vector<std::string> all;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return all;
  for (const addrinfo* a = found; a; a = a->ai_next) all.push_back(text_of(a->ai_addr));
  freeaddrinfo(found);
  return all;
}

/// The local address of the route to that address; connecting a datagram socket sends nothing. Empty: there is no
/// route.
std::string address_towards(const std::string& address) {
  sockaddr_in there{}, here{};
  there.sin_family = here.sin_family = AF_INET;
  there.sin_port = htons(9);
  inet_pton(AF_INET, address.c_str(), &there.sin_addr);
  socklen_t length = sizeof here;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  const bool is_known = connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0 &&
                        getsockname(fd, reinterpret_cast<sockaddr*>(&here), &length) == 0;
  close(fd);
  return is_known ? text_of(reinterpret_cast<const sockaddr*>(&here)) : "";
}

} // namespace

std::vector<std::pair<std::string, std::string>> interfaces() {
  std::vector<std::pair<std::string, std::string>> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  for (const ifaddrs* a = list; a; a = a->ifa_next)
    if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && (a->ifa_flags & IFF_UP) != 0)
      all.emplace_back(a->ifa_name, text_of(a->ifa_addr));
  freeifaddrs(list);
  return all;
}

bool has_network() {
  bool is_there = false;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return true; // not known
  for (const ifaddrs* a = list; a; a = a->ifa_next)
    is_there = is_there || (a->ifa_addr && (a->ifa_flags & IFF_UP) != 0 && (a->ifa_flags & IFF_LOOPBACK) == 0 &&
                            (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6));
  freeifaddrs(list);
  return is_there;
}

std::string own_address(const std::string& host) {
  if (!host.empty())
    for (const std::string& address : addresses_of(host))
      if (const std::string here = address_towards(address); !here.empty() && !is_loopback(here)) return here;
  for (const std::string& address : addresses_of(base::host_name()))
    if (!is_loopback(address)) return address;
  for (const auto& [name, address] : interfaces())
    if (!is_loopback(address)) return address;
  return "127.0.0.1";
}

} // namespace control
