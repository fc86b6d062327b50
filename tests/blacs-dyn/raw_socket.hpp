// SPDX-License-Identifier: BSD-3-Clause
// For tests of servers: what a client that keeps no rules sees of them.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <sys/socket.h>

inline bool eventually(const std::function<bool()>& what) {
  for (int i = 0; i < 60000; ++i) { // ten minutes: it hangs
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Until the other side closes the connection.
inline std::string all_that_comes(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}
