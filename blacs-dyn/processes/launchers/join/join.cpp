// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/rendezvous_launcher.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/host_list.hpp"
#include "base/text.hpp"
#include "processes/launchers/join/group_mpirun.hpp"
#include "processes/launchers/join/name_server.hpp"
#include "processes/launchers/openmpi4.hpp"
#include "processes/launchers/openmpi5.hpp"
#include "processes/launchers/this_mpi.hpp"

namespace blacs_dyn {
namespace {

using base::environment;
using base::Error;
using base::Status;

constexpr const char* way_out = "start it with `dyngrid run --processes join`, or with mpirun --ompi-server";

class JoinLauncher;

/// Requested groups, each an mpirun.
class JoinLaunch final : public Launch {
public:
  JoinLaunch(JoinLauncher& launcher, std::vector<NewGroup> groups, SpawnOptions options)
      : launcher_(launcher), groups_(std::move(groups)), options_(std::move(options)), limit_(options_.join_limit_s) {}
  ~JoinLaunch() override;
  Progress progress() override;
  void admit(std::vector<Newcomers>& newcomers) override;

private:
  JoinLauncher& launcher_;
  std::vector<NewGroup> groups_; ///< not admitted yet
  SpawnOptions options_;
  base::Deadline limit_;
  int times_left_ = 3; ///< that namesakes are started again
};

class JoinLauncher final : public RendezvousLauncher, public Introduction {
public:
  JoinLauncher(std::string server, LossText loss)
      : RendezvousLauncher(std::move(loss), environment("DYNGRID_JOIN")), server_(std::move(server)) {}

  Introduction* introduction() override { return this; }

  std::unique_ptr<Launch> start(const std::vector<NewGroup>& groups, const SpawnOptions& options) override {
    check_server();
    const auto elsewhere = std::find_if_not(groups.begin(), groups.end(),
                                            [](const NewGroup& group) { return base::is_this_host(group.host); });
    const auto listen = environment("DYNGRID_START", "listen");
    const bool is_far =
        elsewhere != groups.end() || environment("DYNGRID_START", "command") || environment("DYNGRID_HOSTS");
    open_rendezvous(listen ? *listen : is_far ? "tcp" : "unix", elsewhere == groups.end() ? "" : elsewhere->host);
    std::size_t sent = 0;
    try {
      for (; sent < groups.size(); ++sent) start(groups[sent], options);
    } catch (const Error&) {
      for (std::size_t k = 0; k < sent; ++k) dismiss(groups[k]);
      throw;
    }
    return std::make_unique<JoinLaunch>(*this, groups, options);
  }

  void start(const NewGroup& group, const SpawnOptions& options) {
    const auto [ticket, invitation] = invite(group);
    if (!base::is_this_host(group.host) && base::begins_with(invitation, "unix:"))
      throw Error(Status::unsupported,
                  "blacs-dyn: processes on host {} cannot join: process 0 listens on a Unix socket, which only "
                  "processes of its own host reach, since the first processes that joined were there. Start the "
                  "application with DYNGRID_START=listen=tcp",
                  group.host);
    const StartedMpirun started = start_group_mpirun(group, ticket, server_uri(server_), invitation, options);
    if (started.is_group)
      rendezvous_->await(ticket, started.pid);
    else
      rendezvous_->reap(started.pid, ticket);
  }

  /// Those of `groups` whose mpirun has the name of another one, and a text about it: the name server takes the two for
  /// one, and an accept waits for ever. Ended mpiruns count too, since the name server remembers where they were.
  std::pair<std::vector<NewGroup>, std::string> namesakes(const std::vector<NewGroup>& groups) {
    const std::string server = server_uri(server_);
    bearers_.insert({openmpi4::mpirun_name(), {base::host_name(), 0}});
    bearers_.insert({openmpi4::mpirun_name(server), {NameServer::parse(server).hosts.front(), 0}});
    std::set<int> found; // tickets
    std::string words;
    for (const NewGroup& group : groups) {
      const int ticket = tickets_.at(group.id);
      const Origin origin = rendezvous_->origin(ticket);
      const Bearer& first = bearers_.insert({origin.mpirun, {origin.host, ticket}}).first->second;
      if (origin.mpirun.empty() || first.ticket == ticket) continue;
      words =
          fmt::format("an mpirun on {} is called {}, as one on {} before it", origin.host, origin.mpirun, first.host);
      found.insert({first.ticket, ticket});
    }
    std::vector<NewGroup> all;
    for (const NewGroup& group : groups)
      if (found.count(tickets_.at(group.id)) > 0) all.push_back(group);
    return {all, words};
  }

