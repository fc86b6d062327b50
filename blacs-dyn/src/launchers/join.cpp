// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/join.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launchers/name_server.hpp"
#include "packet.hpp"
#include "preflight.hpp"
#include "settings.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

constexpr const char* server_variable = "OMPI_MCA_pmix_server_uri"; ///< what mpirun makes of --ompi-server
constexpr double longest_accept_s = 10;                             ///< it takes some 30 ms
constexpr const char* way_out = "start it with `dyngrid run --processes join`, or with mpirun --ompi-server";

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

/// Starts a program with that on its standard input. @throws Error{spawn_failure}
pid_t start_program(const std::vector<std::string>& words, const std::vector<std::string>& variables,
                    const std::string& input = "") {
  const auto cannot = [&](int why) {
    return Error(Status::spawn_failure, fmt::format("blacs-dyn: cannot start {}: {}", words[0], std::strerror(why)));
  };
  const Descriptor in(memfd_create("dyngrid-input", MFD_CLOEXEC)); // in memory: it need not be fed, and leaves nothing
  if (in.fd < 0 || write(in.fd, input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      lseek(in.fd, 0, SEEK_SET) != 0)
    throw cannot(errno);
  std::vector<char*> arguments, environment_words;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : variables) environment_words.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  environment_words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environment_words.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw cannot(failed);
  return pid;
}

std::vector<std::string> passed_on() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable && *variable; ++variable)
    if (is_passed_on(*variable)) variables.emplace_back(*variable);
  return variables;
}

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

class JoinLauncher final : public Launcher {
public:
  JoinLauncher(std::string server, LossText loss) : server_(std::move(server)), loss_(std::move(loss)) {
    if (const char* join = environment("DYNGRID_JOIN")) read_join(join);
  }

  void send_for(const Change& change, const SpawnOptions& options) override {
    check_server();
    const std::string mpirun = environment("DYNGRID_MPIRUN") ? environment("DYNGRID_MPIRUN") : find_program("mpirun");
    std::array<char, 256> own{};
    gethostname(own.data(), own.size() - 1);
    const auto is_here = [&](const NewUnit& unit) {
      return unit.host.empty() || unit.host == own.data() || unit.host == "localhost";
    };
    const auto elsewhere = std::find_if_not(change.new_units.begin(), change.new_units.end(), is_here);
    open_rendezvous(elsewhere == change.new_units.end() ? "" : elsewhere->host);
    std::vector<int> sent;
    try {
      for (const NewUnit& unit : change.new_units) {
        const int ticket = tickets_[unit.id] = ++last_ticket_;
        const std::vector<std::string> words = unit_command(mpirun, server_uri(server_), unit, options);
        const std::string invitation = rendezvous_->invite(ticket, static_cast<int>(unit.members.size()));
        sent.push_back(ticket);
        std::vector<std::string> variables = passed_on();
        pid_t pid = 0;
        if (const char* start = environment("DYNGRID_JOIN_START")) {
          variables.push_back(fmt::format("DYNGRID_UNIT_NUMBER={}", ticket));
          variables.push_back(fmt::format("DYNGRID_UNIT_PROCESSES={}", unit.members.size()));
          variables.push_back("DYNGRID_UNIT_HOST=" + unit.host);
          variables.push_back("DYNGRID_UNIT_COMMAND=" + shell_line(with_join_from_input(words)));
          variables.push_back("DYNGRID_JOIN=" + invitation);
          pid = start_program({"/bin/sh", "-c", start}, variables, invitation + "\n");
          rendezvous_->await(ticket, 0); // what starts it may end when it has been asked for
          rendezvous_->reap(pid, ticket);
        } else if (is_here(unit)) {
          variables.push_back("DYNGRID_JOIN=" + invitation);
          pid = start_program(words, variables);
          rendezvous_->await(ticket, pid);
        } else {
          const char* agent = environment("DYNGRID_JOIN_AGENT");
          std::vector<std::string> remote;
          std::istringstream agent_words(agent ? agent : "ssh -x");
          for (std::string word; agent_words >> word;) remote.push_back(word);
          std::array<char, 4096> folder{};
          if (!getcwd(folder.data(), folder.size())) folder[0] = '\0';
          std::vector<std::string> there{"env"};
          for (const std::string& variable : variables)
            if (begins_with(variable, "OMPI_") || begins_with(variable, "PATH=") ||
                begins_with(variable, "LD_LIBRARY_PATH="))
              there.push_back(variable);
          const std::vector<std::string> command = with_join_from_input(words);
          there.insert(there.end(), command.begin(), command.end());
          remote.push_back(unit.host);
          remote.push_back(fmt::format("cd {} && {}", shell_line({folder.data()}), shell_line(there)));
          pid = start_program(remote, variables, invitation + "\n");
          rendezvous_->await(ticket, pid);
        }
      }
    } catch (const Error&) {
      for (const int ticket : sent) rendezvous_->dismiss(ticket);
      throw;
    }
  }

