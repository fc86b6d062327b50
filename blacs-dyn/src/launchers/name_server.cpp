// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/name_server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#ifdef DYNGRID_HAS_PMIX
#include <pmix.h>
#endif

#include "base/status.hpp"
#include "preflight.hpp"
#include "settings.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

sockaddr_in ipv4(const std::string& host, int port, bool* is_good) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  *is_good = inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1;
  return address;
}

bool answers_at(const std::string& host, int port) {
  bool is_good = false;
  const sockaddr_in address = ipv4(host, port, &is_good);
  const int fd = is_good ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
  if (fd < 0) return false;
  int failed = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (failed && errno == EINPROGRESS) {
    pollfd one{fd, POLLOUT, 0};
    socklen_t length = sizeof failed;
    if (poll(&one, 1, 2000) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length);
  }
  close(fd);
  return !failed;
}

/// With port 0: is it an address of this host? Nothing else can be bound to.
bool can_bind(const std::string& host, int port) {
  bool is_good = false;
  const sockaddr_in address = ipv4(host, port, &is_good);
  const int fd = is_good ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
  if (fd < 0) return false;
  const int on = 1; // as ompi-server does it with a port that it is given
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool could = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return could;
}

} // namespace

NameServer NameServer::parse(const std::string& uri) {
  const auto bad = [&] {
    return Error(Status::bad_argument,
                 fmt::format("blacs-dyn: address of an ompi-server is \"{}\", wanted NUMBER.0;tcp://HOST:PORT", uri));
  };
  NameServer server;
  const std::size_t dot = uri.find('.'), tcp = uri.find("tcp://");
  if (dot == std::string::npos || dot == 0 || tcp == std::string::npos) throw bad();
  server.jobid = uri.substr(0, dot);
  const std::string where =
      uri.substr(tcp + 6, uri.find(';', tcp) == std::string::npos ? std::string::npos : uri.find(';', tcp) - tcp - 6);
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos) throw bad();
  server.hosts = comma_separated(where.substr(0, colon));
  server.port = std::atoi(where.c_str() + colon + 1);
  if (server.hosts.empty() || server.port <= 0) throw bad();
  return server;
}

std::string server_uri(const std::string& setting) {
  if (!begins_with(setting, "file:") && !begins_with(setting, "FILE:")) return setting;
  std::ifstream file(setting.substr(5));
  std::string uri;
  if (!std::getline(file, uri))
    throw Error(
        Status::not_found,
        fmt::format("blacs-dyn: the ompi-server's address is to be in {}, which cannot be read", setting.substr(5)));
  return uri;
}

bool answers(const NameServer& server) {
  for (const std::string& host : server.hosts)
    if (answers_at(host, server.port)) return true;
  return false;
}

// ---- PMIx
// -----------------------------------------------------------------------------------------------------------------

namespace pmix {

#ifdef DYNGRID_HAS_PMIX

namespace {

struct Calls {
  decltype(&PMIx_Lookup) lookup = nullptr;
  decltype(&PMIx_Publish) publish = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Store_internal) store = nullptr;
};

/// Of the library that MPI has loaded already. Where there is none (another MPI, or an Open MPI with a PMIx of its own
/// inside) there are no calls.
const Calls& calls() {
  static const Calls all = [] {
    Calls found;
    void* library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return found;
    found.lookup = reinterpret_cast<decltype(&PMIx_Lookup)>(dlsym(library, "PMIx_Lookup"));
    found.publish = reinterpret_cast<decltype(&PMIx_Publish)>(dlsym(library, "PMIx_Publish"));
    found.get = reinterpret_cast<decltype(&PMIx_Get)>(dlsym(library, "PMIx_Get"));
    found.store = reinterpret_cast<decltype(&PMIx_Store_internal)>(dlsym(library, "PMIx_Store_internal"));
    return found;
  }();
  return all;
}

constexpr int limit_s = 5;

template <std::size_t n> void name(char (&to)[n], const std::string& key) {
  std::memset(to, 0, n);
  std::memcpy(to, key.data(), std::min(key.size(), n - 1));
}

pmix_info_t info(const char* key, pmix_data_type_t type) {
  pmix_info_t one;
  std::memset(&one, 0, sizeof one);
  name(one.key, key);
  one.value.type = type;
  return one;
}

pmix_info_t all_mpiruns() { // the ompi-server, not mpirun's own store
  pmix_info_t range = info(PMIX_RANGE, PMIX_DATA_RANGE);
  range.value.data.range = PMIX_RANGE_SESSION;
  return range;
}

pmix_info_t within_limit() {
  pmix_info_t timeout = info(PMIX_TIMEOUT, PMIX_INT);
  timeout.value.data.integer = limit_s;
  return timeout;
}

} // namespace

