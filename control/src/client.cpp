// SPDX-License-Identifier: BSD-3-Clause
#include "control/client.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "control/protocol.hpp"
#include "control/runtime_dir.hpp"

namespace control {
namespace {

using base::Deadline;
using base::Error;
using base::Status;

/// The other end receives commands and the environment of this user: it must be this user's, or root's.
void require_own_peer(int fd, const std::string& path) {
  const std::optional<ucred> peer = base::peer_of(fd);
  if (!peer) throw Error(Status::io_failure, "control: {}: {}", path, std::strerror(errno));
  if (peer->uid != geteuid() && peer->uid != 0)
    throw Error(Status::io_failure, "control: {} belongs to user {}, expected {}", path, peer->uid, geteuid());
}

constexpr std::size_t longest_answer = 64u
                                       << 20; // a history may be long; a peer that never ends a line is none of ours

} // namespace

Client Client::to_job(const std::string& job, double timeout_s) {
  check_job_or_pool(job, "job");
  const std::string path = job_socket(job);
  try {
    Client client = to_socket(path, timeout_s);
    client.who_ = "job " + job;
    return client;
  } catch (const Error& error) {
    if (error.status() != Status::not_found) throw;
    throw Error(Status::not_found, "control: no job {} in {} (dyngrid ps lists them)", job, runtime_directory());
  }
}

Client Client::to_socket(const std::string& path, double timeout_s) {
  const Deadline deadline(timeout_s);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(Status::bad_argument, "control: path {} is longer than a socket's may be ({})", path,
                sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  check_private_directory(base::folder_of(path));
  Client client(base::FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), path);
  if (!client.fd_) throw Error(Status::io_failure, "control: socket: {}", std::strerror(errno));
  while (connect(client.fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) { // many clients connect at once, and there is no poll for this
      if (deadline.is_over())
        throw Error(Status::timeout, "control: {} did not take the connection within {:g} s", path, timeout_s);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED;
    throw Error(is_absent ? Status::not_found : Status::io_failure, "control: nobody answers at {}: {}", path,
                std::strerror(errno));
  }
  require_own_peer(client.fd_.get(), path);
  return client;
}

std::int64_t Client::send(const std::string& op, const base::Json& fields, double timeout_s) {
  const Deadline deadline(timeout_s);
  Json request = fields.is_null() ? Json::object() : fields;
  request["op"] = op;
  request["id"] = ++last_id_;
  const std::string line = to_line(request);
  if (line.size() > longest_line)
    throw Error(Status::bad_argument, "control: request {} has {} bytes, expected at most {}", op, line.size(),
                longest_line);
  switch (base::send_all(fd_.get(), line, deadline)) {
  case base::Io::later:
    throw Error(Status::timeout, "control: {} took no request within {:g} s", who_, timeout_s);
  case base::Io::failed: // it has closed: what it sent before, such as the reason, can still be read
    if (errno != EPIPE && errno != ECONNRESET)
      throw Error(Status::io_failure, "control: {}: {}", who_, std::strerror(errno));
    break;
  default:
    break;
  }
  return last_id_;
}

std::optional<std::string> Client::take_line(double timeout_s) {
  const Deadline deadline(timeout_s);
  for (;;) {
    if (std::optional<std::string> line = input_.line()) return line;
    if (input_.size() > longest_answer)
      throw Error(Status::io_failure, "control: {} sent a line of more than {} bytes", who_, longest_answer);
    const base::Io came = input_.receive(fd_.get());
    if (came == base::Io::later) {
      if (!base::wait_for(fd_.get(), POLLIN, deadline)) return std::nullopt;
    } else if (came != base::Io::some) {
      throw Error(Status::io_failure, "control: {} has gone", who_);
    }
  }
}

namespace {
Json parsed(const std::string& line, const std::string& who) {
  Json object = base::parse_json_or_null(line);
  if (!object.is_object())
    throw Error(Status::io_failure, "control: {} answers '{}', expected a JSON object", who, line.substr(0, 60));
  return object;
}

/// A reply with "ok": false, as the Error that it describes.
void throw_if_failure(const Json& line) {
  const auto ok = line.find("ok");
  if (ok == line.end() || !ok->is_boolean() || ok->get<bool>()) return;
  const int status =
      line.contains("status") && line.at("status").is_number_integer() ? line.at("status").get<int>() : 0;
  const bool is_known = status < 0 && status >= static_cast<int>(Status::internal);
  throw Error(is_known ? static_cast<Status>(status) : Status::internal,
              line.contains("error") && line.at("error").is_string() ? line.at("error").get<std::string>()
                                                                     : "control: failed, no reason given");
}
} // namespace

std::optional<base::Json> Client::next(double timeout_s) {
  if (!kept_.empty()) {
    const std::string line = std::move(kept_.front());
    kept_.pop_front();
    return parsed(line, who_);
  }
  const std::optional<std::string> line = take_line(timeout_s);
  if (!line) return std::nullopt;
  return parsed(*line, who_);
}

base::Json Client::call(const std::string& op, const base::Json& fields, double timeout_s) {
  const Deadline deadline(timeout_s);
  const std::int64_t id = send(op, fields, timeout_s);
  for (;;) {
    const std::optional<std::string> line = take_line(deadline.left_s());
    if (!line) throw Error(Status::timeout, "control: {} did not answer {} within {:g} s", who_, op, timeout_s);
    Json answer = parsed(*line, who_);
    const auto answered = answer.find("id");
    const bool is_event = answer.contains("event");
    // a refusal of the whole connection has no id
    if (!is_event && answered != answer.end() && (answered->is_null() || *answered == id)) {
      throw_if_failure(answer);
      return answer;
    }
    kept_.push_back(*line);
  }
}

} // namespace control
