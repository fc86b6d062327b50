// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/rendezvous_launcher.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "processes/launchers/openmpi4.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/mpi_util.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

Port::Port() {
  std::array<char, MPI_MAX_PORT_NAME> name{};
  check_mpi(MPI_Open_port(MPI_INFO_NULL, name.data()), "MPI_Open_port");
  name_ = name.data();
}

Port::~Port() {
  if (!name_.empty()) MPI_Close_port(name_.c_str());
}

Comm accept_at(const std::string& port, MPI_Comm comm) {
  pmix::settle();
  const LooksForConnections looks;
  MPI_Comm intercomm = MPI_COMM_NULL;
  check_mpi(MPI_Comm_accept(port.c_str(), MPI_INFO_NULL, 0, comm, &intercomm), "MPI_Comm_accept");
  return Comm::adopt(intercomm);
}

RendezvousLauncher::RendezvousLauncher(LossText loss, const char* invitation) : loss_(std::move(loss)) {
  if (!invitation) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); // of the group that this process was started in
  try {
    peer_ = std::make_unique<Peer>(invitation, rank, 10, openmpi4::mpirun_name());
  } catch (const NotWanted&) { // no fault of this process: arrive()
  } catch (const Error& error) {
    if (error.status() == Status::bad_argument) throw; // of all alike
    std::fprintf(stderr, "dyngrid: %s; the new processes that were started with this one end\n", error.what());
  }
}

// ---- process 0

void RendezvousLauncher::open_rendezvous(const std::string& listen, const std::string& towards) {
  if (!rendezvous_)
    rendezvous_ = std::make_unique<Rendezvous>(
        listen, [this](const std::string& what) { end_all(what, 2.0); }, towards);
}

std::pair<int, std::string> RendezvousLauncher::invite(const NewGroup& group) {
  const auto invited = invite(static_cast<int>(group.members.size()));
  tickets_[group.id] = invited.first;
  return invited;
}

std::pair<int, std::string> RendezvousLauncher::invite(int processes) {
  const int ticket = ++last_ticket_;
  return {ticket, rendezvous_->invite(ticket, processes)};
}

Presence RendezvousLauncher::presence(const NewGroup& group, std::string* why) const {
  return rendezvous_->presence(tickets_.at(group.id), why);
}

void RendezvousLauncher::add_progress(const NewGroup& group, Launch::Progress& all) const {
  std::string why;
  if (presence(group, &why) == Presence::ready) return;
  all.coming += static_cast<int>(group.members.size());
  if (all.failure.empty()) all.failure = why;
}

void RendezvousLauncher::dismiss(const NewGroup& group) {
  if (rendezvous_) rendezvous_->dismiss(tickets_[group.id]);
}

void RendezvousLauncher::hold(const NewGroup& group, double limit_s) {
  std::string why;
  limit_s_ = limit_s;
  if (!rendezvous_->hold(tickets_[group.id], limit_s, &why))
    throw Error(Status::spawn_failure, "blacs-dyn: {} new process(es) could not join: {}", group.members.size(), why);
}

void RendezvousLauncher::has_connected(const NewGroup& group) {
  std::string why; // unused: where the group has gone, the watch reports it and ends all
  rendezvous_->hold(tickets_[group.id], limit_s_, &why);
}

void RendezvousLauncher::are_in(const std::vector<NewGroup>& groups) {
  for (const NewGroup& group : groups) rendezvous_->has_come(tickets_[group.id]);
}

std::int64_t RendezvousLauncher::number_of(int group) const {
  const auto ticket = tickets_.find(group);
  return ticket == tickets_.end() ? 0 : ticket->second;
}

void RendezvousLauncher::release(int group, Comm intercomm) {
  if (rendezvous_) rendezvous_->let_go(tickets_[group]);
  intercomm.disconnect();
}

// ---- a new group

