// SPDX-License-Identifier: BSD-3-Clause
// The rendezvous of new processes and the application, with malicious neighbours. No MPI.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../without_threads.hpp"
#include "base/tcp.hpp"
#include "control/strangers.hpp"
#include "processes/launchers/rendezvous.hpp"
#include "raw_socket.hpp"

using blacs_dyn::Peer;
using blacs_dyn::Presence;
using blacs_dyn::Rendezvous;
using blacs_dyn::RendezvousAddress;

namespace {

constexpr int group = 7, processes = 3;

/// A rendezvous that group 7 of three processes was invited to.
struct Host {
  std::string loss; ///< once losses is 1
  std::atomic<int> losses{0};
  Rendezvous rendezvous;
  std::string invitation;
  explicit Host(const std::string& listen = "tcp:127.0.0.1")
      : rendezvous(listen,
                   [this](const std::string& text) {
                     loss = text;
                     ++losses;
                   }),
        invitation(rendezvous.invite(group, processes)) {}
  RendezvousAddress place() const { return RendezvousAddress::parse(invitation.substr(0, invitation.rfind('|'))); }
  bool hold(double limit_s = 60, int held = group) {
    std::string why;
    return rendezvous.hold(held, limit_s, &why);
  }
  Presence presence() const { return rendezvous.presence(group, nullptr); }
};

int raw_connection(const RendezvousAddress& place) {
  return base::connect_tcp(place.host, place.port, base::Deadline(-1)).release();
}

/// The answer to a connection that sends this line, before it is closed.
std::string answer_to(const RendezvousAddress& place, const std::string& line) {
  const int fd = raw_connection(place);
  EXPECT_GE(fd, 0);
  send(fd, line.data(), line.size(), MSG_NOSIGNAL);
  const std::string text = all_that_comes(fd);
  close(fd);
  return text;
}

} // namespace

TEST(Rendezvous, LetsInWhoWasInvitedAndHearsThatTheyAreReady) {
  for (const char* listen : {"unix", "tcp:127.0.0.1", "tcp"}) {
    Host host(listen);
    Peer first(host.invitation, 0, 10), second(host.invitation, 1, 10), third(host.invitation, 2, 10);
    EXPECT_EQ(host.presence(), Presence::awaited);
    first.send("ready");
    EXPECT_TRUE(eventually([&] { return host.presence() == Presence::ready; })) << listen;
    EXPECT_TRUE(host.rendezvous.send(group, "come here"));
    EXPECT_TRUE(eventually([&] { return first.listen() == "come here"; }));
    EXPECT_EQ(host.losses, 0);
  }
}

TEST(Rendezvous, EachUnitHasAWordOfItsOwn) {
  Host host;
  std::set<std::string> words{host.place().token};
  for (int other = 8; other < 20; ++other) {
    const std::string invitation = host.rendezvous.invite(other, 1);
    words.insert(RendezvousAddress::parse(invitation.substr(0, invitation.rfind('|'))).token);
  }
  EXPECT_EQ(words.size(), 13u);
  for (const std::string& word : words) EXPECT_EQ(word.size(), 32u); // 128 bits
}

