// SPDX-License-Identifier: BSD-3-Clause
#include "control/line_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/lines.hpp"
#include "base/status.hpp"
#include "control/runtime_dir.hpp"

namespace control {
namespace {

using base::Error;
using base::Status;
using Fd = base::FileDescriptor;
using base::monotonic_s;

constexpr std::uint64_t key_listener = 0, key_interrupt = 1, key_resume = 2, first_client = 3;
constexpr long pause_ns = 100'000'000; ///< without accepting, when this process has no descriptor left

[[noreturn]] void system_error(const std::string& what) {
  throw Error(Status::io_failure, "control: {}: {}", what, std::strerror(errno));
}

// sent to clients that are refused, without the JSON library: this file does not use it
constexpr std::string_view stranger =
    "{\"error\":\"control: this job belongs to another user\",\"id\":null,\"ok\":false,\"status\":-9}\n";
constexpr std::string_view busy =
    "{\"error\":\"control: busy, too many connections\",\"id\":null,\"ok\":false,\"status\":-12}\n";
constexpr std::string_view too_long = "{\"error\":\"control: line too long\",\"id\":null,\"ok\":false,\"status\":-1}\n";

} // namespace

struct LineServer::State {
  struct Peer {
    Fd fd;
    base::LineReader input;
    std::string output;
    double active = 0, begun = 0; ///< last activity; when the half line in input was begun
    bool closing = false, wants_write = false;
    bool held = false;        ///< a later message is promised to it
    bool half_closed = false; ///< it has shut its sending side, and may still read
  };

  std::string path;
  Handler handler;
  ServerLimits limits;
  Fd listener, epoll, interrupted, resume;
  ino_t inode = 0;
  pid_t owner = 0; ///< the process that made the socket: its fork must not remove it
  std::map<Client, Peer> peers;
  std::vector<Client> closing_later;
  Client next = first_client;

  ~State() { close(); }
  void close() noexcept {
    // without the lock: no process puts another socket there as long as this one listens
    struct stat found {};
    if (inode != 0 && getpid() == owner && lstat(path.c_str(), &found) == 0 && found.st_ino == inode)
      unlink(path.c_str());
    inode = 0;
    listener.close();
    peers.clear();
  }

  void watch(int fd, std::uint64_t key, std::uint32_t events, int op) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    if (epoll_ctl(epoll.get(), op, fd, &event) != 0) system_error("epoll_ctl");
  }

  void drop(Client client) {
    if (peers.erase(client) > 0 && handler.gone) handler.gone(client);
  }

  /// A client in use further up the stack is only marked, and removed at the end of serve().
  void close_later(Client client, Peer& peer) {
    peer.closing = true;
    peer.output.clear();
    closing_later.push_back(client);
  }

  void write_some(Client client, Peer& peer) {
    std::string_view left = peer.output;
    if (base::send_some(peer.fd.get(), left) == base::Io::failed) return close_later(client, peer);
    peer.output.erase(0, peer.output.size() - left.size());
    const bool wants = !peer.output.empty();
    if (wants != peer.wants_write) {
      peer.wants_write = wants;
      watch_peer(client, peer);
    }
    if (!wants && (peer.closing || (peer.half_closed && !peer.held))) closing_later.push_back(client);
  }

  void watch_peer(Client client, const Peer& peer) const {
    watch(peer.fd.get(), client,
          (peer.half_closed ? 0u : std::uint32_t{EPOLLIN}) | (peer.wants_write ? std::uint32_t{EPOLLOUT} : 0u),
          EPOLL_CTL_MOD);
  }

