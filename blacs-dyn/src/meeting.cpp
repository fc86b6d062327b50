// SPDX-License-Identifier: BSD-3-Clause
#include "meeting.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "control/host.hpp"
#include "gridmap/status.hpp"

namespace blacs_dyn {
namespace {

using gridmap::Error;
using gridmap::Status;

constexpr std::size_t longest_input = 1 << 20; ///< a unit's introduction is some hundred bytes for each of its processes
constexpr std::chrono::seconds longest_rescue{5};
constexpr std::chrono::seconds grace_of_the_dismissed{3};
constexpr const char* goodbye_line = "bye";
constexpr const char* end_line = "end ";

[[noreturn]] void fail(const std::string& what) {
  throw Error(Status::io_failure, fmt::format("blacs-dyn: meeting: {}: {}", what, std::strerror(errno)));
}

void send_line(int fd, const std::string& line) {
  const std::string text = line + "\n";
  // small lines into an empty buffer; who does not read is not waited for
  [[maybe_unused]] const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// What has come in, cut into lines.
struct Input {
  std::string bytes;
  bool has_ended = false;

  void take(int fd) {
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) {
        bytes.append(buffer.data(), static_cast<std::size_t>(got));
        if (bytes.size() <= longest_input) continue;
        has_ended = true; // nobody of ours says so much
      } else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        has_ended = true;
      } else if (errno == EINTR) {
        continue;
      }
      return;
    }
  }
  std::optional<std::string> line() {
    const std::size_t end = bytes.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string text = bytes.substr(0, end);
    bytes.erase(0, end + 1);
    return text;
  }
};

struct Socket {
  int fd = -1;
  Socket() = default;
  explicit Socket(int opened) : fd(opened) {}
  Socket(Socket&& other) noexcept : fd(other.fd) { other.fd = -1; }
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() {
    if (fd >= 0) close(fd);
  }
};

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: meeting: the socket's name {} is too long; set TMPDIR to a shorter folder", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

} // namespace

std::string MeetingPlace::text() const {
  return (is_tcp ? fmt::format("tcp:{}:{}", host, port) : "unix:" + path) + "?" + token;
}

MeetingPlace MeetingPlace::parse(std::string_view text) {
  MeetingPlace place;
  const std::size_t question = text.rfind('?');
  const auto bad = [&] { return Error(Status::bad_argument, fmt::format("blacs-dyn: meeting place is \"{}\", wanted unix:PATH?WORD or tcp:ADDRESS:PORT?WORD", text)); };
  if (question == std::string_view::npos || question + 1 == text.size()) throw bad();
  place.token = text.substr(question + 1);
  std::string_view where = text.substr(0, question);
  if (where.substr(0, 5) == "unix:" && where.size() > 5) {
    place.path = where.substr(5);
    return place;
  }
  if (where.substr(0, 4) != "tcp:") throw bad();
  where.remove_prefix(4);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string_view::npos || colon == 0) throw bad();
  place.is_tcp = true;
  place.host = where.substr(0, colon);
  place.port = std::atoi(std::string(where.substr(colon + 1)).c_str());
  if (place.port < 1 || place.port > 65535) throw bad();
  return place;
}

// ---- process 0 ------------------------------------------------------------------------------------------------------------

struct Meeting::State {
  struct Connection {
    Socket socket;
    Input input;
    bool is_known = false;
    bool said_goodbye = false;
    int unit = 0;
    int rank = 0;
    std::string who; ///< for messages
  };
  struct UnitState {
    Presence presence = Presence::awaited;
    std::string why;
    std::string remark;
    pid_t launcher = 0;
    bool is_held = false;
    bool may_go = false;
    std::chrono::steady_clock::time_point end_by{}; ///< dismissed: what started it is ended then
  };

  mutable std::mutex mutex;
  MeetingPlace place;
  Socket listener;
  std::array<int, 2> wake{-1, -1};
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<int, UnitState> units;
  std::map<pid_t, int> launchers; ///< children not waited for yet, and the unit whose coming depends on their status; -1: none
  int watched = -1;
  std::function<void()> rescue;
  std::chrono::steady_clock::time_point rescued_at{}, give_up_at{};
  Loss on_loss;
  std::string lost_before; ///< a unit that had ended when it was to be held
  bool is_closing = false;
  std::thread thread;