TEST(Rendezvous, AWordIsGoodOnceForEachProcessAndForItsUnitOnly) {
  Host host;
  const std::string word = host.place().token;
  host.rendezvous.invite(8, 2);
  const Peer first(host.invitation, 0, 10);
  EXPECT_TRUE(host.hold()); // from here on the end of one of its processes is the end of all
  const auto hello = [&](const std::string& said, int id, int rank) {
    return "hello " + said + " " + std::to_string(id) + " " + std::to_string(rank) + " evil 1\n";
  };
  EXPECT_EQ(answer_to(host.place(), hello(word, group, 0)), "") << "a second time";
  EXPECT_EQ(answer_to(host.place(), hello(word, 8, 0)), "") << "another group's";
  EXPECT_EQ(answer_to(host.place(), hello(word, 99, 0)), "") << "never sent for";
  EXPECT_EQ(answer_to(host.place(), hello(word, 0, 0)), "");
  EXPECT_EQ(answer_to(host.place(), hello("", 0, 0)), "");
  for (const int rank : {-1, processes, 77, 2147483647})
    EXPECT_EQ(answer_to(host.place(), hello(word, group, rank)), "") << rank;
  EXPECT_EQ(answer_to(host.place(), hello(word.substr(1), group, 1)), "");
  EXPECT_EQ(answer_to(host.place(), hello(word + "0", group, 1)), "");
  EXPECT_EQ(answer_to(host.place(), "hello " + word + " 99999999999999999999 1 evil 1\n"), "");
  EXPECT_EQ(answer_to(host.place(), "GET / HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(answer_to(host.place(), "ready\n"), "");
  const Peer second(host.invitation, 1, 10);
  EXPECT_EQ(host.losses, 0) << "the end of a process that did not join is no loss";
  host.rendezvous.let_go(group);
}

TEST(Rendezvous, AProcessThatHasEndedIsNotHeld) {
  for (int round = 0; round < 20; ++round) { // whether the host's thread has seen it or not
    Host host;
    const int fd = raw_connection(host.place());
    const std::string hello = "hello " + host.place().token + " 7 0 host 1\n";
    send(fd, hello.data(), hello.size(), MSG_NOSIGNAL);
    char answer[64] = "";
    EXPECT_GT(recv(fd, answer, sizeof answer, 0), 0);
    close(fd);
    EXPECT_FALSE(host.hold());
    EXPECT_EQ(host.losses, 0);
  }
}

TEST(Rendezvous, AGroupThatWasSentAwayIsNotHeld) {
  Host host;
  const Peer first(host.invitation, 0, 10);
  host.rendezvous.dismiss(group);
  EXPECT_FALSE(host.hold());
}

TEST(Rendezvous, NamesOfAnyLength) {
  Host host;
  const std::string name(200, 'h'), mpirun(100, 'm');
  const int fd = raw_connection(host.place());
  const std::string hello = "hello " + host.place().token + " 7 0 " + name + " 1 " + mpirun + "\n";
  ASSERT_EQ(send(fd, hello.data(), hello.size(), MSG_NOSIGNAL), static_cast<ssize_t>(hello.size()));
  char answer[64] = "";
  EXPECT_GT(recv(fd, answer, sizeof answer - 1, 0), 0) << "the connection is closed";
  EXPECT_EQ(host.rendezvous.origin(group).host, name);
  EXPECT_EQ(host.rendezvous.origin(group).mpirun, mpirun);
  close(fd);
}

TEST(Rendezvous, ProcessesWithoutAGroupAreNotifiedOfTheEnd) {
  Host host;
  const std::string invitation = host.rendezvous.invite_without_group(2);
  Peer process(invitation, 0, 10);
  process.send("ready x");
  process.send("not x");
  const Peer other(invitation, 1, 10);
  Peer first(host.invitation, 0, 10);
  EXPECT_TRUE(host.hold());
  { const Peer leaves(host.rendezvous.invite_without_group(1), 0, 10); }
  EXPECT_EQ(host.losses, 0);
  host.rendezvous.let_go(group);
}

TEST(Rendezvous, AProcessWithoutAThreadIsGoneBeforeTheOthersConnect) {
  Host host;
  {
    const WithoutThreads none;
    std::string text;
    EXPECT_EQ(status_of([&] { const Peer first(host.invitation, 0, 10); }, &text), base::Status::io_failure);
    EXPECT_TRUE(says(text, "cannot start a thread"));
  }
  EXPECT_TRUE(eventually([&] { return host.presence() == Presence::gone; }));
  EXPECT_EQ(host.losses, 0);
}

TEST(Rendezvous, APeerThatDoesNotWatchEnds) {
  Host host;
  { const Peer leaves(host.rendezvous.invite_without_group(1), 0, 10); }
  Peer breaks_off(host.rendezvous.invite_without_group(1), 0, 10);
  breaks_off.break_off();
}

TEST(Rendezvous, AUnitThatIsNotWantedAnyMoreIsTold) {
  Host host;
  host.rendezvous.dismiss(group);
  const std::string text = message_of([&] { const Peer late(host.invitation, 0, 10); });
  EXPECT_TRUE(says(text, "the request for it has ended"));
  EXPECT_FALSE(says(text, host.place().token));
}

TEST(Rendezvous, ReadyBeforeAllHaveComeIsTheEndOfThatUnitAlone) {
  Host host;
  Peer first(host.invitation, 0, 10), second(host.invitation, 1, 10);
  second.send("ready"); // it may not send this
  first.send("ready");
  std::string why;
  EXPECT_TRUE(eventually([&] { return host.rendezvous.presence(group, &why) == Presence::gone; }));
  EXPECT_TRUE(says(why, "before all of it had connected"));
  EXPECT_EQ(host.losses, 0);
}

TEST(Rendezvous, ReadyInWordsOfItsOwnIsTheEndOfThatUnitAlone) {
  for (const char* bad : {"ready ", "ready abc", "readyready", "ready 99999999999999999999"}) {
    Host host;
    Peer first(host.invitation, 0, 10);
    const Peer second(host.invitation, 1, 10), third(host.invitation, 2, 10);
    first.send(bad);
    EXPECT_TRUE(eventually([&] { return host.presence() == Presence::gone; })) << bad;
    EXPECT_FALSE(host.hold()) << "what has gone is not waited for";
    EXPECT_EQ(host.losses, 0);
  }
}

TEST(Rendezvous, AGroupThatDoesNotJoinInTimeEndsTheApplication) {
  Host host;
  const Peer first(host.invitation, 0, 10), second(host.invitation, 1, 10), third(host.invitation, 2, 10);
  EXPECT_TRUE(host.hold(0.1));
  EXPECT_TRUE(eventually([&] { return host.losses == 1; }));

  // the time of a group that has joined, and of one that may go, is over before that of a late one
  constexpr int joined = group, sent_away = 8, late = 9;
  constexpr double limit_s = 2;
  Host others;
  others.rendezvous.invite(sent_away, 1);
  others.rendezvous.invite(late, 1);
  const Peer its_first(others.invitation, 0, 10);
  EXPECT_TRUE(others.hold(limit_s, joined));
  others.rendezvous.has_come(joined);
  EXPECT_TRUE(others.hold(limit_s, sent_away));
  others.rendezvous.let_go(sent_away);
  EXPECT_TRUE(others.hold(limit_s, late));
  EXPECT_TRUE(eventually([&] { return others.losses == 1; }));
  EXPECT_TRUE(says(others.loss, "process group 9 "));
}

TEST(Rendezvous, AThousandThatSayNothing) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  Host host;
  std::vector<int> silent;
  for (int i = 0; i < 1000; ++i) {
    silent.push_back(raw_connection(host.place()));
    ASSERT_GE(silent.back(), 0) << i;
    if (i % 300 == 150) { // in between, and afterwards, invited processes get in
      const Peer newcomer(host.invitation, i / 300, 20);
    }
  }
  const std::string invitation = host.rendezvous.invite_without_group(1);
  const Peer process(invitation, 0, 20);
  int alive = 0;
  for (const int fd : silent) {
    pollfd one{fd, POLLIN, 0};
    alive += poll(&one, 1, 0) == 0 ? 1 : 0;
  }
  EXPECT_LE(alive, 64);
  for (const int fd : silent) close(fd);
  EXPECT_EQ(host.losses, 0);
}

TEST(Rendezvous, ALineWithoutAnEnd) {
  Host host;
  const int fd = raw_connection(host.place());
  const std::string block(4096, 'x');
  bool is_hung_up = false;
  for (int i = 0; i < 2560 && !is_hung_up; ++i)
    is_hung_up = send(fd, block.data(), block.size(), MSG_NOSIGNAL) < 0; // ten megabytes
  EXPECT_TRUE(is_hung_up || all_that_comes(fd).empty());
  close(fd);
  const Peer newcomer(host.invitation, 0, 10);
  // an accepted connection that then sends as much is lost, and only its group
  const int known = raw_connection(host.place());
  const std::string hello = "hello " + host.place().token + " 7 1 host 1\n";
  send(known, hello.data(), hello.size(), MSG_NOSIGNAL);
  for (int i = 0; i < 2560; ++i)
    if (send(known, block.data(), block.size(), MSG_NOSIGNAL) < 0) break;
  EXPECT_TRUE(eventually([&] { return host.presence() == Presence::gone; }));
  close(known);
  EXPECT_EQ(host.losses, 0);
}

TEST(Rendezvous, WithoutADescriptorLeftItWaitsUntilThereIsOne) {
  std::array<int, 2> told{}, sent{};
  ASSERT_EQ(pipe(told.data()), 0);
  ASSERT_EQ(pipe(sent.data()), 0);
  const pid_t newcomer = fork();
  if (newcomer == 0) {
    std::array<char, 256> invitation{}, answer{};
    if (read(told[0], invitation.data(), invitation.size() - 1) <= 0) _exit(2);
    const std::string text = invitation.data();
    const RendezvousAddress place = RendezvousAddress::parse(text.substr(0, text.rfind('|')));
    const int fd = raw_connection(place);
    const std::string hello = "hello " + place.token + " 7 0 host 1\n";
    if (send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) < 0 || write(sent[1], "s", 1) != 1) _exit(3);
    _exit(recv(fd, answer.data(), answer.size(), 0) > 0 ? 0 : 1);
  }
  Host host;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &low);
  std::vector<int> taken;
  for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) taken.push_back(fd);
  EXPECT_EQ(errno, EMFILE);
  ASSERT_GT(write(told[1], host.invitation.data(), host.invitation.size()), 0);
  char mark = 0;
  EXPECT_EQ(read(sent[0], &mark, 1), 1); // its line waits to be read
  for (const int fd : taken) close(fd);
  int status = -1;
  waitpid(newcomer, &status, 0);
  EXPECT_EQ(status, 0);
  setrlimit(RLIMIT_NOFILE, &before);
  for (const int fd : {told[0], told[1], sent[0], sent[1]}) close(fd);
}