bool is_there() {
  return calls().lookup && calls().publish && !own_namespace().empty();
}

bool lookup(const std::string& key, std::string* bytes) {
  if (!is_there()) return false;
  pmix_pdata_t wanted;
  std::memset(&wanted, 0, sizeof wanted);
  name(wanted.key, key);
  std::array<pmix_info_t, 2> how{all_mpiruns(), within_limit()};
  if (calls().lookup(&wanted, 1, how.data(), how.size()) != PMIX_SUCCESS || wanted.value.type != PMIX_BYTE_OBJECT)
    return false;
  bytes->assign(wanted.value.data.bo.bytes, wanted.value.data.bo.size);
  std::free(wanted.value.data.bo.bytes);
  return true;
}

bool publish(const std::string& key, const std::string& value, Kind kind, bool once) {
  if (!is_there()) return false;
  std::string copy = value;
  std::array<pmix_info_t, 3> what{info(key.c_str(), kind == Kind::text ? PMIX_STRING : PMIX_BYTE_OBJECT), all_mpiruns(),
                                  info(PMIX_PERSISTENCE, PMIX_PERSIST)};
  if (kind == Kind::text)
    what[0].value.data.string = copy.data();
  else
    what[0].value.data.bo = {copy.data(), copy.size()};
  what[2].value.data.persist = once ? PMIX_PERSIST_FIRST_READ : PMIX_PERSIST_SESSION;
  return calls().publish(what.data(), what.size()) == PMIX_SUCCESS;
}

std::string own_card() {
  std::string card;
  const char* rank = environment("PMIX_RANK");
  if (!is_there() || !calls().get || !rank) return card;
  pmix_proc_t me;
  std::memset(&me, 0, sizeof me);
  name(me.nspace, own_namespace());
  me.rank = static_cast<pmix_rank_t>(std::atoi(rank));
  pmix_value_t* all = nullptr;
  if (calls().get(&me, nullptr, nullptr, 0, &all) != PMIX_SUCCESS || all->type != PMIX_DATA_ARRAY ||
      all->data.darray->type != PMIX_INFO)
    return card;
  const auto* entries = static_cast<const pmix_info_t*>(
      all->data.darray->array); // small, once in a process's life, and not ours to free in parts
  for (std::size_t i = 0; i < all->data.darray->size; ++i) {
    const pmix_info_t& entry = entries[i];
    if (entry.value.type != PMIX_BYTE_OBJECT || begins_with(entry.key, "pmix.")) continue;
    card += card.empty() ? "" : " ";
    card += fmt::format("{}=", entry.key);
    for (std::size_t k = 0; k < entry.value.data.bo.size; ++k)
      card += fmt::format("{:02x}", static_cast<unsigned char>(entry.value.data.bo.bytes[k]));
  }
  return card;
}

void keep_card(const std::string& nspace, int rank, const std::string& card) {
  if (!is_there() || !calls().store) return;
  pmix_proc_t whose;
  std::memset(&whose, 0, sizeof whose);
  name(whose.nspace, nspace);
  whose.rank = static_cast<pmix_rank_t>(rank);
  std::istringstream words(card);
  for (std::string word; words >> word;) {
    const std::size_t is = word.find('=');
    if (is == std::string::npos) continue;
    std::string bytes;
    for (std::size_t at = is + 1; at + 1 < word.size(); at += 2)
      bytes += static_cast<char>(std::stoi(word.substr(at, 2), nullptr, 16));
    pmix_value_t value;
    std::memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo = {bytes.data(), bytes.size()};
    calls().store(&whose, word.substr(0, is).c_str(), &value);
  }
}

#else

std::string own_card() {
  return "";
}
void keep_card(const std::string&, int, const std::string&) {}
bool is_there() {
  return false;
}
bool lookup(const std::string&, std::string*) {
  return false;
}
bool publish(const std::string&, const std::string&, Kind, bool) {
  return false;
}

#endif

std::string own_namespace() {
  const char* name = environment("PMIX_NAMESPACE");
  return name ? name : "";
}

} // namespace pmix

