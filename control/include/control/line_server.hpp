// SPDX-License-Identifier: BSD-3-Clause
// A Unix stream socket that takes lines and answers lines. It knows nothing of what they say: applications and
// schedulers share it.
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
      256; ///< at a time; of more, the one that has been idle longest gives way, or the newcomer is told "busy"
  std::size_t line_bytes = 65536;       ///< longest line taken
  std::size_t waiting_bytes = 1u << 20; ///< answers that a client has not fetched; with another, it is dropped
  double half_line_s = 10;              ///< within which a line that was begun must end
  /// Who is at the other end; false: not known. For tests; by default SO_PEERCRED.
  std::function<bool(int fd, uid_t* uid)> peer;
};

/// The server of one socket in a private directory. Never blocks: a client that does not fetch its answers, sends half
/// a line, too much or nonsense is dropped, and nobody else notices. Only this user and root are let in. Not
/// thread-safe, but for `interrupt`.
class LineServer {
public:
  using Client = std::uint64_t; ///< never used twice
  struct Handler {
    std::function<void(Client, std::string_view line)> line; ///< without its end
    std::function<void(Client)> gone;                        ///< whatever the reason; may be empty
  };

  /// Puts `name` (e.g. "job-17.sock") into `directory`, which is made when it is absent, mode 0700; the socket has mode
  /// 0600. What a dead server left under that name is replaced.
  /// @throws base::Error{io_failure}; bad_state when somebody listens there; bad_argument when the path is longer
  /// than a socket's may be.
  LineServer(const std::string& directory, const std::string& name, Handler handler, ServerLimits limits = {});
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;
  ~LineServer(); ///< closes everything and takes the socket away, if it is still ours

  /// Readable when serve() has something to do: for a caller with a poll of its own.
  int fd() const;
  /// Waits for work, at most `timeout_s` (below 0: for ever), and does it. False when the wait ended with nothing to
  /// do.
  bool serve(double timeout_s);
  /// Makes a serve() that waits, or the next one, return. Any thread.
  void interrupt() noexcept;

  /// Appends `line` (its end included) to what `client` gets. False when it is gone or was dropped for not reading.
  bool send(Client client, std::string_view line);
  /// Something will be sent to `client` later (is_owed): it does not give way to others, and stays when it shuts its
  /// sending side.
  void hold(Client client, bool is_owed);
  /// Tries for at most `timeout_s` to get rid of what clients have not fetched yet.
  void flush(double timeout_s);
  int clients() const;
  const std::string& path() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace control
