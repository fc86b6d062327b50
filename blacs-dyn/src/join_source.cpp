// SPDX-License-Identifier: BSD-3-Clause
#include "join_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include "packet.hpp"
#include "preflight.hpp"
#include "settings.hpp"

namespace blacs_dyn {
namespace {

using gridmap::Error;
using gridmap::Status;

constexpr const char* server_variable = "OMPI_MCA_pmix_server_uri"; ///< what mpirun makes of --ompi-server
constexpr const char* way_out = "start it with `dyngrid run --processes join`, or with mpirun --ompi-server";

bool begins_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// Starts a program with its standard input empty. @throws Error{spawn_failure}
pid_t start_program(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  std::vector<char*> arguments, environment_words;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : variables) environment_words.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  environment_words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environment_words.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw Error(Status::spawn_failure, fmt::format("blacs-dyn: cannot start {}: {}", words[0], std::strerror(failed)));
  return pid;
}

std::vector<std::string> passed_on() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable && *variable; ++variable)
    if (is_passed_on(*variable)) variables.emplace_back(*variable);
  return variables;
}

/// What --ompi-server said, read anew each time: the file's content, or the text itself.
std::string server_uri(const std::string& setting) {
  if (!begins_with(setting, "file:") && !begins_with(setting, "FILE:")) return setting;
  std::ifstream file(setting.substr(5));
  std::string uri;
  if (!std::getline(file, uri)) throw Error(Status::not_found, fmt::format("blacs-dyn: the ompi-server's address is to be in {}, which cannot be read", setting.substr(5)));
  return uri;
}

bool answers(const std::string& host, int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  bool is_there = false;
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1) {
    int failed = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (failed && errno == EINPROGRESS) {
      pollfd one{fd, POLLOUT, 0};
      socklen_t length = sizeof failed;
      if (poll(&one, 1, 2000) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length);
    }
    is_there = !failed;
  }
  close(fd);
  return is_there;
}

class JoinSource final : public Source {
public:
  JoinSource(std::string server, LossText loss) : server_(std::move(server)), loss_(std::move(loss)) {
    if (const char* join = environment("DYNGRID_JOIN")) read_join(join);
  }

  void send_for(const Change& change, const SpawnOptions& options) override {
    require_server();
    open_meeting();
    const std::string mpirun = environment("DYNGRID_MPIRUN") ? environment("DYNGRID_MPIRUN") : find_program("mpirun");
    std::array<char, 256> own{};
    gethostname(own.data(), own.size() - 1);
    std::vector<int> sent;
    try {
      for (const NewUnit& unit : change.new_units) {
        const int ticket = tickets_[unit.id] = ++last_ticket_;
        const std::vector<std::string> words = unit_command(mpirun, server_uri(server_), unit, fmt::format("{}|{}", meeting_->place(), ticket), options);
        std::vector<std::string> variables = passed_on();
        pid_t pid = 0;
        if (const char* start = environment("DYNGRID_JOIN_START")) {
          variables.push_back(fmt::format("DYNGRID_UNIT_NUMBER={}", ticket));
          variables.push_back(fmt::format("DYNGRID_UNIT_PROCESSES={}", unit.members.size()));
          variables.push_back("DYNGRID_UNIT_HOST=" + unit.host);
          variables.push_back("DYNGRID_UNIT_COMMAND=" + shell_line(words));
          pid = start_program({"/bin/sh", "-c", start}, variables);
          meeting_->await(ticket, 0); // what starts it may end when it has been asked for
          meeting_->reap(pid, ticket);
        } else if (unit.host.empty() || unit.host == own.data() || unit.host == "localhost") {
          pid = start_program(words, variables);
          meeting_->await(ticket, pid);
        } else {
          const char* agent = environment("DYNGRID_JOIN_AGENT");
          std::vector<std::string> remote;
          std::istringstream agent_words(agent ? agent : "ssh -x");
          for (std::string word; agent_words >> word;) remote.push_back(word);
          std::array<char, 4096> folder{};
          if (!getcwd(folder.data(), folder.size())) folder[0] = '\0';
          std::vector<std::string> there{"env"};
          for (const std::string& variable : variables)
            if (begins_with(variable, "OMPI_") || begins_with(variable, "PATH=") || begins_with(variable, "LD_LIBRARY_PATH=")) there.push_back(variable);
          there.insert(there.end(), words.begin(), words.end());
          remote.push_back(unit.host);
          remote.push_back(fmt::format("cd {} && {}", shell_line({folder.data()}), shell_line(there)));
          pid = start_program(remote, variables);
          meeting_->await(ticket, pid);
        }
        sent.push_back(ticket);
      }
    } catch (const Error&) {
      for (const int ticket : sent) meeting_->dismiss(ticket);
      throw;
    }
  }

