// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/join.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launchers/group_mpirun.hpp"
#include "launchers/name_server.hpp"
#include "launchers/openmpi4.hpp"
#include "launchers/rendezvous.hpp"
#include "settings.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

constexpr const char* way_out = "start it with `dyngrid run --processes join`, or with mpirun --ompi-server";

class Port {
public:
  Port() {
    std::array<char, MPI_MAX_PORT_NAME> name{};
    check_mpi(MPI_Open_port(MPI_INFO_NULL, name.data()), "MPI_Open_port");
    name_ = name.data();
  }
  Port(Port&& other) noexcept { std::swap(name_, other.name_); }
  Port& operator=(Port&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~Port() {
    if (!name_.empty()) MPI_Close_port(name_.c_str());
  }
  const std::string& name() const { return name_; }

private:
  std::string name_;
};

class JoinLauncher;

/// Groups, each an mpirun, that were sent for.
class JoinLaunch final : public Launch {
public:
  JoinLaunch(JoinLauncher& launcher, std::vector<NewGroup> groups, double limit_s)
      : launcher_(launcher), groups_(std::move(groups)), limit_s_(limit_s) {}
  ~JoinLaunch() override;
  Progress progress() override;
  void admit(std::vector<Newcomers>& newcomers) override;

private:
  JoinLauncher& launcher_;
  std::vector<NewGroup> groups_; ///< not admitted yet
  double limit_s_;
};

class JoinLauncher final : public Launcher, public Introduction {
public:
  JoinLauncher(std::string server, LossText loss) : server_(std::move(server)), loss_(std::move(loss)) {
    const char* join = environment("DYNGRID_JOIN");
    if (!join) return;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // of the group that this process was started in
    peer_ = std::make_unique<Peer>(join, rank, 10);
  }

  bool is_background() const override { return true; }
  Introduction* introduction() override { return this; }

  std::unique_ptr<Launch> start(const std::vector<NewGroup>& groups, const SpawnOptions& options) override {
    check_server();
    const auto elsewhere =
        std::find_if_not(groups.begin(), groups.end(), [](const NewGroup& group) { return is_here(group.host); });
    open_rendezvous(elsewhere == groups.end() ? "" : elsewhere->host);
    std::vector<int> sent;
    try {
      for (const NewGroup& group : groups) {
        const int ticket = tickets_[group.id] = ++last_ticket_;
        const std::string invitation = rendezvous_->invite(ticket, static_cast<int>(group.members.size()));
        sent.push_back(ticket);
        const StartedMpirun started = start_group_mpirun(group, ticket, server_uri(server_), invitation, options);
        rendezvous_->await(ticket, started.is_group ? started.pid : 0);
        if (!started.is_group) rendezvous_->reap(started.pid, ticket);
      }
    } catch (const Error&) {
      for (const int ticket : sent) rendezvous_->dismiss(ticket);
      throw;
    }
    return std::make_unique<JoinLaunch>(*this, groups, options.join_limit_s);
  }

  Presence presence(const NewGroup& group, std::string* why) { return rendezvous_->presence(tickets_[group.id], why); }

  void dismiss(const NewGroup& group) {
    second_ports_.erase(group.id);
    if (rendezvous_) rendezvous_->dismiss(tickets_[group.id]);
  }

  /// From the moment in which a group is told to come its end is the end of everything, and so is that it has not been
  /// introduced in time: an accept whose partner has died, or hangs, does not return.
  Newcomers admit(const NewGroup& group, double limit_s) {
    check_server();
    const int ticket = tickets_[group.id];
    const Port port; // of this group alone: two that connect to one port at the same time would be taken for each other
    second_ports_[group.id] = Port();
    std::string why;
    if (!rendezvous_->hold(ticket, limit_s, &why))
      throw Error(Status::spawn_failure,
                  fmt::format("blacs-dyn: {} new process(es) could not be let in: {}", group.members.size(), why));
    rendezvous_->tell(ticket, fmt::format("come {} {}", port.name(), second_ports_[group.id].name()));
    MPI_Comm intercomm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_accept(port.name().c_str(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &intercomm), "MPI_Comm_accept");
    return {group, Comm::adopt(intercomm)};
  }

