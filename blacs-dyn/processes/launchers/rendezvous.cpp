// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/lines.hpp"
#include "base/status.hpp"
#include "base/tcp.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "control/host.hpp"
#include "control/strangers.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;
using Socket = base::FileDescriptor;

constexpr std::size_t longest_input = 4096; ///< a line of ours has at most some hundred bytes
constexpr std::chrono::seconds grace_of_the_dismissed{3};
constexpr const char* goodbye_line = "bye";
constexpr const char* end_line = "end ";
constexpr const char* welcome_line = "welcome";
constexpr const char* not_wanted_line = "no ";
constexpr const char* called_line = "called"; ///< to all but the first of a group that was sent a line

[[noreturn]] void fail(const std::string& what) {
  throw Error(Status::io_failure, "blacs-dyn: rendezvous: {}: {}", what, std::strerror(errno));
}

void send_line(int fd, const std::string& line) {
  const std::string text = line + "\n";
  // small lines into an empty buffer; a peer that does not read is not waited for
  [[maybe_unused]] const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

struct Input : base::LineReader {
  using LineReader::LineReader;
  bool has_ended = false;

  void take(int fd) {
    base::Io came = base::Io::some;
    while (came == base::Io::some && size() <= longest_input) came = receive(fd);
    has_ended = has_ended || came != base::Io::later; // no process of ours sends more than that
  }
};

/// An abstract one, "@NAME" for people: it lies in no folder, so a killed application leaves nothing.
struct UnixAddress {
  sockaddr_un address{};
  socklen_t length = 0;
  explicit UnixAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    const std::size_t count = std::min(name.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, name.data(), count);
    address.sun_path[0] = '\0';
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + count);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// It is checked, since any user on this host can connect to an abstract socket.
bool is_of_this_user(int fd) {
  const std::optional<ucred> who = base::peer_of(fd);
  return who && (who->uid == geteuid() || who->uid == 0);
}

/// What started a group, by its status of waitpid.
std::string how_it_ended(int status) {
  constexpr int not_found = 127; // of a shell
  if (WIFSIGNALED(status)) return fmt::format("what started it was ended by signal {}", WTERMSIG(status));
  return fmt::format("what started it ended with status {}{}", WEXITSTATUS(status),
                     WEXITSTATUS(status) == not_found
                         ? ": a command was not found; check that the program is on that host, under the same path"
                         : "");
}

} // namespace

std::string RendezvousAddress::text() const {
  return (is_tcp ? fmt::format("tcp:{}:{}", host, port) : "unix:" + name) + "?" + token;
}

RendezvousAddress RendezvousAddress::parse(std::string_view text) {
  RendezvousAddress place;
  const std::size_t question = text.rfind('?');
  const auto bad = [&] {
    return Error(Status::bad_argument,
                 "blacs-dyn: rendezvous is \"{}\", expected unix:@NAME?WORD or tcp:ADDRESS:PORT?WORD",
                 text.substr(0, question));
  };
  if (question == std::string_view::npos || question + 1 == text.size()) throw bad();
  place.token = text.substr(question + 1);
  std::string_view where = text.substr(0, question);
  if (where.substr(0, 6) == "unix:@" && where.size() > 6 && where.size() < 100) {
    place.name = where.substr(5);
    return place;
  }
  if (where.substr(0, 4) != "tcp:") throw bad();
  where.remove_prefix(4);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string_view::npos || colon == 0) throw bad();
  place.is_tcp = true;
  place.host = where.substr(0, colon);
  place.port = base::whole_number<int>(where.substr(colon + 1)).value_or(0);
  if (place.port < 1 || place.port > 65535) throw bad();
  return place;
}

// ---- process 0