  Progress progress(const Change& change) override {
    Progress all{true, {}};
    for (const NewUnit& unit : change.new_units) {
      std::string why;
      const Presence presence = meeting_->presence(tickets_[unit.id], &why);
      if (presence == Presence::gone && all.failure.empty()) all.failure = why;
      all.is_complete = all.is_complete && presence == Presence::ready;
    }
    return all;
  }

  void call_off(const Change& change) override {
    for (const NewUnit& unit : change.new_units) meeting_->dismiss(tickets_[unit.id]);
  }

  void bring(const Change& change, int me, const SpawnOptions&, std::vector<Arrival>& arrivals) override {
    if (me != 0) return;
    for (const NewUnit& unit : change.new_units) {
      try {
        if (!answers_server()) throw Error(Status::spawn_failure, "blacs-dyn: the ompi-server has ended since the new processes were sent for");
        bring_one(unit, arrivals);
      } catch (const Error&) {
        close_second_ports();
        for (const NewUnit& other : change.new_units)
          if (std::none_of(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.unit.id == other.id; })) meeting_->dismiss(tickets_[other.id]);
        throw;
      }
    }
  }

  void introduce(const Change& change, MPI_Comm base_or_world, int root, int my_unit) override {
    const std::vector<NewUnit>& units = change.new_units;
    if (units.empty()) return;
    // who is left over from an earlier growth needs no second thread
    if (my_unit < 0 || !visitor_) tell_place(base_or_world, root, my_unit);
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
        check_mpi(MPI_Comm_accept(known == second_ports_.end() ? "" : known->second.c_str(), MPI_INFO_NULL, 0, current, &bridge), "MPI_Comm_accept");
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
    close_second_ports();
  }

  void let_go(int unit) override {
    if (meeting_) meeting_->let_go(tickets_[unit]);
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
        visitor_->say("ready");
        for (;;) {
          if (const auto heard = visitor_->listen()) {
            line = *heard;
            break;
          }
          pollfd one{visitor_->fd(), POLLIN, 0};
          poll(&one, 1, 1000);
        }
      } catch (const Error&) { // the application has ended: so do we
      }
      word.assign(line.begin(), line.end());
    }
    broadcast(word, 0, world);
    const std::string line(word.begin(), word.end());
    if (!begins_with(line, "come ")) {
      visitor_->goodbye();
      return std::nullopt;
    }
    const std::size_t space = line.find(' ', 5);
    const std::string port = line.substr(5, space - 5);
    second_port_ = line.substr(space + 1);
    watch();
    MPI_Comm bridge = MPI_COMM_NULL;
    check_mpi(MPI_Comm_connect(port.c_str(), MPI_INFO_NULL, 0, world, &bridge), "MPI_Comm_connect");
    return Comm::adopt(bridge);
  }

  void decline(MPI_Comm world) override {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    if (rank == 0) visitor_->say("not a new process ended before its first resize point; does the program reach dyngrid_resize_point on every path?");
    visitor_->goodbye();
  }

  void close() override {
    if (visitor_) visitor_->goodbye();
    visitor_.reset();
    if (meeting_) meeting_->close(5);
    meeting_.reset();
    if (has_port_) MPI_Close_port(port_.data());
    has_port_ = false;
  }

