// SPDX-License-Identifier: BSD-3-Clause
// TCP over IPv4, by numeric addresses.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"

namespace base {

struct TcpListener {
  FileDescriptor fd; ///< none: errno says why, EINVAL where the address is not numeric. accept() does not wait
  int port = 0;      ///< of the system's choice
};
TcpListener listen_tcp(const std::string& address);

/// A connection for small lines that notices the end of the other host. None with errno, ETIMEDOUT where the patience
/// has ended.
FileDescriptor connect_tcp(const std::string& address, int port, const Deadline& deadline);
/// The end of the other host is noticed.
void keep_alive(int fd);

} // namespace base