  void watch(MPI_Comm base, int root) override {
    int rank = 0, size = 0;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &size);
    std::vector<char> text;
    if (rank == root) {
      const std::string invitation = rendezvous_->invite_guests(size);
      text.assign(invitation.begin(), invitation.end());
    }
    broadcast(text, root, base);
    if (rank == root || peer_) return; // who is left over from an earlier growth hears of it already
    peer_ = std::make_unique<Peer>(std::string(text.begin(), text.end()), rank, 10);
    hear_of_the_end();
  }

  void introduce(const std::vector<NewGroup>& groups, MPI_Comm base_or_world, int root, int my_group) override {
    Comm so_far = my_group < 0 ? with_first(base_or_world, root) : Comm();
    MPI_Comm current = so_far.get();
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const bool is_mine = groups[k].id == my_group;
      if (current == MPI_COMM_NULL && !is_mine) continue; // I am let in later
      Comm intercomm = is_mine ? connect(second_port_, base_or_world) : accept(groups[k].id, current);
      if (k + 1 < groups.size()) {
        MPI_Comm merged = MPI_COMM_NULL;
        check_mpi(MPI_Intercomm_merge(intercomm.get(), is_mine ? 1 : 0, &merged), "MPI_Intercomm_merge");
        so_far = Comm::adopt(merged);
        current = merged;
      }
      intercomm.close();
    }
    so_far.close();
    second_ports_.clear();
    if (rendezvous_)
      for (const NewGroup& group : groups) rendezvous_->has_come(tickets_[group.id]);
  }

  std::int64_t number_of(int group) const override {
    const auto ticket = tickets_.find(group);
    return ticket == tickets_.end() ? 0 : ticket->second;
  }

  void release(int group, Comm intercomm) override {
    if (rendezvous_) rendezvous_->let_go(tickets_[group]);
    intercomm.disconnect();
  }

  std::optional<Comm> enter(MPI_Comm world) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(world, &request), "MPI_Ibarrier");
    wait_asleep(&request);
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    const std::string answer = rank == 0 ? say_ready() : std::string();
    std::vector<char> word(answer.begin(), answer.end());
    broadcast(word, 0, world);
    std::istringstream line(std::string(word.begin(), word.end()));
    std::string come, port;
    if (!(line >> come >> port >> second_port_) || come != "come") {
      peer_->goodbye();
      return std::nullopt;
    }
    hear_of_the_end();
    return connect(port, world);
  }

  void decline(MPI_Comm world) override {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    if (rank == 0)
      peer_->say("not a new process ended before its first resize point; does the program reach "
                 "dyngrid_resize_point on every path?");
    peer_->goodbye();
  }

  void close() override {
    if (peer_) peer_->goodbye();
    peer_.reset();
    if (rendezvous_) rendezvous_->close(5);
    rendezvous_.reset();
  }

