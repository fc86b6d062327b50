// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/join.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
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
    if (const char* join = environment("DYNGRID_JOIN"))
      read_join(join);
    else if (int rank = 0; MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0 && answers_server())
      remember(0, pmix::own_namespace());
  }

  void send_for(const Change& change, const SpawnOptions& options) override {
    if (!answers_server()) replace_server();
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
        if (!answers_server())
          throw Error(Status::spawn_failure,
                      "blacs-dyn: the ompi-server has ended since the new processes were sent for");
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

  void introduce(const Change& change, MPI_Comm base_or_world, int root, int my_unit) override {
    const std::vector<NewUnit>& units = change.new_units;
    if (units.empty()) return;
    // who is left over from an earlier growth needs no second thread
    if (my_unit < 0 || !peer_) tell_place(base_or_world, root, my_unit);
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
    published_.erase(unit);
    if (rendezvous_) rendezvous_->let_go(tickets_[unit]);
  }

  std::string gone(int unit) override {
    std::string why;
    const auto ticket = tickets_.find(unit);
    if (!rendezvous_ || ticket == tickets_.end() || rendezvous_->presence(ticket->second, &why) != Presence::gone)
      return "";
    return why.empty() ? "it ended" : why;
  }

  void hold(int unit) override { rendezvous_->hold(tickets_[unit]); }

  std::optional<Comm> reach(MPI_Comm world) override {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(world, &request), "MPI_Ibarrier");
    wait_asleep(&request);
    const std::string introduction = pmix::own_namespace() + gather_cards(world);
    std::vector<char> word;
    if (rank == 0) {
      std::string line = "away";
      try {
        peer_->say("ready " + introduction);
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
    watch();
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
    for (int waited = 0; waited < 500 && rescues_ > 0; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    successor_.end();
  }

private:
  void read_join(const std::string& join) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // of the unit that this process was started in
    peer_ = std::make_unique<Peer>(join, rank, 10);
  }

  bool answers_server() const { return answers(NameServer::parse(server_uri(server_))); }

  /// Of all processes of a new unit, on its rank 0: " RANK KEY=HEX KEY=HEX;" for each.
  static std::string gather_cards(MPI_Comm world) {
    int rank = 0, size = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    const std::string mine = fmt::format(" {} {};", rank, pmix::own_card());
    const auto length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size)), at(lengths);
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, world), "MPI_Gather");
    std::partial_sum(lengths.begin(), lengths.end() - 1, at.begin() + 1);
    std::string all(static_cast<std::size_t>(at.back() + lengths.back()), '\0');
    check_mpi(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), at.data(), MPI_CHAR, 0, world),
              "MPI_Gatherv");
    return all;
  }

  /// Keeps what the mpirun of a unit has published of itself, so that it can be published again on another server.
  void remember(int unit, const std::string& name) {
    std::string bytes;
    if (!name.empty() && pmix::lookup(name, &bytes)) published_[unit] = {name, bytes};
  }

  /// The ompi-server has ended: another one in its place. @throws Error{spawn_failure}
  void replace_server() {
    constexpr const char* what = "the ompi-server over which new processes meet the application has ended";
    const auto cannot = [&](const std::string& why) {
      return Error(Status::spawn_failure, fmt::format("blacs-dyn: {}; {}", what, why));
    };
    if (published_.count(0) == 0) throw cannot("this MPI gives no way to start another");
    try {
      successor_.start(NameServer::parse(server_uri(server_)));
    } catch (const Error& error) {
      const std::string why = error.what();
      throw cannot(why.substr(why.find(": ") + 2));
    }
    for (const auto& [unit, known] : published_)
      if (!pmix::publish(known.first, known.second, pmix::Kind::bytes, false)) {
        successor_.end();
        throw cannot("another was started, but mpirun does not talk to it");
      }
    std::fprintf(stderr, "dyngrid: %s; another one takes its place [pid %d]\n", what,
                 static_cast<int>(successor_.pid()));
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

  void bring_one(const NewUnit& unit, double limit_s, std::vector<Newcomers>& newcomers) {
    const int ticket = tickets_[unit.id];
    Port port; // of this unit alone: two that connect to one port at the same time would be taken for each other
    second_ports_[unit.id] = Port();
    const auto ended = [&](const std::string& why) {
      return Error(Status::spawn_failure,
                   fmt::format("blacs-dyn: {} new process(es) could not be let in: {}", unit.members.size(), why));
    };
    std::string why = gone(unit.id);
    const auto introduction = parse_introduction(rendezvous_->remark(ticket), unit.members.size());
    if (why.empty() && !introduction) throw ended("what they said of themselves is not what new processes say");
    if (!why.empty() ||
        !rendezvous_->tell(ticket, fmt::format("come {} {}", port.name(), second_ports_[unit.id].name())))
      throw ended(why);
    for (std::size_t rank = 0; rank < introduction->cards.size(); ++rank)
      pmix::keep_card(introduction->nspace, static_cast<int>(rank), introduction->cards[rank]);
    MPI_Comm bridge = MPI_COMM_NULL;
    int code = MPI_SUCCESS;
    rendezvous_->while_watched(
        ticket, limit_s, [this, name = port.name()] { rescue(name); },
        [&] {
          MPI_Errhandler before = MPI_ERRHANDLER_NULL;
          MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
          MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
          code = MPI_Comm_accept(port.name().c_str(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &bridge);
          MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
          MPI_Errhandler_free(&before);
        });
    Comm owner = Comm::adopt(code == MPI_SUCCESS ? bridge : MPI_COMM_NULL);
    why = gone(unit.id);
    if (!why.empty()) {
      owner.close(); // not a disconnect, which waits for the other side
      throw ended(why);
    }
    check_mpi(code, "MPI_Comm_accept");
    remember(unit.id, introduction->nspace);
    newcomers.push_back({unit, std::move(owner)});
  }

  /// From the watching thread, which must not wait for mpirun.
  void rescue(const std::string& port) {
    ++rescues_;
    std::thread([this, port] {
      publish_for_the_dead(port);
      --rescues_;
    }).detach();
  }

  /// Everybody in the base learns where process 0 listens, so that the end of a unit reaches all. Collective over base.
  void tell_place(MPI_Comm base, int root, int my_unit) {
    if (my_unit >= 0) return;
    int rank = 0, size = 0;
    MPI_Comm_rank(base, &rank);
    MPI_Comm_size(base, &size);
    std::vector<char> text;
    if (rank == root) {
      const std::string invitation = rendezvous_->invite_guests(size);
      text.assign(invitation.begin(), invitation.end());
    }
    broadcast(text, root, base);
    if (rank == root || peer_) return;
    peer_ = std::make_unique<Peer>(std::string(text.begin(), text.end()), rank, 10);
    watch();
  }

  void watch() {
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
  std::map<int, std::pair<std::string, std::string>>
      published_; ///< process 0, by unit: its mpirun's name and what it has told the ompi-server of itself
  std::atomic<int> rescues_{0}; ///< under way
  Successor successor_;         ///< process 0: the ompi-server that it started
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

std::optional<Introduction> parse_introduction(const std::string& text, std::size_t processes) {
  const auto is_word = [](std::string_view word, std::size_t longest) {
    return word.size() <= longest && std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 127; });
  };
  Introduction all;
  const std::size_t space = text.find(' ');
  all.nspace = text.substr(0, space);
  if (space == std::string::npos || !is_word(all.nspace, 255)) return std::nullopt;
  std::size_t at = space;
  for (std::size_t rank = 0; rank < processes; ++rank) {
    const std::string begin = fmt::format(" {} ", rank);
    const std::size_t end = text.find(';', at);
    if (end == std::string::npos || text.compare(at, begin.size(), begin) != 0) return std::nullopt;
    all.cards.push_back(text.substr(at + begin.size(), end - at - begin.size()));
    std::istringstream words(all.cards.back());
    for (std::string word; words >> word;) {
      const std::size_t is = word.find('=');
      if (is == 0 || is == std::string::npos || is > 511 || !is_word(word, word.size()) ||
          (word.size() - is) % 2 == 0 || word.find_first_not_of("0123456789abcdef", is + 1) != std::string::npos)
        return std::nullopt;
    }
    at = end + 1;
  }
  return at == text.size() ? std::optional(all) : std::nullopt;
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
