// SPDX-License-Identifier: BSD-3-Clause
// joined CASE: the join way or the background, run under with_server. The application continues to compute while new
// processes start.
// - follow SHAPE...: through all shapes by requests at resize points
// - early, ready, never: the fate of the new processes of the first growth; the second growth is a good one
// - starting: one of them, or more, are killed DYNGRID_TEST_US after their start, before they are ready
// - `unheard` FILE: as early; of the second growth one stops before MPI_Init, as one that mpirun does not notice. It
//   is started again. FILE is a mark
// - called: of two groups that were found ready the second ends before process 0 calls them in
// - deaf: one of them cannot connect to the application; the others end with it, and the growth fails at once
// - memory: process 0 has no memory for the invitation by which the others learn of the end of a group
// - exits, aborts: one of them ends by itself before it is ready, by _exit or MPI_Abort
// - end: the application ends while they are being started
// - connect, hang: they end, or stop, while process 0 waits for them; the application ends with a message
// - silent: they stop after they have connected, TEST_SILENT_AFTER times; it ends with a message
// - unserved: the ompi-server is killed DYNGRID_TEST_US after their call of MPI_Comm_connect; the application ends with
//   a message
// - moment: they are killed DYNGRID_TEST_US after their call of MPI_Comm_connect
// - held: a joined process is killed while it holds part of a matrix
// - `asleep`: one of a group is killed while it sleeps, and the other computes
// - forged TEXT: new processes of the first growth send hello by themselves, then report that they are ready in their
//   own words
// - neighbour: command lines do not contain the token; a user who has it can do nothing with it; silent connections
//   disturb no process
// - server: the ompi-server is killed between two growths; TEST_WHEN=coming: while new processes start
// - twice: a second request for the pending grid takes over
// - experiment: not one of the job's own experiment, DYNGRID_DECIDE=experiment=2x2@1
// - granted: under a scheduler, a growth is requested twice and called off
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/parse_json.hpp"
#include "control/client.hpp"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "follow.hpp"

namespace {

using follow::expect;

std::string kind;
bool must_fail = false;                  ///< this process is a new process of the growth that is to fail
bool is_deaf = false;                    ///< no connection can be made
thread_local bool has_no_memory = false; ///< this thread, for the next invitation
void kill_marked();

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Kills the ompi-server after `us` microseconds.
void end_server_in(int us) {
  const auto end = [us] {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    kill(std::atoi(std::getenv("TEST_SERVER")), SIGKILL);
  };
  us > 0 ? std::thread(end).detach() : end();
}

void die_in(int ms) {
  std::thread([ms] {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    die();
  }).detach();
}

/// The invitation of a new process; null on others.
const char* my_invitation() {
  const char* join = std::getenv("DYNGRID_JOIN");
  return join ? join : std::getenv("DYNGRID_MEET");
}

/// What has happened on a process, as a file, for processes that no communicator connects with it.
void set_mark(const std::string& name) {
  const int fd = open((std::string(std::getenv("TEST_FOLDER")) + "/" + name).c_str(), O_CREAT | O_WRONLY, 0600);
  expect(fd >= 0, "mark " + name);
  close(fd);
}
void await_mark(const std::string& name) {
  while (access((std::string(std::getenv("TEST_FOLDER")) + "/" + name).c_str(), F_OK) != 0) usleep(1000);
}

bool must_die(int rank) {
  const char* who = std::getenv("DYNGRID_TEST_WHO");
  return who && (std::atoi(who) & (1 << rank)) != 0;
}

} // namespace

extern "C" int connect(int fd, const sockaddr* address, socklen_t length) {
  using Connect = int (*)(int, const sockaddr*, socklen_t);
  static const auto next = reinterpret_cast<Connect>(dlsym(RTLD_NEXT, "connect"));
  errno = ECONNRESET;
  return is_deaf ? -1 : next(fd, address, length);
}

// each invitation has a random word
extern "C" ssize_t getrandom(void* bytes, std::size_t count, unsigned flags) {
  if (std::exchange(has_no_memory, false)) throw std::bad_alloc();
  using GetRandom = ssize_t (*)(void*, std::size_t, unsigned);
  static const auto next = reinterpret_cast<GetRandom>(dlsym(RTLD_NEXT, "getrandom"));
  return next(bytes, count, flags);
}