  void dismiss(const NewGroup& group, double comes_in_s = 0) {
    second_ports_.erase(group.id);
    rendezvous_->dismiss(tickets_[group.id], comes_in_s);
  }

  /// From the order to connect on, the end of a group is the end of everything. The same holds for a group that has not
  /// been introduced in time: an accept whose partner has died, or hangs, does not return.
  Newcomers admit(const NewGroup& group, double limit_s) {
    check_server();
    const Port port; // of this group alone: two that connect to one port at the same time would be taken for each other
    second_ports_[group.id] = Port();
    hold(group, limit_s);
    send(group, fmt::format("come {} {}", port.name(), second_ports_[group.id].name()));
    Comm intercomm = accept_at(port.name(), MPI_COMM_SELF);
    return {group, std::move(intercomm)};
  }

  void watch(MPI_Comm base, int root) override {
    int rank = 0, size = 0;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &size);
    std::vector<char> text;
    together(base, [&] { // the others are not to wait for an invitation that process 0 cannot make
      if (rank != root) return;
      const std::string invitation = rendezvous_->invite_without_group(size);
      text.assign(invitation.begin(), invitation.end());
    });
    broadcast(text, root, base);
    if (rank == root || peer_) return; // a process left from an earlier growth is notified already
    peer_ = std::make_unique<Peer>(std::string(text.begin(), text.end()), rank, 10);
    watch_for_the_end();
  }

  void introduce(const std::vector<NewGroup>& groups, MPI_Comm base_or_world, int root, int my_group) override {
    Comm so_far = my_group < 0 ? with_first(base_or_world, root) : Comm();
    MPI_Comm current = so_far.get();
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const bool is_mine = groups[k].id == my_group;
      if (current == MPI_COMM_NULL && !is_mine) continue; // this process is admitted later
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
      for (const NewGroup& group : groups) has_connected(group);
  }

private:
  Comm accept(int group, MPI_Comm comm) const {
    const auto known = second_ports_.find(group); // on process 0; the values of others do not count
    return accept_at(known == second_ports_.end() ? "" : known->second.name(), comm);
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
          "blacs-dyn: the name server is gone (nothing answers at {}:{}, where ompi-server was), and no more processes "
          "can join. The application goes on and can shrink; grow with a new start from a checkpoint (dyngrid restart)",
          server.hosts.front(), server.port);
  }

  std::string server_;
  std::map<int, Port> second_ports_; ///< by group: over which new processes are introduced; process 0
  struct Bearer {
    std::string host;
    int ticket = 0; ///< 0: it was there from the start
  };
  std::map<std::string, Bearer> bearers_; ///< by the name of an mpirun: the first that had it; process 0
};

JoinLaunch::~JoinLaunch() {
  for (const NewGroup& group : groups_) launcher_.dismiss(group, limit_.left_s());
}

Launch::Progress JoinLaunch::progress() {
  Progress all;
  for (const NewGroup& group : groups_) launcher_.add_progress(group, all);
  if (!all.is_complete()) return all;
  const auto [namesakes, words] = launcher_.namesakes(groups_);
  if (namesakes.empty()) return all;
  for (const NewGroup& group : namesakes) all.coming += static_cast<int>(group.members.size());
  // a user that starts them in another way has handed them out, and asks again
  if (environment("DYNGRID_START", "command") || times_left_ == 0) {
    all.failure = words + ", and Open MPI 4 cannot distinguish the two; try again";
    return all;
  }
  --times_left_;
  std::fputs(
      fmt::format("dyngrid: {}, and Open MPI 4 cannot distinguish the two: {} new process(es) are started again\n",
                  words, all.coming)
          .c_str(),
      stderr);
  try {
    for (const NewGroup& group : namesakes) {
      launcher_.dismiss(group);
      launcher_.start(group, options_);
    }
  } catch (const Error& error) {
    all.failure = error.what();
  }
  return all;
}

void JoinLaunch::admit(std::vector<Newcomers>& newcomers) {
  while (!groups_.empty()) {
    newcomers.push_back(launcher_.admit(groups_.front(), options_.join_limit_s));
    groups_.erase(groups_.begin());
  }
}

} // namespace

std::unique_ptr<Launcher> make_join_launcher(LossText loss) {
  const char* server = openmpi4::name_server();
  if (!server)
    throw Error(Status::bad_state,
                "blacs-dyn: new processes are to join (DYNGRID_PROCESSES=join), but mpirun knows of no ompi-server; {}",
                way_out);
  return std::make_unique<JoinLauncher>(server, std::move(loss));
}

std::string join_trouble() {
  return is_open_mpi_5() ? openmpi5::join_trouble() : std::string();
}

} // namespace blacs_dyn