TEST(Strangers, PauseWithoutADescriptorLeft) {
  const base::TcpListener tcp = base::listen_tcp("127.0.0.1");
  const int listener = tcp.fd.get();
  control::StrangerLimits limits;
  limits.pause_s = 0.3;
  control::Strangers strangers(limits);
  const auto nobody = [](int, const std::string&, std::string) { ADD_FAILURE(); };
  const auto polled = [&] {
    std::vector<pollfd> all;
    strangers.add_to(all, listener);
    return all;
  };
  const int fd = base::connect_tcp("127.0.0.1", tcp.port, base::Deadline(-1)).release();
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &low);
  strangers.serve(listener, nobody);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(polled().size(), 1u) << "the listener alone";
  EXPECT_EQ(polled()[0].fd, -1) << "a poll that looks at the listener would return at once, again and again";
  EXPECT_TRUE(eventually([&] { return polled()[0].fd == listener; }));
  strangers.serve(listener, nobody);
  EXPECT_EQ(polled().size(), 2u);
  close(fd);
  strangers.serve(listener, nobody);
  EXPECT_EQ(polled().size(), 1u);
}

TEST(Strangers, SilenceAndSlownessAreGivenUp) {
  Host host; // the limits are those of the rendezvous: 5 s
  const int silent = raw_connection(host.place()), slow = raw_connection(host.place());
  std::atomic<bool> is_over{false};
  std::thread drips([&] {
    for (; !is_over; std::this_thread::sleep_for(std::chrono::milliseconds(100))) send(slow, "h", 1, MSG_NOSIGNAL);
  });
  EXPECT_EQ(all_that_comes(silent), "");
  EXPECT_EQ(all_that_comes(slow), "");
  is_over = true;
  drips.join();
  close(silent);
  close(slow);
}