private:
  /// On a group's first process: what the application answers; "away" when it has ended.
  std::string say_ready() {
    try {
      peer_->say("ready");
      for (;;) {
        if (const auto heard = peer_->listen()) return *heard;
        pollfd one{peer_->fd(), POLLIN, 0};
        poll(&one, 1, 1000);
      }
    } catch (const Error&) {
      return "away";
    }
  }

  static Comm connect(const std::string& port, MPI_Comm world) {
    MPI_Comm intercomm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_connect(port.c_str(), MPI_INFO_NULL, 0, world, &intercomm), "MPI_Comm_connect");
    return Comm::adopt(intercomm);
  }

  Comm accept(int group, MPI_Comm comm) const {
    const auto known = second_ports_.find(group); // on process 0; what others say does not count
    MPI_Comm intercomm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_accept(known == second_ports_.end() ? "" : known->second.name().c_str(), MPI_INFO_NULL, 0, comm,
                              &intercomm),
              "MPI_Comm_accept");
    return Comm::adopt(intercomm);
  }

  /// The same processes, `first` at rank 0: Open MPI 4.1.4 hangs in an accept whose root is another rank.
  static Comm with_first(MPI_Comm comm, int first) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm sorted = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm, 0, rank == first ? 0 : 1 + rank, &sorted), "MPI_Comm_split");
    return Comm::adopt(sorted);
  }

  void check_server() const {
    const NameServer server = NameServer::parse(server_uri(server_));
    if (!answers(server))
      throw Error(
          Status::spawn_failure,
          fmt::format("blacs-dyn: the name server is gone (nothing answers at {}:{}, where ompi-server was), and "
                      "no more processes can join. The application goes on and can shrink; grow with a new start "
                      "from a checkpoint (dyngrid restart)",
                      server.hosts.front(), server.port));
  }

  void open_rendezvous(const std::string& towards) {
    if (rendezvous_) return;
    const auto listen = environment("DYNGRID_START", "listen");
    const bool is_far = environment("DYNGRID_JOIN_START") || environment("DYNGRID_HOSTS");
    rendezvous_ = std::make_unique<Rendezvous>(
        listen   ? *listen
        : is_far ? "tcp"
                 : "unix",
        [this](const std::string& what) { end_all(what, 2.0); }, towards);
  }

  void hear_of_the_end() {
    peer_->watch([this](const std::string& what) { end_all(what, 3.0); });
  }

  /// Not MPI_Abort: this thread must not call MPI, and mpirun ends a job one of whose processes has exited.
  [[noreturn]] void end_all(const std::string& what, double grace_s) const {
    const std::string go_on = loss_.where_to_go_on ? loss_.where_to_go_on() : "";
    std::fprintf(stderr, "dyngrid: %s; the application cannot go on and ends [pid %d]%s\n", what.c_str(),
                 static_cast<int>(getpid()), go_on.c_str());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::duration<double>(grace_s)); // until the others have said it too
    _exit(1);
  }

  std::string server_;
  LossText loss_;
  std::unique_ptr<Rendezvous> rendezvous_; ///< process 0
  std::map<int, int>
      tickets_; ///< by group: what the rendezvous calls it, since a group that failed leaves its number to the next
  int last_ticket_ = 0;
  std::unique_ptr<Peer> peer_;       ///< everybody else
  std::string second_port_;          ///< a newcomer's, to be introduced over
  std::map<int, Port> second_ports_; ///< the same on process 0, by group
};

JoinLaunch::~JoinLaunch() {
  for (const NewGroup& group : groups_) launcher_.dismiss(group);
}

Launch::Progress JoinLaunch::progress() {
  Progress all;
  for (const NewGroup& group : groups_) {
    std::string why;
    const Presence presence = launcher_.presence(group, &why);
    if (presence == Presence::gone && all.failure.empty()) all.failure = why;
    if (presence != Presence::ready) all.coming += static_cast<int>(group.members.size());
  }
  all.is_complete = all.coming == 0;
  return all;
}

void JoinLaunch::admit(std::vector<Newcomers>& newcomers) {
  while (!groups_.empty()) {
    newcomers.push_back(launcher_.admit(groups_.front(), limit_s_));
    groups_.erase(groups_.begin());
  }
}

} // namespace

std::unique_ptr<Launcher> make_join_launcher(LossText loss) {
  const char* server = openmpi4::name_server();
  if (!server)
    throw Error(
        Status::bad_state,
        fmt::format(
            "blacs-dyn: new processes are to join (DYNGRID_PROCESSES=join), but mpirun knows of no ompi-server; {}",
            way_out));
  return std::make_unique<JoinLauncher>(server, std::move(loss));
}

bool was_sent_for() {
  return environment("DYNGRID_JOIN") != nullptr;
}

} // namespace blacs_dyn