// MPI's profiling interface: the moment in which process 0 waits for this process
extern "C" int MPI_Comm_connect(const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* bridge) {
  if (must_fail && kind == "connect") die();
  if (must_fail && kind == "hang") raise(SIGSTOP);
  if (must_fail && kind == "unserved") end_server_in(std::atoi(std::getenv("DYNGRID_TEST_US")));
  const char* when = must_fail && kind == "moment" ? std::getenv("DYNGRID_TEST_US") : nullptr;
  enum : int { connecting, dying, connected };
  static std::atomic<int> state{connecting};
  if (!when || state == connected) { // the second time it is to be introduced
    const int code = PMPI_Comm_connect(port, info, root, comm, bridge);
    static int calls = 0;
    const char* silent_after = std::getenv("TEST_SILENT_AFTER");
    if (must_fail && kind == "silent" && silent_after && ++calls == std::atoi(silent_after)) raise(SIGSTOP);
    return code;
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (must_die(rank))
    std::thread([us = std::atoi(when)] {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
      int seen = connecting;
      if (state.compare_exchange_strong(seen, dying)) die();
    }).detach();
  const int code = PMPI_Comm_connect(port, info, root, comm, bridge);
  int seen = connecting;
  if (!state.compare_exchange_strong(seen, connected))
    for (;;) pause();
  return code;
}

// process 0, when it has found all of them ready
extern "C" int MPI_Open_port(MPI_Info info, char* port) {
  if (kind == "called" && !std::getenv("DYNGRID_TEST_SECOND")) kill_marked();
  return PMPI_Open_port(info, port);
}

namespace {

/// New processes call it on a line of their own.
int resize_point() {
  return dyngrid_resize_point_at("joined");
}

/// Requests a grid, then continues to compute until the change. Returns the status of the change; `steps` counts the
/// steps meanwhile.
int change_to(int nprow, int npcol, int ms_between, int* steps) {
  expect(!dyngrid_request(nprow, npcol), "request");
  for (*steps = 0;; ++*steps) {
    const int outcome = resize_point();
    if (outcome != DYNGRID_SAME) return outcome;
    std::this_thread::sleep_for(std::chrono::milliseconds(ms_between)); // the work
  }
}

void say(const std::string& text) {
  int myrow = 0, mycol = 0;
  dyngrid_grid(nullptr, nullptr, &myrow, &mycol);
  if (myrow == 0 && mycol == 0) std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// One growth of 1x2 to 2x2 whose new processes are killed, one, the other or both, DYNGRID_TEST_US after they began to
/// connect. It is refused, or they had connected before and join. Or the application ends, which with_server judges.
int moment(dyngrid_matrix* a) {
  if (dyngrid_is_newcomer()) {
    int outcome = resize_point();
    if (outcome == DYNGRID_RESIZED) outcome = resize_point(); // it leaves
    expect(outcome == DYNGRID_LEAVE, "a new process that was through leaves");
    return dyngrid_finalize();
  }
  follow::fill(a, 'd', 5);
  int meanwhile = 0;
  const int status = change_to(2, 2, 2, &meanwhile);
  expect(status == DYNGRID_ERR_SPAWN || status == DYNGRID_RESIZED, "status of the growth");
  expect(follow::wrong(a, 'd', 5) == 0, "data");
  if (status == DYNGRID_RESIZED) expect(change_to(1, 2, 2, &meanwhile) == DYNGRID_RESIZED, "back");
  expect(follow::wrong(a, 'd', 5) == 0, "data after going back");
  say(std::string("moment: right, new processes were ") + (status == DYNGRID_RESIZED ? "accepted" : "refused"));
  return dyngrid_finalize();
}

/// The parts of DYNGRID_JOIN, "tcp:ADDRESS:PORT?WORD|NUMBER" or "unix:NAME?WORD|NUMBER".
struct Invitation {
  std::string where, word;
  int group = 0;
  explicit Invitation(const std::string& text) {
    const std::size_t question = text.rfind('?'), bar = text.rfind('|');
    expect(question != std::string::npos && bar != std::string::npos, "an invitation");
    where = text.substr(0, question);
    word = text.substr(question + 1, bar - question - 1);
    group = std::atoi(text.c_str() + bar + 1);
  }
  int connection() const {
    if (where.compare(0, 5, "unix:") == 0) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string name = where.substr(5);
      std::memcpy(address.sun_path, name.data(), name.size());
      if (name[0] == '@') address.sun_path[0] = '\0';
      const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
      expect(connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0, "connect to " + where);
      return fd;
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const std::size_t colon = where.rfind(':');
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.c_str() + colon + 1)));
    inet_pton(AF_INET, where.substr(4, colon - 4).c_str(), &address.sin_addr);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    expect(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect to " + where);
    return fd;
  }
  /// Until the application closes the connection.
  static void await_end(int fd) {
    char buffer[256];
    while (recv(fd, buffer, sizeof buffer, 0) > 0) continue;
  }
  void say(int fd, const std::string& text) const {
    expect(send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()), "send");
  }
  std::string hello(int id, int rank) const {
    return "hello " + word + " " + std::to_string(id) + " " + std::to_string(rank) + " evil 1\n";
  }
};