  void listen_unix() {
    const char* tmp = std::getenv("TMPDIR");
    std::string folder = fmt::format("{}/dyngrid-join-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder.data())) fail("no folder for a socket in " + folder); // of mode 0700
    place.path = folder + "/s";
    listener.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const sockaddr_un address = unix_address(place.path);
    if (listener.fd < 0 || bind(listener.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("cannot open the socket " + place.path);
  }
  void listen_tcp(const std::string& host) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    if (!host.empty() && inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: DYNGRID_JOIN_LISTEN is \"tcp:{}\", wanted unix, tcp, or tcp: and a numeric address", host));
    listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener.fd < 0 || bind(listener.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("cannot open a TCP socket on \"" + host + "\"");
    socklen_t length = sizeof address;
    getsockname(listener.fd, reinterpret_cast<sockaddr*>(&address), &length);
    place.is_tcp = true;
    place.host = host.empty() ? control::own_address() : host;
    place.port = ntohs(address.sin_port);
  }

  void run() {
    std::vector<pollfd> polled;
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        if (is_closing) return;
        polled.assign({{listener.fd, POLLIN, 0}, {wake[0], POLLIN, 0}});
        for (const auto& c : connections) polled.push_back({c->socket.fd, POLLIN, 0});
      }
      poll(polled.data(), polled.size(), 200); // launchers are looked at as often
      std::string loss;
      std::function<void()> to_rescue;
      {
        const std::lock_guard lock(mutex);
        std::array<char, 64> drained;
        while (read(wake[0], drained.data(), drained.size()) > 0) {
        }
        for (int fd; (fd = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
          connections.push_back(std::make_unique<Connection>());
          connections.back()->socket = Socket(fd);
        }
        for (const auto& c : connections) loss = hear(*c, loss);
        connections.erase(std::remove_if(connections.begin(), connections.end(), [](const auto& c) { return c->input.has_ended; }), connections.end());
        look_after_launchers();
        if (loss.empty()) loss = lost_before;
        if (watched >= 0 && units[watched].presence != Presence::gone && std::chrono::steady_clock::now() > give_up_at) {
          units[watched].presence = Presence::gone;
          units[watched].why = "they were ready, but did not connect in time";
          units[watched].end_by = std::chrono::steady_clock::now();
        }
        if (watched >= 0 && units[watched].presence == Presence::gone) {
          if (rescue) {
            std::swap(to_rescue, rescue);
            rescued_at = std::chrono::steady_clock::now();
          } else if (loss.empty() && std::chrono::steady_clock::now() - rescued_at > longest_rescue) {
            loss = units[watched].why + " while it was being let in, where MPI cannot turn back";
          }
        }
        if (!loss.empty())
          for (const auto& c : connections)
            if (c->is_known) send_line(c->socket.fd, end_line + loss);
      }
      if (to_rescue) to_rescue();
      if (!loss.empty()) {
        on_loss(loss);
        return;
      }
    }
  }

  std::string hear(Connection& c, std::string loss) {
    c.input.take(c.socket.fd);
    while (const auto line = c.input.line()) {
      if (!c.is_known) {
        std::array<char, 64> word{}, host{};
        long pid = 0;
        if (std::sscanf(line->c_str(), "hello %63s %d %d %63s %ld", word.data(), &c.unit, &c.rank, host.data(), &pid) != 5 || place.token != word.data()) {
          c.input.has_ended = true;
          return loss;
        }
        c.is_known = true;
        c.who = fmt::format("process {} of unit {} on {} (pid {})", c.rank, c.unit, host.data(), pid);
      } else if (line->compare(0, 5, "ready") == 0) {
        units[c.unit].remark = line->substr(std::min<std::size_t>(line->size(), 6));
        if (units[c.unit].presence == Presence::awaited) units[c.unit].presence = Presence::ready;
      } else if (*line == goodbye_line) {
        c.said_goodbye = true;
      } else if (line->compare(0, 4, "not ") == 0) {
        units[c.unit].presence = Presence::gone;
        units[c.unit].why = line->substr(4);
        c.said_goodbye = true;
      }
    }
    if (c.input.has_ended && c.is_known && !c.said_goodbye && c.unit != 0) {
      UnitState& unit = units[c.unit];
      if (unit.is_held && !unit.may_go && loss.empty()) loss = c.who + " ended while it held part of the matrices, or was being given it";
      if (unit.presence != Presence::gone && !unit.is_held) {
        unit.presence = Presence::gone;
        unit.why = c.who + " ended";
      }
    }
    return loss;
  }

  /// Children of ours that have ended; the one of a unit that was still on its way is that unit's end.
  void look_after_launchers() {
    for (auto at = launchers.begin(); at != launchers.end();) {
      int status = 0;
      if (waitpid(at->first, &status, WNOHANG) == 0) {
        const auto unit = units.find(at->second);
        if (unit != units.end() && unit->second.end_by != std::chrono::steady_clock::time_point{} && std::chrono::steady_clock::now() > unit->second.end_by) {
          unit->second.end_by = {};
          kill(at->first, SIGTERM); // mpirun takes its processes with it
        }
        ++at;
        continue;
      }
      const auto [pid, id] = *at;
      at = launchers.erase(at);
      if (id < 0) continue;
      UnitState& unit = units[id];
      const bool brings_it = unit.launcher == pid; // and so lives as long
      if (brings_it) unit.launcher = 0;
      if (unit.is_held || unit.may_go || unit.presence == Presence::gone || (!brings_it && status == 0)) continue;
      unit.presence = Presence::gone;
      unit.why = WIFSIGNALED(status) ? fmt::format("what started it was ended by signal {}", WTERMSIG(status))
                                     : fmt::format("what started it ended with status {}", WEXITSTATUS(status));
    }
  }
  void poke() {
    [[maybe_unused]] const ssize_t put = write(wake[1], "x", 1);
  }
};

Meeting::Meeting(const std::string& listen_on, Loss on_loss) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.on_loss = std::move(on_loss);
  s.place.token = control::random_word();
  if (listen_on == "unix") s.listen_unix();
  else if (listen_on == "tcp") s.listen_tcp("");
  else if (listen_on.compare(0, 4, "tcp:") == 0) s.listen_tcp(listen_on.substr(4));
  else throw Error(Status::bad_argument, fmt::format("blacs-dyn: DYNGRID_JOIN_LISTEN is \"{}\", wanted unix, tcp, or tcp: and a numeric address", listen_on));
  if (listen(s.listener.fd, 64) != 0) fail("cannot listen");
  if (pipe2(s.wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("no pipe");
  // signals are the program's and MPI's matter
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  s.thread = std::thread([&s] { s.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Meeting::~Meeting() {
  close(0);
}

std::string Meeting::place() const { return state_->place.text(); }

void Meeting::await(int unit, pid_t launcher) {
  const std::lock_guard lock(state_->mutex);
  state_->units[unit].launcher = launcher;
  if (launcher > 0) state_->launchers[launcher] = unit;
}

void Meeting::reap(pid_t child, int unit) {
  const std::lock_guard lock(state_->mutex);
  state_->launchers[child] = unit;
}

Presence Meeting::presence(int unit, std::string* why) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->units.find(unit);
  if (at == state_->units.end()) return Presence::awaited;
  if (why) *why = at->second.why;
  return at->second.presence;
}

std::string Meeting::remark(int unit) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->units.find(unit);
  return at == state_->units.end() ? "" : at->second.remark;
}

bool Meeting::tell(int unit, const std::string& line) {
  const std::lock_guard lock(state_->mutex);
  if (state_->units[unit].presence == Presence::gone) return false;
  for (const auto& c : state_->connections)
    if (c->is_known && c->unit == unit && c->rank == 0) {
      send_line(c->socket.fd, line);
      return true;
    }
  return false;
}

void Meeting::hold(int unit) {
  {
    const std::lock_guard lock(state_->mutex);
    State::UnitState& u = state_->units[unit];
    u.is_held = true;
    if (u.presence == Presence::gone) state_->lost_before = u.why + " while it was being let in, where MPI cannot turn back";
  }
  state_->poke();
}

void Meeting::let_go(int unit) {
  const std::lock_guard lock(state_->mutex);
  state_->units[unit].may_go = true;
}

void Meeting::dismiss(int unit) {
  const std::lock_guard lock(state_->mutex);
  State::UnitState& u = state_->units[unit];
  u.may_go = true;
  bool is_told = false;
  for (const auto& c : state_->connections)
    if (c->is_known && c->unit == unit && c->rank == 0) {
      send_line(c->socket.fd, "away");
      is_told = true;
    }
  // mpirun must not be told to end while it is at it because one of its processes died
  if (u.launcher > 0) u.end_by = std::chrono::steady_clock::now() + (is_told || u.presence == Presence::gone ? grace_of_the_dismissed : std::chrono::seconds{0});
}

void Meeting::while_watched(int unit, double limit_s, const std::function<void()>& rescue, const std::function<void()>& step) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->watched = unit;
    state_->rescue = rescue;
    state_->give_up_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * limit_s));
  }
  state_->poke();
  const auto stop = [&] {
    const std::lock_guard lock(state_->mutex);
    state_->watched = -1;
    state_->rescue = nullptr;
  };
  try {
    step();
  } catch (...) {
    stop();
    throw;
  }
  stop();
}

