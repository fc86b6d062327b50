// SPDX-License-Identifier: BSD-3-Clause
// The other end of a running job's socket: for the dyngrid command, a scheduler and a new process. No MPI.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/json_fwd.hpp"
#include "base/lines.hpp"

namespace control {

/// One connection to a job (or a scheduler). Move-only; one thread at a time.
class Client {
public:
  /// Connects to the job of that name.
  /// @throws base::Error{not_found} when there is none, io_failure, timeout.
  static Client to_job(const std::string& job, double timeout_s = 10);
  /// Connects to any socket of this protocol, in a directory of this user that is closed to all others.
  static Client to_socket(const std::string& path, double timeout_s = 10);

  /// Sends {"op": op, fields...} and waits for its reply. Events that arrive first are kept for next().
  /// @return the reply. A declined request is no error: look at "accepted".
  /// @throws base::Error with the status and text of a reply with "ok": false; timeout; io_failure when the job has
  /// ended.
  base::Json call(const std::string& op, const base::Json& fields, double timeout_s = 10);

  /// The same in two steps, for a caller with a poll of its own. send() returns the request's id; fd() is readable when
  /// next() may have something.
  std::int64_t send(const std::string& op, const base::Json& fields, double timeout_s = 10);
  int fd() const { return fd_.get(); }
  /// The next line, a reply or an event, whichever arrives first. Empty when none arrived within `timeout_s` (0: only
  /// what has arrived; below 0: no limit).
  /// @throws base::Error{io_failure} when the job has ended and next() has returned all that it sent.
  std::optional<base::Json> next(double timeout_s);

private:
  Client(base::FileDescriptor fd, std::string who) : fd_(std::move(fd)), who_(std::move(who)) {}
  std::optional<std::string> take_line(double timeout_s);

  base::FileDescriptor fd_;
  std::string who_; ///< for messages
  base::LineReader input_;
  std::deque<std::string> kept_; ///< lines that call() read before its reply
  std::int64_t last_id_ = 0;
};

} // namespace control