  Progress progress(const Change& change) override {
    Progress all{true, {}};
    for (const NewUnit& unit : change.new_units) {
      std::string why;
      const Presence presence = rendezvous_->presence(tickets_[unit.id], &why);
      if (presence == Presence::gone && all.failure.empty()) all.failure = why;
      all.is_complete = all.is_complete && presence == Presence::ready;
    }
    return all;
  }

  void call_off(const Change& change) override {
    for (const NewUnit& unit : change.new_units) rendezvous_->dismiss(tickets_[unit.id]);
  }

  void bring(const Change& change, int me, const SpawnOptions& options, std::vector<Newcomers>& newcomers) override {
    if (me != 0) return;
    for (const NewUnit& unit : change.new_units) {
      try {
        check_server();
        bring_one(unit, std::min(options.join_limit_s, longest_accept_s), newcomers);
      } catch (const Error&) {
        second_ports_.clear();
        for (const NewUnit& other : change.new_units)
          if (std::none_of(newcomers.begin(), newcomers.end(),
                           [&](const Newcomers& a) { return a.unit.id == other.id; }))
            rendezvous_->dismiss(tickets_[other.id]);
        throw;
      }
    }
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

  void introduce(const Change& change, MPI_Comm base_or_world, int root, int my_unit) override {
    const std::vector<NewUnit>& units = change.new_units;
    if (units.empty()) return;
    Comm so_far;
    if (my_unit < 0) { // process 0 first: Open MPI 4.1.4 hangs in an accept whose root is another rank than 0
      int rank = 0;
      MPI_Comm_rank(base_or_world, &rank);
      MPI_Comm sorted = MPI_COMM_NULL;
      check_mpi(MPI_Comm_split(base_or_world, 0, rank == root ? 0 : 1 + rank, &sorted), "MPI_Comm_split");
      so_far = Comm::adopt(sorted);
    }
    MPI_Comm current = so_far.get();
    for (std::size_t k = 0; k < units.size(); ++k) {
      const bool is_mine = units[k].id == my_unit;
      if (current == MPI_COMM_NULL && !is_mine) continue; // I am let in later
      MPI_Comm bridge = MPI_COMM_NULL, merged = MPI_COMM_NULL;
      if (is_mine) {
        check_mpi(MPI_Comm_connect(second_port_.c_str(), MPI_INFO_NULL, 0, base_or_world, &bridge), "MPI_Comm_connect");
      } else {
        const auto known = second_ports_.find(units[k].id); // on process 0; what others say does not count
        check_mpi(MPI_Comm_accept(known == second_ports_.end() ? "" : known->second.name().c_str(), MPI_INFO_NULL, 0,
                                  current, &bridge),
                  "MPI_Comm_accept");
      }
      Comm owner = Comm::adopt(bridge);
      if (k + 1 < units.size()) {
        check_mpi(MPI_Intercomm_merge(bridge, is_mine ? 1 : 0, &merged), "MPI_Intercomm_merge");
        so_far = Comm::adopt(merged);
        current = merged;
      }
      owner.close();
    }
    so_far.close();
    second_ports_.clear();
  }

  std::int64_t number_of(int unit) const override {
    const auto ticket = tickets_.find(unit);
    return ticket == tickets_.end() ? 0 : ticket->second;
  }

  void let_go(int unit) override {
    if (rendezvous_) rendezvous_->let_go(tickets_[unit]);
  }

  std::optional<Comm> reach(MPI_Comm world) override {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(world, &request), "MPI_Ibarrier");
    wait_asleep(&request);
    std::vector<char> word;
    if (rank == 0) {
      std::string line = "away";
      try {
        peer_->say("ready");
        for (;;) {
          if (const auto heard = peer_->listen()) {
            line = *heard;
            break;
          }
          pollfd one{peer_->fd(), POLLIN, 0};
          poll(&one, 1, 1000);
        }
      } catch (const Error&) { // the application has ended: so do we
      }
      word.assign(line.begin(), line.end());
    }
    broadcast(word, 0, world);
    const std::string line(word.begin(), word.end());
    if (!begins_with(line, "come ")) {
      peer_->goodbye();
      return std::nullopt;
    }
    const std::size_t space = line.find(' ', 5);
    const std::string port = line.substr(5, space - 5);
    second_port_ = line.substr(space + 1);
    hear_of_the_end();
    MPI_Comm bridge = MPI_COMM_NULL;
    check_mpi(MPI_Comm_connect(port.c_str(), MPI_INFO_NULL, 0, world, &bridge), "MPI_Comm_connect");
    return Comm::adopt(bridge);
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
  void read_join(const std::string& join) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // of the unit that this process was started in
    peer_ = std::make_unique<Peer>(join, rank, 10);
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
    const char* listen = environment("DYNGRID_JOIN_LISTEN");
    const bool is_far = environment("DYNGRID_JOIN_START") || environment("DYNGRID_HOSTS");
    rendezvous_ = std::make_unique<Rendezvous>(
        listen   ? listen
        : is_far ? "tcp"
                 : "unix",
        [this](const std::string& what) { end_all(what, 1.0); }, towards);
  }