/// Instead of dyngrid_init.
[[noreturn]] void forge(const std::string& text) {
  const Invitation invitation(my_invitation());
  const int rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  const int fd = invitation.connection();
  invitation.say(fd, invitation.hello(invitation.group, rank));
  char welcome = 0;
  expect(recv(fd, &welcome, 1, 0) == 1, "an answer to hello");
  set_mark("hello" + std::to_string(rank));
  for (int other = 0; other < std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE")); ++other)
    await_mark("hello" + std::to_string(other));
  if (rank == 0) invitation.say(fd, "ready " + text + "\n");
  sleep(1000);
  std::exit(1);
}

/// The tokens in DYNGRID_JOIN of the processes of this run, and whether any command line contains such a token.
void look_around(std::set<std::string>* invitations) {
  std::string command_lines;
  DIR* all = opendir("/proc");
  while (const dirent* entry = all ? readdir(all) : nullptr) {
    if (std::atoi(entry->d_name) <= 0) continue;
    const std::string process = std::string("/proc/") + entry->d_name;
    command_lines += base::content_of(process + "/cmdline");
    const std::string variables = '\0' + base::content_of(process + "/environ");
    std::size_t at = variables.find(std::string("\0DYNGRID_JOIN=", 14));
    if (at == std::string::npos) at = variables.find(std::string("\0DYNGRID_MEET=", 14));
    const bool is_ours =
        variables.find(std::string("\0TEST_SERVER=", 13) + std::getenv("TEST_SERVER") + '\0') != std::string::npos;
    if (is_ours && at != std::string::npos && variables[at + 14] != '\0')
      invitations->insert(variables.c_str() + at + 14);
  }
  if (all) closedir(all);
  for (const std::string& text : *invitations)
    expect(command_lines.find(Invitation(text).word) == std::string::npos,
           "the word of a meeting stands on a command line");
}

/// 1x2 -> 2x2 -> 1x2 -> 2x2 -> 1x2
int with_neighbours(dyngrid_matrix* a) {
  std::set<std::string> invitations;
  std::vector<int> silent;
  const bool is_new = dyngrid_is_newcomer(); // until its first resize point
  int rank = 0, outcome = is_new ? resize_point() : DYNGRID_SAME;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  if (is_new && outcome == DYNGRID_RESIZED) {
    MPI_Barrier(dyngrid_comm());
    outcome = resize_point();
    expect(outcome == DYNGRID_LEAVE, "a new process leaves");
  }
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  follow::fill(a, 'd', 5);
  for (int k = 0; k < 2; ++k) {
    expect(!dyngrid_request(2, 2), "request");
    while ((outcome = resize_point()) == DYNGRID_SAME) {
      if (rank == 0) look_around(&invitations);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    expect(outcome == DYNGRID_RESIZED && follow::wrong(a, 'd', 5) == 0, "growth and data");
    if (rank == 0) { // an attacker with all tokens ever issued, and enough sockets
      expect(static_cast<int>(invitations.size()) >= k + 1, "words in environments");
      for (const std::string& text : invitations) {
        const Invitation invitation(text);
        for (const auto& [group, member] : std::vector<std::pair<int, int>>{{invitation.group, 0},
                                                                            {invitation.group, 1},
                                                                            {invitation.group, 9},
                                                                            {invitation.group, -1},
                                                                            {0, 0},
                                                                            {99, 0}}) {
          const int fd = invitation.connection();
          invitation.say(fd, invitation.hello(group, member));
          Invitation::await_end(fd);
          close(fd);
        }
        for (int i = 0; i < 100; ++i) silent.push_back(invitation.connection());
        const int endless = invitation.connection();
        const std::string block(100000, 'x');
        for (int i = 0; i < 100 && send(endless, block.data(), block.size(), MSG_NOSIGNAL) > 0; ++i) continue;
        close(endless);
      }
      // of connections that say nothing it keeps 64
      const auto alive = [&] {
        return std::count_if(silent.begin(), silent.end(), [](int fd) {
          pollfd one{fd, POLLIN, 0};
          return poll(&one, 1, 0) == 0;
        });
      };
      while (alive() > 64) usleep(1000);
    }
    MPI_Barrier(dyngrid_comm());
    int meanwhile = 0;
    expect(change_to(1, 2, 2, &meanwhile) == DYNGRID_RESIZED && follow::wrong(a, 'd', 5) == 0, "back");
  }
  for (const int fd : silent) close(fd);
  say("neighbour: right, with " + std::to_string(invitations.size()) + " groups and " + std::to_string(silent.size()) +
      " that said nothing");
  return dyngrid_finalize();
}

void kill_server() {
  int rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  if (rank == 0) {
    const int server = std::atoi(std::getenv("TEST_SERVER"));
    expect(kill(server, SIGKILL) == 0, "a server to kill");
    while (!follow::has_ended(server)) usleep(1000);
  }
  MPI_Barrier(dyngrid_comm());
}

/// 1x2 -> 1x3, then the server is killed: 2x2 is refused with a message, twice, and the processes that joined before
/// leave. TEST_WHEN=coming: it is killed while those for 2x2 are being started.
int after_the_server(dyngrid_matrix* a) {
  const bool is_coming = std::getenv("TEST_WHEN") != nullptr;
  const auto check = [&](int rows, int cols) {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    expect(nprow == rows && npcol == cols && follow::wrong(a, 'd', 5) == 0, "grid and data");
  };
  if (dyngrid_is_newcomer()) {
    const int outcome = resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize(); // no longer needed
    expect(outcome == DYNGRID_RESIZED, "a new process joins");
  } else {
    follow::fill(a, 'd', 5);
    expect(dyngrid_resize(1, 3, DYNGRID_OPTIMAL) == DYNGRID_RESIZED, "a growth with a server");
  }
  check(1, 3);
  if (is_coming) expect(!dyngrid_request(2, 2) && resize_point() == DYNGRID_SAME, "sent for");
  kill_server();
  for (int time = 0; time < 2; ++time) {
    int meanwhile = 0;
    int status = DYNGRID_SAME;
    if (is_coming && time == 0)
      while ((status = resize_point()) == DYNGRID_SAME) usleep(2000);
    else
      status = change_to(2, 2, 2, &meanwhile);
    expect(status == DYNGRID_ERR_SPAWN, "a growth that is refused");
    // mpiruns that were being started may have ended because of it: then that is reported
    if (!is_coming || time == 1)
      expect(std::strstr(dyngrid_last_message(), "the name server is gone"), "in these words");
    check(1, 3);
  }
  say("server: refused twice, going on");
  const int status = dyngrid_resize(1, 2, DYNGRID_OPTIMAL);
  if (status == DYNGRID_LEAVE) return dyngrid_finalize();
  expect(status == DYNGRID_RESIZED, "a shrink without a server");
  check(1, 2);
  say("server: 1x2 right");
  return dyngrid_finalize();
}

void expect_outcome(control::Client& client, const std::string& outcome) {
  const auto told = client.next(600);
  expect(told && told->value("outcome", "") == outcome, outcome + ": " + (told ? told->dump() : "nothing was said"));
}

/// Until this number of processes, which have set a mark each, have ended.
void await_ends(std::size_t count) {
  std::size_t ended = 0;
  do {
    usleep(1000);
    ended = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::getenv("TEST_FOLDER")))
      ended += follow::has_ended(std::atoi(entry.path().filename().c_str())) ? 1 : 0;
  } while (ended < count);
}