private:
  void read_join(const std::string& join) {
    const std::size_t bar = join.rfind('|');
    if (bar == std::string::npos) throw Error(Status::bad_argument, fmt::format("blacs-dyn: DYNGRID_JOIN is \"{}\", wanted PLACE|UNIT", join));
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // of the unit that this process was started in
    visitor_ = std::make_unique<Visitor>(MeetingPlace::parse(join.substr(0, bar)), std::atoi(join.c_str() + bar + 1), rank, 10);
  }

  bool answers_server() const {
    const NameServer server = NameServer::parse(server_uri(server_));
    return std::any_of(server.hosts.begin(), server.hosts.end(), [&](const std::string& host) { return answers(host, server.port); });
  }

  void require_server() {
    if (!answers_server()) throw Error(Status::spawn_failure, "blacs-dyn: the ompi-server over which new processes meet the application has ended");
  }

  void open_meeting() {
    if (meeting_) return;
    const char* listen = environment("DYNGRID_JOIN_LISTEN");
    const bool is_far = environment("DYNGRID_JOIN_START") || environment("DYNGRID_HOSTS");
    meeting_ = std::make_unique<Meeting>(listen ? listen : is_far ? "tcp" : "unix", [this](const std::string& what) { end_all(what, 1.0); });
  }

  void bring_one(const NewUnit& unit, std::vector<Arrival>& arrivals) {
    if (!has_port_) {
      check_mpi(MPI_Open_port(MPI_INFO_NULL, port_.data()), "MPI_Open_port");
      has_port_ = true;
    }
    const auto gone = [&](const std::string& why) {
      return Error(Status::spawn_failure, fmt::format("blacs-dyn: {} new process(es) ended before they were let in: {}", unit.members.size(), why));
    };
    std::string why;
    std::array<char, MPI_MAX_PORT_NAME> second{}; // two units that connect to one port at the same time would be taken for each other
    check_mpi(MPI_Open_port(MPI_INFO_NULL, second.data()), "MPI_Open_port");
    second_ports_[unit.id] = second.data();
    if (meeting_->presence(tickets_[unit.id], &why) == Presence::gone || !meeting_->tell(tickets_[unit.id], fmt::format("come {} {}", port_.data(), second.data()))) throw gone(why);
    MPI_Comm bridge = MPI_COMM_NULL;
    int code = MPI_SUCCESS;
    meeting_->while_watched(tickets_[unit.id], [this] { send_stand_in(); }, [&] {
      MPI_Errhandler before = MPI_ERRHANDLER_NULL;
      MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      code = MPI_Comm_accept(port_.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &bridge);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
      MPI_Errhandler_free(&before);
    });
    check_mpi(code, "MPI_Comm_accept");
    Arrival arrival{unit, Comm::adopt(bridge)};
    if (meeting_->presence(tickets_[unit.id], &why) == Presence::gone) { // it is the stand-in that came
      arrival.bridge.disconnect();
      throw gone(why);
    }
    meeting_->hold(tickets_[unit.id]);
    arrivals.push_back(std::move(arrival));
  }

  void close_second_ports() {
    for (const auto& [unit, port] : second_ports_) MPI_Close_port(port.c_str());
    second_ports_.clear();
  }

  /// From the watching thread: process 0 waits in MPI_Comm_accept for somebody who has ended. Somebody else comes in its place, so that it returns.
  void send_stand_in() {
    try {
      std::vector<std::string> variables = passed_on();
      variables.push_back(std::string("DYNGRID_STAND_IN=") + port_.data());
      const std::string mpirun = environment("DYNGRID_MPIRUN") ? environment("DYNGRID_MPIRUN") : "mpirun";
      std::vector<std::string> words{mpirun, "--ompi-server", server_uri(server_), "--oversubscribe", "--bind-to", "none", "--timeout", "10", "-np", "1", own_program()};
      meeting_->reap(start_program(words, variables), -1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "dyngrid: %s\n", error.what());
    }
  }

  /// Everybody in the base learns where process 0 listens, so that the end of a unit reaches all. Collective over base.
  void tell_place(MPI_Comm base, int root, int my_unit) {
    if (my_unit >= 0) return;
    int rank = 0;
    MPI_Comm_rank(base, &rank);
    std::vector<char> text;
    if (rank == root) {
      const std::string place = meeting_->place();
      text.assign(place.begin(), place.end());
    }
    broadcast(text, root, base);
    if (rank == root || visitor_) return;
    visitor_ = std::make_unique<Visitor>(MeetingPlace::parse(std::string(text.begin(), text.end())), 0, rank, 10);
    watch();
  }

  void watch() {
    visitor_->watch([this](const std::string& what) { end_all(what, 3.0); });
  }

  /// Not MPI_Abort: this thread must not call MPI, and mpirun ends a job one of whose processes has exited.
  [[noreturn]] void end_all(const std::string& what, double grace_s) const {
    const std::string go_on = loss_.where_to_go_on ? loss_.where_to_go_on() : "";
    std::fprintf(stderr, "dyngrid: %s; the application cannot go on and ends [pid %d]%s\n", what.c_str(), static_cast<int>(getpid()), go_on.c_str());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::duration<double>(grace_s)); // until the others have said it too
    _exit(1);
  }

  std::string server_;
  LossText loss_;
  std::unique_ptr<Meeting> meeting_;  ///< process 0
  std::map<int, int> tickets_;        ///< by unit: what the meeting calls it, since a unit that failed leaves its number to the next
  int last_ticket_ = 0;
  std::unique_ptr<Visitor> visitor_;  ///< everybody else
  std::array<char, MPI_MAX_PORT_NAME> port_{};
  bool has_port_ = false;
  std::string second_port_;                  ///< a newcomer's, to be introduced over
  std::map<int, std::string> second_ports_;  ///< the same on process 0, by unit
};

} // namespace