struct Rendezvous::State {
  struct Connection {
    Socket socket;
    Input input;
    bool said_goodbye = false;
    int group = 0; ///< below 0: only to be notified of the end
    int rank = 0;
    std::string who; ///< for messages
  };
  struct UnitState {
    std::string word;             ///< admits each of its processes, once
    std::vector<bool> has_come{}; ///< by rank
    Presence presence = Presence::awaited;
    std::string why;
    Origin origin;
    pid_t launcher = 0;
    bool is_held = false;
    std::chrono::steady_clock::time_point in_by{}; ///< held, and on its way in: until then
    double limit_s = 0;                            ///< for which it may be on its way
    bool may_go = false;
    std::chrono::steady_clock::time_point end_by{}; ///< dismissed: what started it is ended then
  };

  mutable std::mutex mutex;
  RendezvousAddress place;
  Socket listener;
  Socket wake; ///< an eventfd: readable once it is closing
  control::Strangers strangers;
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<int, UnitState> groups; ///< those that were invited
  int last_without_group = 0;
  std::map<pid_t, int>
      launchers; ///< children not waited for yet, and the group whose coming depends on their status; -1: none
  Loss on_loss;
  bool is_closing = false;
  std::thread thread;

  void listen_unix() {
    place.name = "@dyngrid-join-" + control::random_word();
    listener = Socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const UnixAddress address(place.name);
    if (!listener || bind(listener.get(), address.get(), address.length) != 0 || listen(listener.get(), 128) != 0)
      fail("cannot listen on the socket " + place.name);
  }
  void listen_tcp(const std::string& host, bool is_asked_for) {
    base::TcpListener tcp = base::listen_tcp(host);
    if (!tcp.fd && errno == EINVAL)
      throw Error(Status::bad_argument,
                  "blacs-dyn: DYNGRID_START has \"listen=tcp:{}\", expected unix, tcp, or tcp: and a numeric address",
                  host);
    // no interface of this host has the address by which others reach it: a translated one
    if (!tcp.fd && !is_asked_for) tcp = base::listen_tcp("0.0.0.0");
    if (!tcp.fd) fail("cannot listen on \"" + host + "\" by TCP");
    listener = std::move(tcp.fd);
    place.is_tcp = true;
    place.host = host;
    place.port = tcp.port;
  }

