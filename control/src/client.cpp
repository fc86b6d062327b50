// SPDX-License-Identifier: BSD-3-Clause
#include "control/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "control/protocol.hpp"
#include "control/runtime_dir.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_answer = 64u
                                       << 20; // a history may be long; a peer that never ends a line is none of ours

class Deadline {
public:
  explicit Deadline(double seconds) : seconds_(seconds), begun_(Clock::now()) {}
  double left() const {
    return seconds_ < 0 ? -1 : std::max(0.0, seconds_ - std::chrono::duration<double>(Clock::now() - begun_).count());
  }
  bool is_over() const { return seconds_ >= 0 && left() <= 0; }
  int left_ms() const { return seconds_ < 0 ? -1 : static_cast<int>(std::min(std::ceil(left() * 1000), 1e9)); }

private:
  double seconds_;
  Clock::time_point begun_;
};

bool is_ready(int fd, short what, const Deadline& deadline) {
  for (;;) {
    pollfd wait{fd, what, 0};
    const int count = poll(&wait, 1, deadline.left_ms());
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) return true; // the call that follows says what is wrong
  }
}

} // namespace

Client Client::to_job(const std::string& job, double timeout_s) {
  check_job_name(job, "job");
  const std::string path = job_socket(job);
  try {
    Client client = to_socket(path, timeout_s);
    client.who_ = "job " + job;
    return client;
  } catch (const Error& error) {
    if (error.status() != Status::not_found) throw;
    throw Error(Status::not_found,
                fmt::format("control: no job {} in {} (dyngrid ps lists them)", job, runtime_directory()));
  }
}

Client Client::to_socket(const std::string& path, double timeout_s) {
  const Deadline deadline(timeout_s);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(Status::bad_argument, fmt::format("control: path {} is longer than a socket's may be ({})", path,
                                                  sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Client client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), path);
  if (client.fd_ < 0) throw Error(Status::io_failure, fmt::format("control: socket: {}", std::strerror(errno)));
  while (connect(client.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) { // many want in at once, and there is no poll for this
      if (deadline.is_over())
        throw Error(Status::timeout,
                    fmt::format("control: {} did not take the connection within {:g} s", path, timeout_s));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED;
    throw Error(is_absent ? Status::not_found : Status::io_failure,
                fmt::format("control: nobody answers at {}: {}", path, std::strerror(errno)));
  }
  return client;
}

Client::Client(Client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), who_(std::move(other.who_)), input_(std::move(other.input_)),
      kept_(std::move(other.kept_)), last_id_(other.last_id_) {}

Client& Client::operator=(Client&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(who_, other.who_);
  std::swap(input_, other.input_);
  std::swap(kept_, other.kept_);
  std::swap(last_id_, other.last_id_);
  return *this;
}

Client::~Client() {
  if (fd_ >= 0) close(fd_);
}

std::int64_t Client::send(const std::string& op, const nlohmann::json& fields, double timeout_s) {
  const Deadline deadline(timeout_s);
  Json request = fields.is_null() ? Json::object() : fields;
  request["op"] = op;
  request["id"] = ++last_id_;
  const std::string line = to_line(request);
  if (line.size() > longest_line)
    throw Error(Status::bad_argument,
                fmt::format("control: request {} has {} bytes, wanted at most {}", op, line.size(), longest_line));
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::send(fd_, line.data() + done, line.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && errno == EAGAIN) {
      if (!is_ready(fd_, POLLOUT, deadline))
        throw Error(Status::timeout, fmt::format("control: {} took no request within {:g} s", who_, timeout_s));
    } else if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      break; // it has closed; what it said before, such as why, can still be read
    } else {
      throw Error(Status::io_failure, fmt::format("control: {}: {}", who_, std::strerror(errno)));
    }
  }
  return last_id_;
}

std::optional<std::string> Client::take_line(double timeout_s) {
  const Deadline deadline(timeout_s);
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = input_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = input_.substr(0, end);
      input_.erase(0, end + 1);
      return line;
    }
    searched = input_.size();
    if (input_.size() > longest_answer)
      throw Error(Status::io_failure,
                  fmt::format("control: {} sent a line of more than {} bytes", who_, longest_answer));
    std::array<char, 16384> buffer;
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
      input_.append(buffer.data(), static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!is_ready(fd_, POLLIN, deadline)) return std::nullopt;
    } else {
      throw Error(Status::io_failure, fmt::format("control: {} has gone", who_));
    }
  }
}

namespace {
Json parsed(const std::string& line, const std::string& who) {
  Json object = Json::parse(line, nullptr, false);
  if (!object.is_object())
    throw Error(Status::io_failure,
                fmt::format("control: {} answers '{}', wanted a JSON object", who, line.substr(0, 60)));
  return object;
}
} // namespace

std::optional<nlohmann::json> Client::next(double timeout_s) {
  if (!kept_.empty()) {
    const std::string line = std::move(kept_.front());
    kept_.pop_front();
    return parsed(line, who_);
  }
  const std::optional<std::string> line = take_line(timeout_s);
  if (!line) return std::nullopt;
  return parsed(*line, who_);
}

nlohmann::json Client::call(const std::string& op, const nlohmann::json& fields, double timeout_s) {
  const Deadline deadline(timeout_s);
  const std::int64_t id = send(op, fields, timeout_s);
  for (;;) {
    const std::optional<std::string> line = take_line(deadline.left());
    if (!line)
      throw Error(Status::timeout, fmt::format("control: {} did not answer {} within {:g} s", who_, op, timeout_s));
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

void Client::throw_if_failure(const nlohmann::json& line) {
  const auto ok = line.find("ok");
  if (ok == line.end() || !ok->is_boolean() || ok->get<bool>()) return;
  const int status = line.contains("status") && line["status"].is_number_integer() ? line["status"].get<int>() : 0;
  const bool is_known = status < 0 && status >= static_cast<int>(Status::internal);
  throw Error(is_known ? static_cast<Status>(status) : Status::internal,
              line.contains("error") && line["error"].is_string() ? line["error"].get<std::string>()
                                                                  : "control: failed, no reason given");
}

} // namespace control
