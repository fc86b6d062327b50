// SPDX-License-Identifier: BSD-3-Clause
// A Unix stream socket that receives lines and answers lines. It does not interpret them: applications and schedulers
// share it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace control {

struct ServerLimits {
  int connections =
      256; ///< at a time; beyond, the one that has been idle longest is closed, or the new client receives "busy"
  std::size_t line_bytes = 65536;       ///< longest line accepted
  std::size_t waiting_bytes = 1u << 20; ///< answers that a client has not read; with another, it is dropped
  double half_line_s = 10;              ///< the time limit for the end of a line that was begun
  /// The user at the other end; false: not known. For tests; by default SO_PEERCRED.
  std::function<bool(int fd, uid_t* uid)> peer;
};

/// The server of one socket in a private directory. Accepts only this user and root. Never blocks: a client is dropped
/// when it does not read its answers, sends half a line, too much or invalid input. Other clients are not affected. Not
/// thread-safe, except `interrupt`.
class LineServer {
public:
  using Client = std::uint64_t; ///< never used twice
  struct Handler {
    std::function<void(Client, std::string_view line)> line; ///< without its end
    std::function<void(Client)> gone;                        ///< whatever the reason; may be empty
  };

  /// Puts `name` (e.g. "job-17.sock") into `directory`, which is made when it is absent, mode 0700; the socket has mode
  /// 0600. The socket of a dead server under that name is replaced.
  /// @throws base::Error{io_failure}; bad_state when a server listens there; bad_argument when the path is too long for
  /// a socket.
  LineServer(const std::string& directory, const std::string& name, Handler handler, ServerLimits limits = {});
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;
  ~LineServer(); ///< close()
  /// Closes the listener and all connections, and removes the socket, if it is still this server's. interrupt() may be
  /// called afterwards, by any thread; nothing else may.
  void close() noexcept;

  /// Readable when serve() has something to do: for a caller with a poll of its own.
  int fd() const;
  /// Waits for work, at most `timeout_s` (below 0: for ever), and does it. False when the wait ended with nothing to
  /// do.
  bool serve(double timeout_s);
  /// Makes a serve() that waits, or the next one, return. Any thread.
  void interrupt() noexcept;

  /// Appends `line` (its end included) to the output of `client`. False when it is gone or was dropped for not reading.
  bool send(Client client, std::string_view line);
  /// A message to `client` will follow later (is_owed): it is not closed in favour of others, or when it shuts its
  /// sending side.
  void hold(Client client, bool is_owed);
  /// Tries for at most `timeout_s` to send the pending output of all clients.
  void flush(double timeout_s);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace control