  void run() {
    std::vector<pollfd> polled;
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        if (is_closing) return;
        polled.assign({{wake.get(), POLLIN, 0}});
        strangers.add_to(polled, listener.get());
        for (const auto& c : connections) polled.push_back({c->socket.get(), POLLIN, 0});
      }
      poll(polled.data(), polled.size(), 200); // launchers are looked at as often
      std::string loss;
      {
        const std::lock_guard lock(mutex);
        strangers.serve(listener.get(), [this](int fd, const std::string& line, std::string rest) {
          let_in(Socket(fd), line, std::move(rest));
        });
        for (const auto& c : connections) loss = receive(*c, loss);
        connections.erase(
            std::remove_if(connections.begin(), connections.end(), [](const auto& c) { return c->input.has_ended; }),
            connections.end());
        look_after_launchers();
        if (loss.empty()) loss = who_is_late();
        if (!loss.empty())
          for (const auto& c : connections) send_line(c->socket.get(), end_line + loss);
      }
      if (!loss.empty()) {
        on_loss(loss);
        return;
      }
    }
  }

  /// The first line of a connection. A connection without an open token, or a second one of the same process, is
  /// closed; no process depends on it.
  void let_in(Socket socket, const std::string& line, std::string rest) {
    std::istringstream in(line);
    std::string verb, word, host, mpirun; // of any length: a host's name alone may have 64 characters
    int id = 0, rank = 0;
    long pid = 0;
    if (!(in >> verb >> word >> id >> rank >> host >> pid) || verb != "hello") return;
    in >> mpirun; // not every one sends it
    const auto at = groups.find(id);
    if (at == groups.end() || !control::is_same_secret(word, at->second.word) ||
        (!place.is_tcp && !is_of_this_user(socket.get())))
      return;
    UnitState& group = at->second;
    if (rank < 0 || rank >= static_cast<int>(group.has_come.size()) || group.has_come[static_cast<std::size_t>(rank)])
      return;
    group.has_come[static_cast<std::size_t>(rank)] = true;
    if (group.may_go || group.presence == Presence::gone) { // it was given up meanwhile
      send_line(socket.get(), not_wanted_line + (group.why.empty() ? "the request for it has ended" : group.why));
      return;
    }
    if (rank == 0) group.origin = {mpirun, host};
    auto c = std::make_unique<Connection>();
    c->group = id;
    c->rank = rank;
    c->who = fmt::format("process {} of process group {} on {} (pid {})", rank, id, host, pid);
    if (place.is_tcp) base::keep_alive(socket.get());
    send_line(socket.get(), welcome_line);
    c->socket = std::move(socket);
    c->input = Input(std::move(rest));
    connections.push_back(std::move(c));
  }

  std::string receive(Connection& c, std::string loss) {
    c.input.take(c.socket.get());
    while (const auto line = c.input.line()) {
      if (*line == goodbye_line) {
        c.said_goodbye = true;
      } else if (c.group < 0 || c.rank != 0) { // only a group's first process speaks for it
      } else if (line->compare(0, 5, "ready") == 0) {
        UnitState& group = groups[c.group];
        const bool is_whole = std::find(group.has_come.begin(), group.has_come.end(), false) == group.has_come.end();
        if (group.presence != Presence::awaited) continue;
        group.presence = is_whole && *line == "ready" ? Presence::ready : Presence::gone;
        if (!is_whole)
          group.why = c.who + " reported that its group is ready before all of it had connected";
        else if (group.presence == Presence::gone)
          group.why = c.who + " sent a message that a new process does not send";
      } else if (line->compare(0, 4, "not ") == 0) {
        groups[c.group].presence = Presence::gone;
        groups[c.group].why = line->substr(4);
        c.said_goodbye = true;
      }
    }
    if (c.input.has_ended && !c.said_goodbye && c.group > 0) {
      UnitState& group = groups[c.group];
      if (group.is_held && !group.may_go && loss.empty())
        loss = c.who + (group.in_by == std::chrono::steady_clock::time_point{}
                            ? " ended while it held part of the matrices, was being given it, or slept"
                            : " ended while it joined the grid, where MPI cannot undo the join");
      if (group.presence != Presence::gone && !group.is_held) {
        group.presence = Presence::gone;
        group.why = c.who + " ended";
      }
    }
    return loss;
  }

  /// A process that died in MPI_Comm_connect, or one whose name server has ended, looks like a slow one.
  /// Those on this host are ended: Open MPI 5's mpirun would wait for them.
  std::string who_is_late() const {
    constexpr std::chrono::steady_clock::time_point never{};
    for (const auto& [id, group] : groups)
      if (group.is_held && !group.may_go && group.in_by != never && std::chrono::steady_clock::now() > group.in_by) {
        for (const auto& c : connections)
          if (c->group == id && !place.is_tcp)
            if (const auto who = base::peer_of(c->socket.get()); who && who->pid > 0) kill(who->pid, SIGKILL);
        return fmt::format("process group {} was ready, but did not join within {} s: it hangs, or the name server has "
                           "ended; DYNGRID_START=timeout=SECONDS sets the limit",
                           id, group.limit_s);
      }
    return {};
  }

  /// Children of ours that have ended; the end of a child whose group was still starting is that group's end.
  void look_after_launchers() {
    for (auto at = launchers.begin(); at != launchers.end();) {
      int status = 0;
      if (waitpid(at->first, &status, WNOHANG) == 0) {
        const auto group = groups.find(at->second);
        if (group != groups.end() && group->second.end_by != std::chrono::steady_clock::time_point{} &&
            std::chrono::steady_clock::now() > group->second.end_by) {
          group->second.end_by = {};
          kill(at->first, SIGTERM); // mpirun takes its processes with it
        }
        ++at;
        continue;
      }
      const auto [pid, id] = *at;
      at = launchers.erase(at);
      if (id < 0) continue;
      UnitState& group = groups[id];
      const bool brings_it = group.launcher == pid; // and so lives as long
      if (brings_it) group.launcher = 0;
      if (group.is_held || group.may_go || group.presence == Presence::gone || (!brings_it && status == 0)) continue;
      group.presence = Presence::gone;
      group.why = how_it_ended(status);
    }
  }
  /// To the first process of a group; the others are notified that a line was sent. False: it is not there.
  bool say_to_first(int group, const std::string& line) {
    bool is_told = false;
    for (const auto& c : connections) {
      if (c->group != group) continue;
      send_line(c->socket.get(), c->rank == 0 ? line : called_line);
      is_told = is_told || c->rank == 0;
    }
    return is_told;
  }
};