  void refuse(int fd, std::string_view text) const {
    (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void accept_all() {
    for (int count = 0; count < 64; ++count) { // then the others are served
      Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EMFILE && errno != ENFILE) return;
        // no descriptor left in this process: close an idle client, or leave the others waiting; repeated attempts
        // would only load the core
        if (make_room()) continue;
        const itimerspec once{{0, 0}, {0, pause_ns}};
        watch(listener.get(), key_listener, 0, EPOLL_CTL_MOD);
        timerfd_settime(resume.get(), 0, &once, nullptr);
        return;
      }
      const std::optional<ucred> who = base::peer_of(fd.get());
      uid_t uid = who ? who->uid : 0;
      const bool known = limits.peer ? limits.peer(fd.get(), &uid) : who.has_value();
      if (!known || (uid != geteuid() && uid != 0)) {
        refuse(fd.get(), stranger);
        continue;
      }
      if (static_cast<int>(peers.size()) >= limits.connections && !make_room()) {
        refuse(fd.get(), busy);
        continue;
      }
      const Client client = next++;
      Peer& peer = peers[client];
      peer.fd = std::move(fd);
      peer.active = monotonic_s();
      watch(peer.fd.get(), client, EPOLLIN, EPOLL_CTL_ADD);
    }
  }

  /// Drops the client that has been idle for the longest time, if that is at least a second and it waits for no
  /// message.
  bool make_room() {
    auto oldest = peers.end();
    for (auto at = peers.begin(); at != peers.end(); ++at)
      if (!at->second.held && (oldest == peers.end() || at->second.active < oldest->second.active)) oldest = at;
    if (oldest == peers.end() || monotonic_s() - oldest->second.active < 1) return false;
    drop(oldest->first);
    return true;
  }

  void read_some(Client client, Peer& peer) {
    const bool begins = peer.input.is_empty();
    base::LineReader ignored; // later input
    const base::Io came = (peer.closing ? ignored : peer.input).receive(peer.fd.get());
    if (came == base::Io::later) return;
    if (came == base::Io::failed) return close_later(client, peer);
    if (came == base::Io::ended) { // no more requests; it may still read its pending answers
      peer.half_closed = true;
      peer.input = base::LineReader();
      watch_peer(client, peer);
      if (peer.output.empty() && !peer.held) closing_later.push_back(client);
      return;
    }
    if (peer.closing) return;
    const double now = monotonic_s();
    peer.active = now;
    if (begins) peer.begun = now;
    while (!peer.closing) {
      const std::optional<std::string> line = peer.input.line();
      if ((line ? line->size() : peer.input.size()) >= limits.line_bytes) {
        peer.output += too_long;
        peer.closing = true;
        write_some(client, peer);
        return;
      }
      if (!line) return;
      if (!line->empty()) handler.line(client, *line);
      peer.begun = now;
    }
  }

  void sweep() {
    for (auto& [client, peer] : peers)
      if (!peer.input.is_empty() && monotonic_s() - peer.begun > limits.half_line_s) close_later(client, peer);
    reap();
  }

  void reap() {
    while (!closing_later.empty()) {
      const Client client = closing_later.back();
      closing_later.pop_back();
      drop(client);
    }
  }
};

LineServer::LineServer(const std::string& directory, const std::string& name, Handler handler, ServerLimits limits)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = directory + "/" + name;
  s.handler = std::move(handler);
  s.limits = std::move(limits);
  s.owner = getpid();
  require_private_directory(directory);

  // A killed process leaves its socket behind. Bound and listening under a temporary name, then renamed while the
  // directory is locked: a socket under its real name always answers, and one that refuses a connection can be removed.
  // A file with the process number beside it would not suffice: numbers are used again.
  const std::string passing = fmt::format("{}/.{}.{}", directory, name, getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (passing.size() >= sizeof address.sun_path)
    throw Error(
        Status::bad_argument,
        "control: path {} is {} characters long, a socket's has at most {}; set DYNGRID_RUNTIME_DIR to a shorter one",
        s.path, passing.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, passing.c_str(), passing.size() + 1);
  s.listener = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!s.listener) system_error("socket");
  fchmod(s.listener.get(), 0600); // the socket file inherits this mode
  const Fd lock = detail::lock_directory(directory);
  unlink(passing.c_str());
  if (bind(s.listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    system_error(fmt::format("bind {}", passing));
  struct stat made {};
  const bool is_good =
      chmod(passing.c_str(), 0600) == 0 && lstat(passing.c_str(), &made) == 0 && listen(s.listener.get(), 128) == 0;
  if (!is_good || detail::somebody_listens(s.path)) {
    const int why = errno;
    unlink(passing.c_str());
    errno = why;
    if (!is_good) system_error(fmt::format("listen {}", passing));
    throw Error(Status::bad_state, "control: {} is in use by another process", s.path);
  }
  remove_dead_sockets(directory, passing);
  if (rename(passing.c_str(), s.path.c_str()) != 0) {
    const int why = errno;
    unlink(passing.c_str());
    errno = why;
    system_error(fmt::format("rename to {}", s.path));
  }
  s.inode = made.st_ino;
  s.epoll = Fd(epoll_create1(EPOLL_CLOEXEC));
  s.interrupted = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  s.resume = Fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!s.epoll || !s.interrupted || !s.resume) system_error("epoll, eventfd or timerfd");
  s.watch(s.listener.get(), key_listener, EPOLLIN, EPOLL_CTL_ADD);
  s.watch(s.interrupted.get(), key_interrupt, EPOLLIN, EPOLL_CTL_ADD);
  s.watch(s.resume.get(), key_resume, EPOLLIN, EPOLL_CTL_ADD);
}