void Meeting::close(double seconds) {
  State& s = *state_;
  if (!s.thread.joinable()) return;
  {
    const std::lock_guard lock(s.mutex);
    s.is_closing = true;
    for (const auto& c : s.connections)
      if (c->is_known) send_line(c->socket.fd, goodbye_line);
  }
  s.poke();
  if (s.thread.get_id() == std::this_thread::get_id()) s.thread.detach();
  else s.thread.join();
  for (double waited = 0; waited < seconds && !s.launchers.empty(); waited += 0.01) {
    s.look_after_launchers();
    if (!s.launchers.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!s.place.is_tcp) {
    unlink(s.place.path.c_str());
    rmdir(s.place.path.substr(0, s.place.path.rfind('/')).c_str());
  }
  for (const int fd : s.wake) ::close(fd);
  s.connections.clear();
}

// ---- the others -----------------------------------------------------------------------------------------------------------

struct Visitor::State {
  Socket socket;
  Input input;
  std::thread thread;
  std::array<int, 2> wake{-1, -1};
};

Visitor::Visitor(const MeetingPlace& place, int unit, int rank, double limit_s) : state_(std::make_unique<State>()) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    Socket& s = state_->socket;
    int failed = 0;
    if (place.is_tcp) {
      s = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(place.port));
      inet_pton(AF_INET, place.host.c_str(), &address.sin_addr);
      failed = connect(s.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
      const int on = 1;
      setsockopt(s.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      setsockopt(s.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    } else {
      s = Socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_un address = unix_address(place.path);
      failed = connect(s.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    if (!failed) break;
    const int why = errno;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limit_s || (why != EAGAIN && why != EINTR && why != ETIMEDOUT))
      throw Error(Status::not_found, fmt::format("blacs-dyn: the application that wanted this process is not to be reached ({}): {}",
                                                 place.is_tcp ? fmt::format("{}:{}", place.host, place.port) : place.path, std::strerror(why)));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  say(fmt::format("hello {} {} {} {} {}", place.token, unit, rank, host.data(), getpid()));
}

Visitor::~Visitor() { goodbye(); }

void Visitor::say(const std::string& line) { // a large unit's introduction may be more than the socket takes at once
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = send(state_->socket.fd, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return; // process 0 has gone, which listen() tells
    done += static_cast<std::size_t>(sent);
  }
}

std::optional<std::string> Visitor::listen() {
  state_->input.take(state_->socket.fd);
  if (auto line = state_->input.line()) return line;
  if (state_->input.has_ended) throw Error(Status::io_failure, "blacs-dyn: process 0 of the application has gone");
  return std::nullopt;
}

void Visitor::watch(Meeting::Loss on_loss) {
  if (state_->thread.joinable()) return;
  if (pipe2(state_->wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("no pipe");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->thread = std::thread([this, on_loss = std::move(on_loss)] {
    State& s = *state_;
    for (;;) {
      std::array<pollfd, 2> polled{{{s.socket.fd, POLLIN, 0}, {s.wake[0], POLLIN, 0}}};
      poll(polled.data(), polled.size(), -1);
      if (polled[1].revents) return;
      s.input.take(s.socket.fd);
      while (const auto line = s.input.line()) {
        if (*line == goodbye_line) return;
        if (line->compare(0, std::strlen(end_line), end_line) == 0) {
          on_loss(line->substr(std::strlen(end_line)));
          return;
        }
      }
      if (s.input.has_ended) {
        on_loss("process 0 of the application ended");
        return;
      }
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Visitor::goodbye() {
  if (state_->socket.fd < 0) return;
  if (state_->thread.joinable()) {
    [[maybe_unused]] const ssize_t put = write(state_->wake[1], "x", 1);
    if (state_->thread.get_id() == std::this_thread::get_id()) state_->thread.detach();
    else state_->thread.join();
  }
  send_line(state_->socket.fd, goodbye_line);
  close(state_->socket.fd);
  state_->socket.fd = -1;
}

int Visitor::fd() const { return state_->socket.fd; }

} // namespace blacs_dyn