void kill_marked() {
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("TEST_FOLDER")))
    kill(std::atoi(entry.path().filename().c_str()), SIGKILL);
  await_ends(1);
}

/// 1x2 -> 2x2, requested from outside twice: the second request takes over the new processes that the first has
/// started. With an experiment on 2x2 that is the second one: the first is answered.
int asked_twice(dyngrid_matrix* a) {
  const bool is_experiment = kind == "experiment";
  if (dyngrid_is_newcomer()) {
    await_mark("second"); // request
    expect(resize_point() == DYNGRID_RESIZED && follow::wrong(a, 'd', 5) == 0, "a new process joins");
    return dyngrid_finalize();
  }
  follow::fill(a, 'd', 5);
  int rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  std::optional<control::Client> first, second;
  for (auto* client : {&first, &second}) {
    if (rank == 0 && !(is_experiment && client == &second)) {
      client->emplace(control::Client::to_job(dyngrid_job()));
      (*client)->send("resize", {{"grid", {2, 2}}, {"wait", true}, {"force", true}});
      while (is_experiment && control::Client::to_job(dyngrid_job()).call("status", {}).at("pending").is_null())
        usleep(1000); // the experiment is pending, too
    }
    while (dyngrid_pending() == 0) usleep(1000);
    for (int points = 0; points < (is_experiment ? 10 : 1); ++points) // some are passed by
      expect(resize_point() == DYNGRID_SAME, "sent for");
  }
  if (rank == 0 && !is_experiment) expect_outcome(*first, "superseded");
  set_mark("second");
  int status = DYNGRID_SAME;
  for (; status == DYNGRID_SAME; usleep(2000)) status = resize_point();
  expect(status == DYNGRID_RESIZED && follow::wrong(a, 'd', 5) == 0, "growth");
  if (rank == 0) expect_outcome(is_experiment ? *first : *second, "done");
  say("twice: the right request counts");
  return dyngrid_finalize();
}

