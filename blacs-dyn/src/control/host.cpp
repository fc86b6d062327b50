// SPDX-License-Identifier: BSD-3-Clause
#include "control/host.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "gridmap/status.hpp"

namespace control {

std::string random_word() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) throw gridmap::Error(gridmap::Status::io_failure, "control: no random numbers");
  std::string word;
  for (const unsigned char b : bytes) word += fmt::format("{:02x}", b);
  return word;
}

std::string address_of_own_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  std::string text;
  if (getaddrinfo(name.data(), nullptr, &hints, &found) != 0) return text;
  for (const addrinfo* a = found; a; a = a->ai_next) {
    std::array<char, INET_ADDRSTRLEN> buffer{};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(a->ai_addr)->sin_addr, buffer.data(), buffer.size());
    text = buffer.data();
    if (text.compare(0, 4, "127.") != 0) break;
  }
  freeaddrinfo(found);
  return text;
}

} // namespace control
