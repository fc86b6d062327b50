// SPDX-License-Identifier: BSD-3-Clause
#include "base/tcp.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/lines.hpp"

namespace base {
namespace {

/// False with errno where the address is not numeric.
bool make_address(const std::string& address, int port, sockaddr_in* made) {
  made->sin_family = AF_INET;
  made->sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &made->sin_addr) == 1) return true;
  errno = EINVAL;
  return false;
}

FileDescriptor new_socket() {
  return FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

} // namespace

TcpListener listen_tcp(const std::string& address) {
  sockaddr_in at{};
  if (!make_address(address, 0, &at)) return {};
  FileDescriptor fd = new_socket();
  socklen_t length = sizeof at;
  if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || listen(fd.get(), 128) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &length) != 0)
    return {};
  return {std::move(fd), ntohs(at.sin_port)};
}

FileDescriptor connect_tcp(const std::string& address, int port, const Deadline& deadline) {
  sockaddr_in at{};
  if (!make_address(address, port, &at)) return {};
  FileDescriptor fd = new_socket();
  if (!fd) return {};
  int failed = connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? 0 : errno;
  if (failed == EINPROGRESS) {
    failed = ETIMEDOUT;
    socklen_t length = sizeof failed;
    if (wait_for(fd.get(), POLLOUT, deadline)) getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &length);
  }
  if (failed != 0) {
    errno = failed;
    return {};
  }
  fcntl(fd.get(), F_SETFL, 0);
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  keep_alive(fd.get());
  return fd;
}

void keep_alive(int fd) {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

} // namespace base