Rendezvous::Rendezvous(const std::string& listen_on, Loss on_loss, const std::string& towards)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.on_loss = std::move(on_loss);
  if (listen_on == "unix")
    s.listen_unix();
  else if (listen_on == "tcp")
    s.listen_tcp(control::own_address(towards), false);
  else if (listen_on.compare(0, 4, "tcp:") == 0)
    s.listen_tcp(listen_on.substr(4), true);
  else
    throw Error(Status::bad_argument,
                "blacs-dyn: DYNGRID_START has \"listen={}\", expected unix, tcp, or tcp: and a numeric address",
                listen_on);
  s.wake = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!s.wake) fail("no eventfd");
  s.thread = base::thread_without_signals([&s] { s.run(); });
}

Rendezvous::~Rendezvous() {
  close(0);
}

std::string Rendezvous::invite(int group, int processes) {
  const std::lock_guard lock(state_->mutex);
  State::UnitState& u = state_->groups[group];
  u.word = control::random_word();
  u.has_come.assign(static_cast<std::size_t>(processes), false);
  RendezvousAddress place = state_->place;
  place.token = u.word;
  return fmt::format("{}|{}", place.text(), group);
}

std::string Rendezvous::invite_without_group(int processes) {
  return invite(-++state_->last_without_group, processes);
}

void Rendezvous::await(int group, pid_t launcher) {
  const std::lock_guard lock(state_->mutex);
  state_->groups[group].launcher = launcher;
  state_->launchers[launcher] = group;
}

void Rendezvous::reap(pid_t child, int group) {
  const std::lock_guard lock(state_->mutex);
  state_->launchers[child] = group;
}

Presence Rendezvous::presence(int group, std::string* why) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->groups.find(group);
  if (at == state_->groups.end()) return Presence::awaited;
  if (why) *why = at->second.why;
  return at->second.presence;
}

Origin Rendezvous::origin(int group) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->groups.find(group);
  return at == state_->groups.end() ? Origin{} : at->second.origin;
}

bool Rendezvous::send(int group, const std::string& line) {
  const std::lock_guard lock(state_->mutex);
  if (state_->groups[group].presence == Presence::gone) return false;
  return state_->say_to_first(group, line);
}

void Rendezvous::send_all(int group, const std::string& line) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& c : state_->connections)
    if (c->group == group) send_line(c->socket.get(), line);
}

bool Rendezvous::hold(int group, double limit_s, std::string* why) {
  const std::lock_guard lock(state_->mutex);
  State::UnitState& u = state_->groups[group];
  char next = 0; // of a process that has ended there is nothing to read, which the thread may not have seen yet
  for (const auto& c : state_->connections)
    if (c->group == group && recv(c->socket.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
      u.presence = Presence::gone;
      u.why = c->who + " ended";
    }
  *why = u.may_go ? "it was sent away" : u.why.empty() ? "it ended" : u.why;
  if (u.presence == Presence::gone || u.may_go) return false;
  u.is_held = true;
  u.limit_s = limit_s;
  u.in_by = std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * limit_s));
  return true;
}