TEST(Strangers, SecretsAreComparedAsAWhole) {
  EXPECT_TRUE(control::is_same_secret("0123", "0123"));
  for (const char* said : {"", "0", "0124", "1123", "012", "01234"})
    EXPECT_FALSE(control::is_same_secret(said, "0123")) << said;
  EXPECT_FALSE(control::is_same_secret("", "")) << "no word was given out";
}

TEST(Rendezvous, LeavesNothingInTheTemporaryFolder) {
  char folder[] = "/tmp/dyngrid-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const char* was = std::getenv("TMPDIR");
  const std::string before = was ? was : "";
  setenv("TMPDIR", folder, 1);
  const pid_t child = fork();
  if (child == 0) {
    try {
      Host host("unix");
      const Peer peer(host.invitation, 0, 10);
      kill(getpid(), SIGKILL);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(1); // must not continue as a second run of all tests
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child was to be killed while a peer was there";
  if (was)
    setenv("TMPDIR", before.c_str(), 1);
  else
    unsetenv("TMPDIR");
  EXPECT_EQ(rmdir(folder), 0) << "something is in it";
}

TEST(Rendezvous, ListensOnTheAddressThatItTells) {
  Host host("tcp");
  char port[16];
  std::snprintf(port, sizeof port, ":%04X", host.place().port);
  std::ifstream sockets("/proc/net/tcp");
  int found = 0;
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(port);
    if (at == std::string::npos || line.find(" 0A ") == std::string::npos || at > 20) continue;
    ++found;
    EXPECT_FALSE(says(line, "00000000" + std::string(port))) << "it listens on all addresses: " << line;
  }
  EXPECT_EQ(found, 1);
}

TEST(Rendezvous, AnotherUserIsNotLetIn) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  Host host("unix");
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    try {
      const Peer peer(host.invitation, 0, 0.2);
      _exit(1);
    } catch (const std::exception&) {
      _exit(0);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Rendezvous, PlacesInText) {
  for (const char* good : {"unix:@name?0a", "tcp:10.0.0.1:4711?0a"})
    EXPECT_EQ(RendezvousAddress::parse(good).text(), good);
  for (const char* bad : {"", "unix:@n", "unix:/tmp/s?0a", "unix:@?0a", "tcp:4711?0a", "tcp:10.0.0.1:0?0a",
                          "tcp:10.0.0.1:70000?0a", "tcp:10.0.0.1:1?", "tcp:10.0.0.1:47x?0a"}) {
    const base::Error error = thrown_by([&] { RendezvousAddress::parse(bad); });
    EXPECT_NE(error.status(), base::Status::success) << bad;
    EXPECT_FALSE(says(error.what(), "0a")) << "a word has no place in a message";
  }
  for (const char* bad : {"", "x", "tcp:10.0.0.1:4711?0a", "tcp:10.0.0.1:4711?0a|", "tcp:10.0.0.1:4711?0a|x",
                          "tcp:10.0.0.1:4711?0a|7x", "tcp:10.0.0.1:4711?0a|99999999999"})
    EXPECT_THROW(Peer(bad, 0, 1), base::Error) << bad;
}