NameServer NameServer::parse(const std::string& uri) {
  const auto bad = [&] { return Error(Status::bad_argument, fmt::format("blacs-dyn: address of an ompi-server is \"{}\", wanted NUMBER.0;tcp://HOST:PORT", uri)); };
  NameServer server;
  const std::size_t dot = uri.find('.'), tcp = uri.find("tcp://");
  if (dot == std::string::npos || dot == 0 || tcp == std::string::npos) throw bad();
  server.jobid = uri.substr(0, dot);
  const std::string where = uri.substr(tcp + 6, uri.find(';', tcp) == std::string::npos ? std::string::npos : uri.find(';', tcp) - tcp - 6);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) throw bad();
  server.hosts = comma_separated(where.substr(0, colon));
  server.port = std::atoi(where.c_str() + colon + 1);
  if (server.hosts.empty() || server.port <= 0) throw bad();
  return server;
}

bool is_passed_on(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name == "DYNGRID_NEWCOMER" || name == "DYNGRID_JOIN" || name == "DYNGRID_RESTORE" || name == "DYNGRID_STAND_IN") return false;
  for (const std::string_view prefix : {"PMIX_", "ORTE_", "PRTE_"})
    if (begins_with(name, prefix)) return false;
  if (begins_with(name, "SLURM_")) return name == "SLURM_CONF"; // the unit's mpirun must not take itself for a step of this job
  if (!begins_with(name, "OMPI_")) return true;
  if (begins_with(name, "OMPI_ALLOW_RUN_AS_ROOT")) return true;
  // of mpirun's own, what a user sets: transports, collectives, addresses, agents
  for (const std::string_view prefix : {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll", "OMPI_MCA_oob_tcp_if", "OMPI_MCA_plm_rsh", "OMPI_MCA_mpi_yield",
                                        "OMPI_MCA_osc", "OMPI_MCA_topo", "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_hwloc_base_binding_policy"})
    if (begins_with(name, prefix)) return true;
  return false;
}

std::vector<std::string> unit_command(const std::string& mpirun, const std::string& server, const NewUnit& unit, const std::string& place, const SpawnOptions& options) {
  std::vector<std::string> words{mpirun, "--ompi-server", server, "--oversubscribe", "--bind-to", "none", "-np", std::to_string(unit.members.size()), options.program};
  words.push_back("DYNGRID_JOIN=" + place);
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return words;
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

std::unique_ptr<Source> make_join_source(LossText loss) {
  const char* server = environment(server_variable);
  if (!server) throw Error(Status::bad_state, fmt::format("blacs-dyn: new processes are to join (DYNGRID_PROCESSES=join), but mpirun knows of no ompi-server; {}", way_out));
  return std::make_unique<JoinSource>(server, std::move(loss));
}

bool was_sent_for() { return environment("DYNGRID_JOIN") != nullptr; }

void stand_in_if_asked() {
  const char* port = environment("DYNGRID_STAND_IN");
  if (!port) return;
  MPI_Comm bridge = MPI_COMM_NULL;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &bridge); // this mpirun has this process only
  MPI_Comm_disconnect(&bridge);
  MPI_Finalize();
  std::exit(0);
}

} // namespace blacs_dyn