namespace {

constexpr std::string_view know = "know ";

std::optional<Known> known_in(const std::string& line) {
  if (line.compare(0, know.size(), know) != 0) return std::nullopt;
  std::istringstream words(line.substr(know.size()));
  Known known;
  words >> known.processes >> known.name;
  return known;
}

} // namespace

std::string RendezvousLauncher::know_line(const Known& group) {
  return fmt::format("{}{} {}", know, group.processes, group.name);
}

void look_up_groups(const std::vector<Known>& groups) {
  for (const Known& group : groups) pmix::look_up(group.name, group.processes);
}

/// The others do not know of one process that is not needed, or could not connect: it may have come a moment later.
bool RendezvousLauncher::arrive(MPI_Comm world) {
  int mine = peer_ ? 0 : 1, any = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world, &request), "MPI_Iallreduce");
  wait_asleep(&request);
  if (any != 0 && peer_) peer_->break_off(); // in no order: where the application awaits it, its growth has failed
  return any == 0;
}

std::optional<Comm> RendezvousLauncher::enter(MPI_Comm world) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(world, &request), "MPI_Ibarrier");
  wait_asleep(&request);
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  if (rank == 0 && peer_) peer_->send("ready");
  const std::string answer = receive_answer(world); // the others' is only that there is one
  std::vector<char> word(answer.begin(), answer.end());
  broadcast(word, 0, world);
  std::istringstream line(std::string(word.begin(), word.end()));
  std::string come, port;
  if (!(line >> come >> port) || come != "come") {
    if (peer_) peer_->goodbye();
    return std::nullopt;
  }
  line >> second_port_;
  watch_for_the_end();
  return connect(port, world);
}

/// The answer of the application; "away" when it has ended. Sleeps while it waits; a process that waits in a broadcast
/// sleeps only for moments.
std::string RendezvousLauncher::receive_answer(MPI_Comm world) {
  if (!peer_) return "away";
  try {
    for (;;) {
      if (const auto received = peer_->listen()) {
        const std::optional<Known> known = known_in(*received);
        if (!known) return *received;
        look_up_groups({*known});
        continue;
      }
      pollfd one{peer_->fd(), POLLIN, 0};
      // seldom is enough: all of the group have left the barrier before, so none waits for a large message from here
      if (poll(&one, 1, 1000) == 0) let_mpi_progress(world);
    }
  } catch (const Error& error) {
    if (error.status() == base::Status::mpi_failure) throw; // the others of the group do not know of it
    return "away";
  }
}

Comm RendezvousLauncher::connect(const std::string& port, MPI_Comm world) {
  pmix::settle();
  const LooksForConnections looks;
  MPI_Comm intercomm = MPI_COMM_NULL;
  check_mpi(MPI_Comm_connect(port.c_str(), MPI_INFO_NULL, 0, world, &intercomm), "MPI_Comm_connect");
  return Comm::adopt(intercomm);
}

void RendezvousLauncher::decline(MPI_Comm world) {
  if (!peer_) return;
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  if (rank == 0)
    peer_->send("not a new process ended before its first resize point; does the program reach "
                "dyngrid_resize_point on every path?");
  peer_->goodbye();
}

// ---- both

void RendezvousLauncher::close() {
  if (peer_) peer_->goodbye();
  peer_.reset();
  if (rendezvous_) rendezvous_->close(5);
  rendezvous_.reset();
}

void RendezvousLauncher::watch_for_the_end() {
  peer_->watch([this](const std::string& what) { end_all(what, 3.0); });
}

/// Not MPI_Abort: this thread must not call MPI, and mpirun ends a job one of whose processes has exited.
void RendezvousLauncher::end_all(const std::string& what, double grace_s) const {
  const std::string go_on = loss_ ? loss_() : "";
  std::fprintf(stderr, "dyngrid: %s; the application cannot go on and ends [pid %d]%s\n", what.c_str(),
               static_cast<int>(getpid()), go_on.c_str());
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::duration<double>(grace_s)); // until the others have printed it, too
  _exit(1);
}

} // namespace blacs_dyn
