// SPDX-License-Identifier: BSD-3-Clause
// A process that ends while the launcher keeps its connection open, and a fork of it.
#include "processes/launchers/linger.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_descriptor.hpp"

namespace {
std::atomic<int> naps{0};
}

// std::this_thread::sleep_for calls it
extern "C" int nanosleep(const timespec* asked, timespec* left) {
  ++naps;
  errno = clock_nanosleep(CLOCK_MONOTONIC, 0, asked, left);
  return errno == 0 ? 0 : -1;
}

namespace {

using Socket = base::FileDescriptor;

TEST(Linger, AForkDoesNotWait) {
  const Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), place, length), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), place, &length), 0);
  const Socket mine(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(mine.get(), place, length), 0);
  Socket launchers(accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(launchers);
  const std::string uri = "server;tcp4://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  setenv("PMIX_SERVER_URI2", uri.c_str(), 1);
  blacs_dyn::linger_prepare();
  unsetenv("PMIX_SERVER_URI2");

  const pid_t child = fork();
  if (child == 0) {
    naps = 0;
    blacs_dyn::linger_wait();
    _exit(naps == 0 ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);

  const linger at_once{1, 0}; // by a reset: the connection has ended on both ends
  ASSERT_EQ(setsockopt(launchers.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  launchers = Socket();
  blacs_dyn::linger_wait(); // of the process itself, which would wait at its exit
}

} // namespace
