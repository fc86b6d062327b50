// SPDX-License-Identifier: BSD-3-Clause
// The common part of ways in which groups start by themselves and report at a rendezvous that they are there.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "processes/launchers/launcher.hpp"
#include "processes/launchers/rendezvous.hpp"

namespace blacs_dyn {

/// When a group ends that holds part of the matrices, or is joining, every process prints that and ends. Called when it
/// happens: what the message says about where to go on.
using LossText = std::function<std::string()>;

class RendezvousLauncher : public Launcher {
public:
  /// invitation: a new process's; null elsewhere.
  RendezvousLauncher(LossText loss, const char* invitation);

  bool is_background() const override { return true; }
  std::int64_t number_of(int group) const override;
  void release(int group, Comm intercomm) override;
  void are_in(const std::vector<NewGroup>& groups) override;
  bool arrive(MPI_Comm world) override;
  std::optional<Comm> enter(MPI_Comm world) override;
  void decline(MPI_Comm world) override;
  void close() override;

  // ---- process 0, for a Launch
  Presence presence(const NewGroup& group, std::string* why = nullptr) const;
  /// Adds how far a group is.
  void add_progress(const NewGroup& group, Launch::Progress& all) const;
  /// It has connected, and has the same time again for what follows.
  void has_connected(const NewGroup& group);
  void dismiss(const NewGroup& group);

protected:
  /// Process 0: from here on new groups find it. towards: a host that has to reach it; empty: this one.
  void open_rendezvous(const std::string& listen, const std::string& towards);
  /// Process 0: what the group is called, and its token for the rendezvous.
  std::pair<int, std::string> invite(const NewGroup& group);
  /// The same for processes that are of no group yet.
  std::pair<int, std::string> invite(int processes);
  /// Process 0: from here on the group's end is the end of everything, since an accept whose partner has died does not
  /// return.
  /// @throws Error{spawn_failure} when it has gone.
  void hold(const NewGroup& group, double limit_s);
  void send(const NewGroup& group, const std::string& line) { rendezvous_->send(tickets_[group.id], line); }
  static std::string know_line(const Known& group); ///< to a new process that waits
  void watch_for_the_end();                         ///< on all others, when process 0 announces it
  /// Collective over the group.
  static Comm connect(const std::string& port, MPI_Comm world);

  std::unique_ptr<Rendezvous> rendezvous_; ///< process 0
  std::map<int, int>
      tickets_; ///< by group: what the rendezvous calls it, since a group that failed leaves its number to the next
  std::unique_ptr<Peer> peer_; ///< on all others; null also where this process is not needed
  double limit_s_ = 0;         ///< for each step of admitting a group; process 0
  std::string second_port_;    ///< to a new process that was called in, after the port

private:
  std::string receive_answer(MPI_Comm world);
  [[noreturn]] void end_all(const std::string& what, double grace_s) const;

  LossText loss_;
  int last_ticket_ = 0;
};

/// The name of a port, while it is open.
class Port {
public:
  Port();
  Port(Port&& other) noexcept { std::swap(name_, other.name_); }
  Port& operator=(Port&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~Port();
  const std::string& name() const { return name_; }

private:
  std::string name_;
};

/// @param comm  collective; its rank 0 knows the port
Comm accept_at(const std::string& port, MPI_Comm comm);

// ---- the two ways, for ways.cpp

/// PMIx starts the new processes in the application's mpirun. They and their owners connect by MPI_Comm_accept and
/// MPI_Comm_connect when they are ready.
std::unique_ptr<Launcher> make_background_launcher(LossText loss);
/// Why processes cannot be started that way; empty: they can. The same on all processes of an mpirun.
std::string background_trouble(bool is_one_host);

/// Each group an mpirun of its own on one host. They meet by MPI_Comm_accept and MPI_Comm_connect over the ompi-server
/// that mpirun was started with.
/// @throws Error{bad_state} when mpirun knows of no ompi-server.
std::unique_ptr<Launcher> make_join_launcher(LossText loss);
/// Why processes of two mpiruns cannot meet, or this build has no such launcher; empty: they can.
std::string join_trouble();

} // namespace blacs_dyn