// ---- a server in the place of another
// -------------------------------------------------------------------------------------

static std::string text_in(int file) {
  std::array<char, 4096> text;
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
}

void Successor::start(const NameServer& old) {
  end();
  bool is_ours = false;
  for (const std::string& host : old.hosts) is_ours = is_ours || can_bind(host, 0);
  if (!is_ours)
    throw Error(
        Status::spawn_failure,
        fmt::format("blacs-dyn: another can only be started on {}, which is not the host of process 0", old.hosts[0]));
  if (!can_bind("0.0.0.0", old.port))
    throw Error(
        Status::spawn_failure,
        fmt::format("blacs-dyn: connections of the one that ended hold its port {}, for a minute at most: ask again "
                    "then (an ompi-server "
                    "started with OMPI_MCA_oob_tcp_static_ipv4_ports, as dyngrid run does, is replaced at once)",
                    old.port));
  const std::string program = find_program("ompi-server");
  const int said = memfd_create("dyngrid-server", MFD_CLOEXEC); // in memory: a kill leaves nothing
  if (said < 0)
    throw Error(Status::spawn_failure, fmt::format("blacs-dyn: no file in memory: {}", std::strerror(errno)));

  // all before the fork: after it only calls that a process with threads may make
  std::vector<std::string> words;
  for (char** variable = environ; variable && *variable; ++variable)
    if (!begins_with(*variable, "PMIX_") && !begins_with(*variable, "ORTE_") &&
        (!begins_with(*variable, "OMPI_") || begins_with(*variable, "OMPI_ALLOW_RUN_AS_ROOT") ||
         begins_with(*variable, "OMPI_MCA_oob_tcp_if")))
      words.emplace_back(*variable);
  words.push_back("OMPI_MCA_ess_base_jobid=" + old.jobid);
  words.push_back(fmt::format("OMPI_MCA_oob_tcp_static_ipv4_ports={}", old.port));
  std::vector<char*> variables;
  for (std::string& word : words) variables.push_back(word.data());
  variables.push_back(nullptr);
  const std::array<const char*, 5> arguments{program.c_str(), "--no-daemonize", "-r", "+", nullptr};
  const pid_t parent = getpid();
  sigset_t none;
  sigemptyset(&none);
  const pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 1);
    dup2(said, 2); // standard output it would keep in a buffer until its end
    execve(program.c_str(), const_cast<char* const*>(arguments.data()), variables.data());
    _exit(127);
  }
  int status = 0;
  bool is_there = false, has_ended = child < 0;
  for (int waited = 0; waited < 500 && !is_there && !has_ended; ++waited) {
    usleep(10000);
    has_ended = waitpid(child, &status, WNOHANG) != 0;
    is_there = !has_ended && text_in(said).find("tcp://") != std::string::npos && answers(old);
  }
  close(said);
  pid_ = has_ended ? 0 : child;
  if (is_there) return;
  end();
  throw Error(Status::spawn_failure, fmt::format("blacs-dyn: another could not be started on port {}", old.port));
}

void Successor::end() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  for (int waited = 0; waited < 200 && waitpid(pid_, nullptr, WNOHANG) == 0; ++waited) {
    usleep(10000);
    if (waited == 100) kill(pid_, SIGKILL);
  }
  pid_ = 0;
}

// ---- the accept
// -----------------------------------------------------------------------------------------------------------

void publish_for_the_dead(const std::string& port) {
  // One number as Open MPI packs it: how many, the type of an int, the value, in network order.
  const auto number = [](char value) { return std::string{0, 0, 0, 1, 9, 0, 0, 0, value}; };
  // An accept asks for these in this order (ompi/dpm/dpm.c and ompi/communicator/comm_cid.c of 4.1): who connects;
  // rounds of "the next free number" and "everybody agrees"; ready. A name that cannot be one ends it at once; numbers
  // lead it through to a communicator with the dead, that is freed.
  pmix::publish(port + ":connect", "nobody", pmix::Kind::text, true);
  for (int round = 0; round < 8; ++round)
    pmix::publish(fmt::format("{}:nextcid:send:{}", port, round), number(static_cast<char>(round % 2)),
                  pmix::Kind::bytes, true);
  pmix::publish(port + ":activate:send:0", number(1), pmix::Kind::bytes, true);
}

} // namespace blacs_dyn