void Rendezvous::has_come(int group) {
  const std::lock_guard lock(state_->mutex);
  state_->groups[group].in_by = {};
}

void Rendezvous::let_go(int group) {
  const std::lock_guard lock(state_->mutex);
  state_->groups[group].may_go = true;
}

void Rendezvous::dismiss(int group, double comes_in_s) {
  const std::lock_guard lock(state_->mutex);
  State::UnitState& u = state_->groups[group];
  u.may_go = true;
  const bool is_told = state_->say_to_first(group, "away");
  if (u.launcher <= 0) return;
  // mpirun must not receive an order to end while it is ending because one of its processes died
  const std::chrono::milliseconds until_it_comes(static_cast<std::int64_t>(1000 * comes_in_s));
  u.end_by = std::chrono::steady_clock::now() + grace_of_the_dismissed * (is_told || u.presence == Presence::gone) +
             (u.presence == Presence::awaited ? until_it_comes : std::chrono::milliseconds{0});
}

bool Rendezvous::have_all_gone(int group) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->groups.find(group);
  if (at == state_->groups.end()) return false;
  const std::vector<bool>& each = at->second.has_come;
  return std::find(each.begin(), each.end(), false) == each.end() &&
         std::none_of(state_->connections.begin(), state_->connections.end(),
                      [&](const auto& c) { return c->group == group; });
}