  /// From the moment in which a unit is told to come its end is the end of everything: an accept whose partner has died
  /// does not return.
  void bring_one(const NewUnit& unit, double limit_s, std::vector<Newcomers>& newcomers) {
    const int ticket = tickets_[unit.id];
    const Port port; // of this unit alone: two that connect to one port at the same time would be taken for each other
    second_ports_[unit.id] = Port();
    std::string why;
    if (!rendezvous_->hold(ticket, limit_s, &why))
      throw Error(Status::spawn_failure,
                  fmt::format("blacs-dyn: {} new process(es) could not be let in: {}", unit.members.size(), why));
    rendezvous_->tell(ticket, fmt::format("come {} {}", port.name(), second_ports_[unit.id].name()));
    MPI_Comm bridge = MPI_COMM_NULL;
    check_mpi(MPI_Comm_accept(port.name().c_str(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &bridge), "MPI_Comm_accept");
    rendezvous_->has_come(ticket);
    newcomers.push_back({unit, Comm::adopt(bridge)});
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
      tickets_; ///< by unit: what the rendezvous calls it, since a unit that failed leaves its number to the next
  int last_ticket_ = 0;
  std::unique_ptr<Peer> peer_;       ///< everybody else
  std::string second_port_;          ///< a newcomer's, to be introduced over
  std::map<int, Port> second_ports_; ///< the same on process 0, by unit
};

} // namespace

bool is_passed_on(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name == "DYNGRID_NEWCOMER" || name == "DYNGRID_JOIN" || name == "DYNGRID_RESTORE") return false;
  for (const std::string_view prefix : {"PMIX_", "ORTE_", "PRTE_"})
    if (begins_with(name, prefix)) return false;
  if (begins_with(name, "SLURM_"))
    return name == "SLURM_CONF"; // the unit's mpirun must not take itself for a step of this job
  if (!begins_with(name, "OMPI_")) return true;
  if (begins_with(name, "OMPI_ALLOW_RUN_AS_ROOT")) return true;
  // of mpirun's own, what a user sets: transports, collectives, addresses, agents
  for (const std::string_view prefix :
       {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll", "OMPI_MCA_oob_tcp_if", "OMPI_MCA_plm_rsh",
        "OMPI_MCA_mpi_yield", "OMPI_MCA_osc", "OMPI_MCA_topo", "OMPI_MCA_rmaps_base_oversubscribe",
        "OMPI_MCA_hwloc_base_binding_policy"})
    if (begins_with(name, prefix)) return true;
  return false;
}

std::vector<std::string> unit_command(const std::string& mpirun, const std::string& server, const NewUnit& unit,
                                      const SpawnOptions& options) {
  std::vector<std::string> words{mpirun,         "--ompi-server",
                                 server,         "--oversubscribe",
                                 "--bind-to",    "none",
                                 "-x",           "DYNGRID_JOIN",
                                 "-np",          std::to_string(unit.members.size()),
                                 options.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return words;
}

std::vector<std::string> with_join_from_input(const std::vector<std::string>& words) {
  std::vector<std::string> all{"sh", "-c",
                               "[ -n \"$DYNGRID_JOIN\" ] || IFS= read -r DYNGRID_JOIN || { echo 'dyngrid: DYNGRID_JOIN "
                               "is not set, and standard input has not got it' >&2; exit 2; }; "
                               "export DYNGRID_JOIN; exec \"$@\" </dev/null",
                               "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::unique_ptr<Launcher> make_join_launcher(LossText loss) {
  const char* server = environment(server_variable);
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
