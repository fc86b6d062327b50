// SPDX-License-Identifier: BSD-3-Clause
// Lines over TCP between the application's own job and the nodes that join and leave. Random tokens give access, one
// for each node.
#pragma once

#include <poll.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/lines.hpp"
#include "control/strangers.hpp"

namespace slurm {

/// "10.0.0.1:4711?0123...": the address of the agent, and a token.
struct Place {
  std::string host; ///< numeric
  int port = 0;
  std::string word;
  std::string text() const;
  /// Empty when it is invalid.
  static std::optional<Place> parse(const std::string& text);
};

/// One connection. Move-only.
class Link {
public:
  Link() = default;
  explicit Link(base::FileDescriptor fd, std::string received = {}) : fd_(std::move(fd)), input_(std::move(received)) {}

  int fd() const { return fd_.get(); }
  explicit operator bool() const { return bool(fd_); }
  /// Reads the available input. Returns false when the other side is gone; line() still returns everything it sent.
  bool take();
  std::optional<std::string> line() { return input_.line(); }
  /// False when it cannot be sent: the other side is gone, or does not read.
  bool say(const std::string& line);
  void close() { fd_.close(); }

private:
  base::FileDescriptor fd_;
  base::LineReader input_;
};

class Listener {
public:
  /// On that numeric address, a port of the system's choice. @throws command::Failure
  explicit Listener(const std::string& address);
  const std::string& host() const { return place_.host; }
  /// For a connection to be accepted: with a unique token.
  Place invitation() const;
  void add_to(std::vector<pollfd>& polled) const { strangers_.add_to(polled, fd_.get()); }
  /// Reads the first line of each connection, which is removed, and calls back; within control::StrangerLimits.
  void receive(const std::function<void(Link, const std::string& line)>& take_in);

private:
  Place place_; ///< without a token
  base::FileDescriptor fd_;
  control::Strangers strangers_;
};

/// @throws command::Failure within `limit_s`
Link connect_to(const Place& place, double limit_s);

/// The IPv4 address of an interface ("eth0"), or control::own_address(). @throws command::Failure
std::string own_address(const std::string& interface);

} // namespace slurm