void Rendezvous::close(double seconds) {
  State& s = *state_;
  if (!s.thread.joinable()) return;
  {
    const std::lock_guard lock(s.mutex);
    s.is_closing = true;
    for (const auto& c : s.connections) send_line(c->socket.get(), goodbye_line);
    const auto soon = std::chrono::steady_clock::now() + grace_of_the_dismissed;
    for (auto& [id, group] : s.groups) group.end_by = std::min(group.end_by, soon);
  }
  eventfd_write(s.wake.get(), 1);
  if (s.thread.get_id() == std::this_thread::get_id())
    s.thread.detach();
  else
    s.thread.join();
  for (double waited = 0; waited < seconds && !s.launchers.empty(); waited += 0.01) {
    s.look_after_launchers();
    if (!s.launchers.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  s.connections.clear();
}

// ---- the others

struct Peer::State {
  Socket socket;
  Input input;
  // made with the rest, since what fails later fails while others connect
  Socket begin{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}, wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::thread thread;
  std::mutex mutex;
  Rendezvous::Loss on_loss; ///< empty: not watching yet
  State() {
    if (!begin || !wake) fail("no eventfd");
  }
  ~State() { end_thread(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start_thread() {
    try {
      thread = base::thread_without_signals([this] { run(); });
    } catch (const std::exception& error) {
      throw Error(Status::io_failure, "blacs-dyn: rendezvous: cannot start a thread: {}", error.what());
    }
  }
  void end_thread() {
    if (!thread.joinable()) return;
    eventfd_write(wake.get(), 1);
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }
  /// From watch() on.
  void run() {
    std::array<pollfd, 2> polled{{{begin.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}}};
    while (polled[0].revents == 0 && polled[1].revents == 0) poll(polled.data(), polled.size(), -1);
    polled[0].fd = socket.get();
    Rendezvous::Loss notice;
    {
      const std::lock_guard lock(mutex);
      notice = on_loss;
    }
    for (;;) {
      poll(polled.data(), polled.size(), -1);
      if (polled[1].revents) return;
      input.take(socket.get());
      while (const auto line = input.line()) {
        if (*line == goodbye_line) return;
        if (line->compare(0, std::strlen(end_line), end_line) == 0) {
          notice(line->substr(std::strlen(end_line)));
          return;
        }
      }
      if (input.has_ended) {
        notice("process 0 of the application ended");
        return;
      }
    }
  }

  /// 0 or errno.
  int connect_to(const RendezvousAddress& place, const base::Deadline& deadline) {
    input = {};
    if (place.is_tcp) {
      socket = base::connect_tcp(place.host, place.port, deadline);
      return socket ? 0 : errno;
    }
    socket = Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return errno;
    const UnixAddress address(place.name);
    return connect(socket.get(), address.get(), address.length) == 0 ? 0 : errno;
  }
  /// Empty: the connection is closed, or nothing came in time.
  std::string first_line(const base::Deadline& deadline) {
    for (;;) {
      const bool is_last = deadline.is_over(); // one look more: this process itself may have stood still
      input.take(socket.get());
      if (const auto line = input.line()) return *line;
      if (input.has_ended || is_last) return {};
      pollfd one{socket.get(), POLLIN, 0};
      poll(&one, 1, 100);
    }
  }
};

Peer::Peer(const std::string& invitation, int rank, double limit_s, const std::string& mpirun)
    : state_(std::make_unique<State>()) {
  const std::size_t bar = invitation.rfind('|');
  const int group =
      bar == std::string::npos ? 0 : base::whole_number<int>(std::string_view(invitation).substr(bar + 1)).value_or(0);
  if (group == 0) // the text is not printed: it may contain a token
    throw Error(Status::bad_argument, "blacs-dyn: DYNGRID_JOIN is set and not of the form PLACE|NUMBER, which dyngrid "
                                      "gives to the processes that it starts; unset it");
  const RendezvousAddress place = RendezvousAddress::parse(invitation.substr(0, bar));
  const base::Deadline deadline(limit_s);
  std::string trouble;
  do {
    const int failed = state_->connect_to(place, deadline);
    if (failed == 0) {
      send(fmt::format("hello {} {} {} {} {} {}", place.token, group, rank, base::host_name(), getpid(), mpirun));
      const std::string answer = state_->first_line(deadline);
      if (answer == welcome_line) {
        state_->start_thread();
        return;
      }
      trouble = !answer.empty()           ? answer.substr(0, 200)
                : state_->input.has_ended ? "it closed the connection"
                                          : "it did not answer in time";
      if (answer.compare(0, std::strlen(not_wanted_line), not_wanted_line) == 0)
        throw NotWanted(Status::not_found, "blacs-dyn: the application does not need this process: " +
                                               answer.substr(std::strlen(not_wanted_line), 200));
    } else {
      trouble = std::strerror(failed);
      if (failed == ECONNREFUSED && !place.is_tcp)
        throw NotWanted(Status::not_found, "blacs-dyn: the application that requested this process has ended");
      if (failed != EAGAIN && failed != EINTR && failed != ETIMEDOUT) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (!deadline.is_over());
  throw Error(Status::not_found, "blacs-dyn: cannot connect to the application that requested this process ({}): {}",
              place.is_tcp ? fmt::format("{}:{}", place.host, place.port) : place.name, trouble);
}

Peer::~Peer() {
  goodbye();
}

void Peer::send(const std::string& line) { // a large group's introduction may be more than the socket takes at once
  base::send_all(state_->socket.get(), line + "\n", base::Deadline(-1)); // listen() reports that process 0 has gone
}

std::optional<std::string> Peer::listen() {
  state_->input.take(state_->socket.get());
  if (auto line = state_->input.line()) return line;
  if (state_->input.has_ended) throw Error(Status::io_failure, "blacs-dyn: process 0 of the application has ended");
  return std::nullopt;
}

void Peer::watch(Rendezvous::Loss on_loss) {
  const std::lock_guard lock(state_->mutex);
  if (state_->on_loss) return;
  state_->on_loss = std::move(on_loss);
  eventfd_write(state_->begin.get(), 1);
}

void Peer::goodbye() {
  if (!state_->socket) return;
  state_->end_thread();
  send_line(state_->socket.get(), goodbye_line);
  state_->socket.close();
}

void Peer::break_off() {
  state_->socket.close();
}

int Peer::fd() const {
  return state_->socket.get();
}

} // namespace blacs_dyn