/// 1x2 -> 2x2 under a scheduler that names hosts, which a thread of process 0 plays. The same growth requested again is
/// the one under way. Called off, it gives back what was granted.
int granted(dyngrid_matrix* a) {
  if (dyngrid_is_newcomer()) {
    await_mark("over");
    expect(resize_point() == DYNGRID_LEAVE, "a new process of a growth that was called off");
    return dyngrid_finalize();
  }
  follow::fill(a, 'd', 5);
  std::atomic<int> grants{0};
  std::atomic<bool> is_over{false};
  std::thread scheduler;
  if (dyngrid_is_first())
    scheduler = std::thread([&] {
      control::Client client = control::Client::to_job(dyngrid_job());
      for (; !is_over; usleep(1000)) {
        const base::Json asks = client.call("status", {}).at("asks");
        if (!asks.is_object() || !asks.at("granted").is_null()) continue;
        const base::Json host{{"name", base::host_name()}, {"slots", 2}};
        ++grants; // first: the program may have come to its end before this thread goes on
        client.call("grant", {{"ask", asks.at("ask")}, {"procs", 4}, {"hosts", base::Json::array({host})}});
      }
    });
  for (const int nprow : {2, 2, 1}) {
    expect(!dyngrid_request(nprow, 2), "request");
    do expect(resize_point() == DYNGRID_SAME, "the grid stays");
    while (dyngrid_pending() != 0);
  }
  if (dyngrid_is_first()) {
    expect(grants == 1, "one growth is asked for once");
    expect(control::Client::to_job(dyngrid_job()).call("status", {}).at("asks").is_null(), "what was granted is free");
    is_over = true;
    scheduler.join();
  }
  set_mark("over");
  say("granted: right");
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "";
  if (kind == "forged" && my_invitation() && !std::getenv("DYNGRID_TEST_SECOND")) forge(argc > 2 ? argv[2] : "");
  if (kind == "starting" && my_invitation() && !std::getenv("DYNGRID_TEST_SECOND") &&
      must_die(std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"))))
    die_in(std::atoi(std::getenv("DYNGRID_TEST_US")) / 1000);
  if (kind == "unheard" && my_invitation() && std::getenv("DYNGRID_TEST_SECOND") && argc > 2 &&
      open(argv[2], O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
    pause();
  if (kind == "deaf" && my_invitation() && !std::getenv("DYNGRID_TEST_SECOND")) {
    MPI_Init(&argc, &argv); // which connects to mpirun
    is_deaf = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")) == 1;
  }
  const bool is_second = my_invitation() && Invitation(my_invitation()).group == 2;
  const int begun = dyngrid_init();
  if (kind == "deaf" && begun != DYNGRID_SUCCESS) return MPI_Finalize();
  expect(begun == DYNGRID_SUCCESS, "dyngrid_init");
  must_fail = dyngrid_is_newcomer() && !std::getenv("DYNGRID_TEST_SECOND");
  if (must_fail && (kind == "early" || kind == "unheard")) die();
  if (must_fail && (kind == "never" || (kind == "called" && is_second))) set_mark(std::to_string(getpid()));
  if (must_fail && (kind == "never" || kind == "starting")) sleep(1000);
  if (must_fail && (kind == "exits" || kind == "aborts")) {
    const int rank = follow::world_rank();
    if (rank == 1 && kind == "exits") _exit(3);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
    sleep(1000);
  }
  dyngrid_matrix* a = follow::create("a", 'd', 153, 97, 4, 3);
  int step = 0;
  expect(!dyngrid_share("step", &step, sizeof step), "share");

  if (kind == "follow") {
    std::vector<std::pair<int, int>> shapes;
    for (int i = 2; i < argc; ++i) {
      int r = 0, c = 0;
      expect(std::sscanf(argv[i], "%dx%d", &r, &c) == 2, "shape");
      shapes.emplace_back(r, c);
    }
    int outcome = DYNGRID_SAME, meanwhile = 0;
    if (dyngrid_is_newcomer())
      outcome = resize_point();
    else
      follow::fill(a, 'd', 0);
    while (outcome != DYNGRID_LEAVE) {
      expect(outcome >= 0, "change of the grid");
      int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
      dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
      if (step > 0)
        expect(nprow == shapes[static_cast<std::size_t>(step - 1)].first &&
                   npcol == shapes[static_cast<std::size_t>(step - 1)].second,
               "shape");
      expect(follow::wrong(a, 'd', step) == 0, "elements on grid " + std::to_string(step));
      say("grid " + std::to_string(nprow) + "x" + std::to_string(npcol) + " right, " + std::to_string(meanwhile) +
          " steps meanwhile");
      if (step == static_cast<int>(shapes.size())) break;
      follow::fill(a, 'd', ++step);
      const auto to = shapes[static_cast<std::size_t>(step - 1)];
      const bool grows = to.first * to.second > nprow * npcol;
      outcome = change_to(to.first, to.second, 2, &meanwhile);
      if (grows && !std::getenv("TEST_MAY_BE_AWAKE") && outcome == DYNGRID_RESIZED)
        expect(meanwhile > 0, "the application computed on while new processes came");
    }
    return dyngrid_finalize() == DYNGRID_SUCCESS ? 0 : 1;
  }

  if (kind == "end") {
    if (dyngrid_is_newcomer()) {
      expect(resize_point() == DYNGRID_LEAVE, "the request has ended");
    } else {
      expect(!dyngrid_request(2, 2) && resize_point() == DYNGRID_SAME, "sent for");
      usleep(1000 * static_cast<useconds_t>(argc > 2 ? std::atoi(argv[2]) : 0));
      say("end: right, while they were on their way");
    }
    return dyngrid_finalize();
  }
  if (kind == "neighbour") return with_neighbours(a);
  if (kind == "moment") return moment(a);
  if (kind == "server") return after_the_server(a);
  if (kind == "twice" || kind == "experiment") return asked_twice(a);
  if (kind == "granted") return granted(a);

  const auto check_grid = [&](int rows, int cols) {
    int nprow = 0, npcol = 0;
    dyngrid_grid(&nprow, &npcol, nullptr, nullptr);
    expect(nprow == rows && npcol == cols, "grid");
    expect(follow::wrong(a, 'd', 5) == 0, "data");
  };
  if (dyngrid_is_newcomer()) {
    if (must_fail && kind == "ready") {
      set_mark(std::to_string(getpid()));
      die_in(500); // by then it is ready; if not, it is as `early`
    }
    const int outcome = resize_point();
    if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
    expect(outcome == DYNGRID_RESIZED && !(must_fail && kind != "held" && kind != "asleep"), "a new process joins");
  } else {
    follow::fill(a, 'd', 5);
    int meanwhile = 0, rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    if (kind == "held" || kind == "asleep") {
      expect(change_to(2, 2, 2, &meanwhile) == DYNGRID_RESIZED, "growth");
    } else {
      if (std::getenv("DYNGRID_CHECKPOINT")) expect(!dyngrid_checkpoint(nullptr), "checkpoint");
      int status = DYNGRID_SAME;
      if (kind == "ready") { // the new processes are ready, and end before the application reaches a resize point
        expect(!dyngrid_request(2, 2) && resize_point() == DYNGRID_SAME, "sent for");
        if (rank == 0) await_ends(2);
        MPI_Barrier(dyngrid_comm());
        while ((status = resize_point()) == DYNGRID_SAME) usleep(2000);
      } else if (kind == "memory") { // the new processes have their invitation
        expect(!dyngrid_request(2, 2) && resize_point() == DYNGRID_SAME, "sent for");
        has_no_memory = rank == 0;
        while ((status = resize_point()) == DYNGRID_SAME) usleep(2000);
        expect(!has_no_memory, "an invitation failed");
      } else {
        status = change_to(2, 2, 2, &meanwhile);
      }
      if (rank == 1)
        std::printf("%s: status %d (%s) after %d steps: %s\n", kind.c_str(), status, dyngrid_status_string(status),
                    meanwhile, dyngrid_last_message());
      std::fflush(stdout);
      expect(status == (kind == "never"    ? DYNGRID_ERR_TIMEOUT
                        : kind == "memory" ? DYNGRID_ERR_MEMORY
                                           : DYNGRID_ERR_SPAWN),
             "status of a growth that fails");
      check_grid(1, 2);
      setenv("DYNGRID_TEST_SECOND", "1", 1);
      if (kind == "unheard" && rank == 0) unlink(argv[2]);
      // PMIx 4.2 may keep the event of a dead process's socket, and the next process that gets it hangs (linger.hpp)
      int tries = kind == "unheard" ? 3 : 0; // of four
      while ((status = change_to(2, 2, 2, &meanwhile)) == DYNGRID_ERR_TIMEOUT && ++tries < 4) continue;
      expect(status == DYNGRID_RESIZED, "a good growth afterwards");
    }
  }
  if (kind == "asleep") {
    expect(!dyngrid_checkpoint(nullptr), "checkpoint");
    int sleeper = dyngrid_process_id() == 3 ? getpid() : 0;
    MPI_Allreduce(MPI_IN_PLACE, &sleeper, 1, MPI_INT, MPI_MAX, dyngrid_comm());
    expect(dyngrid_resize_without(1, 3, DYNGRID_OPTIMAL, "3") == DYNGRID_RESIZED, "one of the group sleeps");
    if (dyngrid_is_first() != 0) kill(sleeper, SIGKILL);
    check_grid(1, 3);
    for (double sum = 1, all = 0;;) MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, dyngrid_comm());
  }
  if (kind == "held") {
    expect(!dyngrid_checkpoint(nullptr), "checkpoint");
    check_grid(2, 2);
    int rank = 0;
    MPI_Comm_rank(dyngrid_comm(), &rank);
    MPI_Barrier(dyngrid_comm());
    if (must_fail && rank == 3) die();
    for (double sum = 1, all = 0;;)
      MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, dyngrid_comm()); // which one of them never enters
  }
  check_grid(2, 2);
  say(kind + ": the second growth is right");
  return dyngrid_finalize();
}