LineServer::~LineServer() = default;

void LineServer::close() noexcept {
  state_->close();
}

int LineServer::fd() const {
  return state_->epoll.get();
}

bool LineServer::serve(double timeout_s) {
  State& s = *state_;
  std::array<epoll_event, 64> events;
  // half lines are checked every second while there are any
  const bool has_half =
      std::any_of(s.peers.begin(), s.peers.end(), [](const auto& p) { return !p.second.input.is_empty(); });
  const double limit = has_half && (timeout_s < 0 || timeout_s > 1) ? std::min(1.0, s.limits.half_line_s) : timeout_s;
  const int ms = limit < 0 ? -1 : static_cast<int>(std::min(std::ceil(limit * 1000), 1e9));
  const int count = epoll_wait(s.epoll.get(), events.data(), static_cast<int>(events.size()), ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == key_listener) {
      s.accept_all();
    } else if (event.data.u64 == key_interrupt) {
      std::uint64_t times = 0;
      (void)!read(s.interrupted.get(), &times, sizeof times);
    } else if (event.data.u64 == key_resume) {
      std::uint64_t times = 0;
      (void)!read(s.resume.get(), &times, sizeof times);
      s.watch(s.listener.get(), key_listener, EPOLLIN, EPOLL_CTL_MOD);
    } else {
      const Client client = event.data.u64;
      auto at = s.peers.find(client);
      if (at == s.peers.end()) continue;
      if (event.events & EPOLLOUT) s.write_some(client, at->second);
      if (event.events & EPOLLIN)
        s.read_some(client, at->second);
      else if (event.events & (EPOLLHUP | EPOLLERR))
        s.close_later(client, at->second);
    }
  }
  s.reap();
  s.sweep();
  return count > 0;
}

void LineServer::interrupt() noexcept {
  const std::uint64_t one = 1;
  (void)!write(state_->interrupted.get(), &one, sizeof one);
}

bool LineServer::send(Client client, std::string_view line) {
  const auto at = state_->peers.find(client);
  if (at == state_->peers.end() || at->second.closing) return false;
  State::Peer& peer = at->second;
  // one long answer is not the fault of the client that receives it
  if (!peer.output.empty() && peer.output.size() + line.size() > state_->limits.waiting_bytes) {
    state_->close_later(client, peer);
    interrupt(); // so that it is sent soon
    return false;
  }
  peer.output += line;
  peer.active = monotonic_s();
  if (!peer.wants_write) state_->write_some(client, peer);
  return !peer.closing;
}

void LineServer::hold(Client client, bool is_owed) {
  const auto at = state_->peers.find(client);
  if (at == state_->peers.end()) return;
  at->second.held = is_owed;
  if (!is_owed && at->second.half_closed && at->second.output.empty()) {
    state_->closing_later.push_back(client);
    interrupt();
  }
}

void LineServer::flush(double timeout_s) {
  const base::Deadline deadline(std::max(0.0, timeout_s));
  const auto is_waiting = [](const auto& p) { return !p.second.output.empty(); };
  while (std::any_of(state_->peers.begin(), state_->peers.end(), is_waiting) && !deadline.is_over()) serve(0.01);
}

} // namespace control
