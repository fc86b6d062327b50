// SPDX-License-Identifier: BSD-3-Clause
// How processes of several mpiruns find each other and are notified of each other's end: lines over sockets. No MPI.
#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace blacs_dyn {

/// "unix:@dyngrid-join-89ab...?0123..." or "tcp:10.0.0.1:4711?0123...": the address, and the token that a process
/// shows.
struct RendezvousAddress {
  bool is_tcp = false;
  std::string name; ///< of an abstract Unix socket, with an @
  std::string host; ///< numeric
  int port = 0;
  std::string token;

  std::string text() const;
  /// @throws Error{bad_argument}
  static RendezvousAddress parse(std::string_view text);
};

/// Where a group is, as its first process reported.
struct Origin {
  std::string mpirun; ///< what others call the mpirun that brought it; empty: not known
  std::string host;
};

/// How far a requested group has come.
enum class Presence {
  awaited, ///< no message yet, or it is still starting
  ready,   ///< all of it waits to be admitted
  gone     ///< it reported so, its connection ended, or its launcher did
};

/// Process 0's side. A connection is accepted with the token of a requested group, each of its processes once; of all
/// others it keeps control::Strangers' limits. A thread of its own listens and watches; it never calls MPI. From hold()
/// on the end of a group that did not send goodbye is the end of everything: `on_loss` is called from that thread,
/// once, after all have received the message.
class Rendezvous {
public:
  using Loss = std::function<void(const std::string& what)>;
  /// listen: "unix", "tcp:ADDRESS", or "tcp" for the address by which the host `towards` (empty: others) reaches this
  /// one.
  /// @throws Error{io_failure, bad_argument}
  Rendezvous(const std::string& listen, Loss on_loss, const std::string& towards = "");
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  /// The address and token for a group's processes, "PLACE|NUMBER"; it contains a secret. Before the group is
  /// requested; group from 1.
  std::string invite(int group, int processes);
  /// The same for processes that only are notified of the end, of rank 0 .. processes - 1.
  std::string invite_without_group(int processes);
  /// launcher: a child of ours that brings the group; its end before the group is ready is the group's end.
  void await(int group, pid_t launcher);
  /// A child of ours that is only to be waited for; when it ends with another status than 0, the group (if it is one)
  /// does not come.
  void reap(pid_t child, int group);
  Presence presence(int group, std::string* why) const;
  Origin origin(int group) const; ///< empty texts until it has come
  /// A line to the group's first process; the others receive a notice of it. False when it has gone.
  bool send(int group, const std::string& line);
  /// A line to all of its processes.
  void send_all(int group, const std::string& line);
  /// From here on the group's end is the end of everything, and so is a group that has not joined within limit_s
  /// seconds. False: it has gone already, or was sent away, and why.
  bool hold(int group, double limit_s, std::string* why);
  void has_come(int group); ///< it has joined
  void let_go(int group);   ///< its end is no fault from here on
  /// Sends a group away that never came, or is not needed any more; its launcher is ended too. comes_in_s: seconds that
  /// a group that has not come yet has to receive it.
  void dismiss(int group, double comes_in_s = 0);
  /// Whether each process of a dismissed group has received it, and none is connected any more.
  bool have_all_gone(int group) const;
  /// Ends the watch: all receive a goodbye, launchers are waited for at most `seconds`.
  void close(double seconds);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The process is not needed any more at its address, or nothing listens there.
class NotWanted : public base::Error {
public:
  using Error::Error;
};

/// The side of all other processes. After watch() a thread waits for the end of process 0, or its message that all
/// ends.
class Peer {
public:
  /// Connects as this rank of the invited. mpirun: see Origin. @throws Error{not_found} when the rendezvous does not
  /// accept it, NotWanted where it never will; bad_argument
  Peer(const std::string& invitation, int rank, double limit_s, const std::string& mpirun = "");
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(const std::string& line);
  /// The next line; empty when there is none yet. @throws Error{io_failure} when process 0 has gone.
  std::optional<std::string> listen();
  void watch(Rendezvous::Loss on_loss);
  void goodbye(); ///< what ends from here on ends in order
  void break_off();
  int fd() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace blacs_dyn
