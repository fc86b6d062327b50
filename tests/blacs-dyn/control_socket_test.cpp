// SPDX-License-Identifier: BSD-3-Clause
// The socket of a job: which users get access, the effect of a bad client (none), and the client's side. The server
// runs in a thread of this process. Last, the address by which others reach this host.
#include <gtest/gtest.h>

#include <memory>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../errors.hpp"
#include "../temporary_folder.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "control/client.hpp"
#include "control/host.hpp"
#include "control/line_server.hpp"
#include "control/protocol.hpp"
#include "control/runtime_dir.hpp"
#include "raw_socket.hpp"

namespace {

using base::Status;
using control::Client;
using control::Json;
using control::LineServer;

/// A directory of its own as the runtime directory.
struct Directory : TemporaryFolder {
  Directory() { setenv("DYNGRID_RUNTIME_DIR", path.c_str(), 1); }
  ~Directory() { unsetenv("DYNGRID_RUNTIME_DIR"); }
};

/// Answers {"op":"echo"} with the request's "say", "flood" with as many bytes as asked, anything else with the error of
/// the parser.
class Echo {
public:
  explicit Echo(const std::string& directory, control::ServerLimits limits = {},
                const std::string& name = "job-echo.sock")
      : server_(directory, name,
                {[this](LineServer::Client c, std::string_view line) { answer(c, line); },
                 [this](LineServer::Client) { ++gone; }},
                std::move(limits)),
        thread_([this] {
          while (!stop_) server_.serve(-1);
        }) {}
  ~Echo() {
    stop_ = true;
    server_.interrupt();
    thread_.join();
  }
  std::atomic<int> gone{0};

private:
  void answer(LineServer::Client client, std::string_view line) {
    try {
      const control::Request request = control::parse_request(line);
      if (request.op == "flood") {
        const std::string block(10000, 'x');
        for (int i = 0; i < 1000 && server_.send(client, control::to_line(Json{{"event", block}})); ++i) continue;
        return;
      }
      server_.send(client, control::to_line(control::reply(request.id, {{"said", control::text(request, "say", "")}})));
    } catch (const std::exception& error) {
      server_.send(client, control::to_line(control::failure(std::nullopt, error)));
    }
  }
  LineServer server_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

int raw_connection(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

std::string say(Client& client, const std::string& text) {
  return client.call("echo", {{"say", text}})["said"].get<std::string>();
}

} // namespace

TEST(Socket, AnswersSeveralClientsInTurn) {
  const Directory directory;
  const Echo echo(directory.path);
  Client first = Client::to_job("echo"), second = Client::to_job("echo");
  EXPECT_EQ(say(first, "one"), "one");
  EXPECT_EQ(say(second, "two"), "two");
  EXPECT_EQ(say(first, "three \"quoted\" \xc3\xa9"), "three \"quoted\" \xc3\xa9");
}

TEST(Socket, IsPrivate) {
  const Directory directory;
  const Echo echo(directory.path);
  struct stat found {};
  ASSERT_EQ(stat((directory.path + "/job-echo.sock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_EQ(found.st_uid, geteuid());
}

TEST(Socket, DirectoryMustBePrivate) {
  const Directory directory;
  std::string text;
  chmod(directory.path.c_str(), 0750);
  EXPECT_EQ(status_of([&] { control::require_private_directory(directory.path); }, &text), Status::io_failure);
  EXPECT_TRUE(says(text, "750"));
  chmod(directory.path.c_str(), 0700);
  control::require_private_directory(directory.path);
  const std::string link = directory.path + "/link", file = directory.path + "/file", made = directory.path + "/made";
  ASSERT_EQ(symlink(directory.path.c_str(), link.c_str()), 0);
  EXPECT_EQ(status_of([&] { control::require_private_directory(link); }), Status::io_failure);
  unlink(link.c_str());
  fclose(fopen(file.c_str(), "w"));
  EXPECT_EQ(status_of([&] { control::require_private_directory(file); }), Status::io_failure);
  unlink(file.c_str());
  control::require_private_directory(made);
  struct stat found {};
  ASSERT_EQ(stat(made.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  rmdir(made.c_str());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(directory.path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(status_of([&] { control::require_private_directory(directory.path); }, &text), Status::io_failure);
    EXPECT_TRUE(says(text, "belongs to user 65534"));
  }
}

TEST(Socket, AnotherUserIsRefused) {
  const Directory directory;
  control::ServerLimits limits;
  limits.peer = [](int, uid_t* uid) {
    *uid = geteuid() + 1;
    return true;
  };
  const Echo echo(directory.path, limits);
  std::string text;
  EXPECT_EQ(status_of(
                [] {
                  Client client = Client::to_job("echo");
                  client.call("echo", {});
                },
                &text),
            Status::unsupported);
  EXPECT_TRUE(says(text, "another user"));
}

TEST(Socket, AnotherUserDoesNotReachIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const Directory directory;
  const Echo echo(directory.path);
  const std::string path = directory.path + "/job-echo.sock";
  const auto as_nobody = [&] {
    const pid_t child = fork();
    if (child == 0) _exit(setgid(65534) == 0 && setuid(65534) == 0 && raw_connection(path) >= 0 ? 1 : 0);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  };
  EXPECT_EQ(as_nobody(), 0); // the directory denies access
  // and when both have been opened by mistake, the credentials of the connection deny it
  chmod(directory.path.c_str(), 0755);
  chmod(path.c_str(), 0666);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const int fd = raw_connection(path);
    _exit(fd >= 0 && all_that_comes(fd).find("another user") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  chmod(directory.path.c_str(), 0700);
}

TEST(Socket, AFolderThatOthersReachIsTold) {
  const Directory directory;
  const Echo echo(directory.path);
  const auto call = [] { Client::to_job("echo").call("echo", {}); };
  std::string text;
  EXPECT_EQ(status_of(call), Status::success);
  chmod(directory.path.c_str(), 0755); // another user may have put the socket there
  EXPECT_EQ(status_of(call, &text), Status::io_failure);
  EXPECT_TRUE(says(text, "has mode 755, expected 700"));
  chmod(directory.path.c_str(), 0700);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(directory.path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(status_of(call, &text), Status::io_failure);
  EXPECT_TRUE(says(text, "belongs to user 65534, expected 0"));
  ASSERT_EQ(chown(directory.path.c_str(), 0, 0), 0);
}

TEST(Socket, ASocketOfAnotherUserIsNotTalkedTo) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const Directory directory;
  const std::string path = directory.path + "/job-echo.sock";
  chmod(directory.path.c_str(), 0777);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t other = fork();
  if (other == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (setgid(65534) != 0 || setuid(65534) != 0 ||
        bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 8) != 0)
      _exit(1);
    (void)!write(ready[1], "", 1);
    for (;;) pause();
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  chmod(directory.path.c_str(), 0700); // taken over by its owner, with its contents
  std::string text;
  EXPECT_EQ(status_of([] { Client::to_job("echo"); }, &text), Status::io_failure);
  EXPECT_TRUE(says(text, "belongs to user 65534, expected 0"));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  for (const int fd : ready) close(fd);
  unlink(path.c_str());
}

TEST(Socket, NonsenseIsAnsweredAndTheConnectionLives) {
  const Directory directory;
  const Echo echo(directory.path);
  const int fd = raw_connection(directory.path + "/job-echo.sock");
  ASSERT_GE(fd, 0);
  const std::string lines[] = {"hello",
                               "[1,2]",
                               "{\"op\":",
                               "{\"op\":7}",
                               "{}",
                               "{\"op\":\"echo\",\"id\":1.5}",
                               "\xff\xfe{",
                               std::string("{\"op\":\"a\0b\"}", 12),
                               "{\"op\":\"echo\",\"say\":" + std::string(100, '[') + std::string(100, ']') + "}",
                               std::string(60000, '[')};
  std::string sent;
  for (const std::string& line : lines) sent += line + "\n";
  sent += "\n\n{\"op\":\"echo\",\"id\":9,\"say\":\"still here\"}\n";
  ASSERT_EQ(::send(fd, sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
  shutdown(fd, SHUT_WR); // as a pipe through netcat would
  const std::string text = all_that_comes(fd);
  close(fd);
  std::size_t failures = 0;
  for (std::size_t at = 0; (at = text.find("\"ok\":false", at)) != std::string::npos; ++at) ++failures;
  EXPECT_EQ(failures, std::size(lines)) << text;
  EXPECT_TRUE(says(text, "still here"));
}

TEST(Socket, HalfALineIsGivenUp) {
  const Directory directory;
  control::ServerLimits limits;
  limits.half_line_s = 0.2;
  const Echo echo(directory.path, limits);
  Client other = Client::to_job("echo");
  const int fd = raw_connection(directory.path + "/job-echo.sock");
  const std::string half = "{\"op\":\"echo\",\"say\":\"ha";
  ASSERT_EQ(::send(fd, half.data(), half.size(), 0), static_cast<ssize_t>(half.size()));
  EXPECT_EQ(say(other, "meanwhile"), "meanwhile");
  EXPECT_EQ(all_that_comes(fd), ""); // ends because the server closes the connection
  close(fd);
  EXPECT_EQ(say(other, "after"), "after"); // a client that is idle between lines is not dropped
}

TEST(Socket, ALineInPiecesIsOneLine) {
  const Directory directory;
  const Echo echo(directory.path);
  Client other = Client::to_job("echo");
  const int fd = raw_connection(directory.path + "/job-echo.sock");
  for (const char c : std::string("{\"op\":\"echo\",\"say\":\"slow\"}\n")) {
    ASSERT_EQ(::send(fd, &c, 1, 0), 1);
    if (c == ',') { // it has read so far
      EXPECT_EQ(say(other, "meanwhile"), "meanwhile");
    }
  }
  shutdown(fd, SHUT_WR);
  EXPECT_TRUE(says(all_that_comes(fd), "slow"));
  close(fd);
}

TEST(Socket, ALineThatIsTooLongIsRefused) {
  const Directory directory;
  const Echo echo(directory.path);
  const int fd = raw_connection(directory.path + "/job-echo.sock");
  const std::string block(4096, 'x');
  for (int i = 0; i < 1000 && ::send(fd, block.data(), block.size(), MSG_NOSIGNAL) > 0; ++i) continue;
  EXPECT_TRUE(says(all_that_comes(fd), "too long"));
  close(fd);
  Client other = Client::to_job("echo");
  EXPECT_EQ(say(other, "fine"), "fine");
}

TEST(Socket, WhoDoesNotReadIsDropped) {
  const Directory directory;
  Echo echo(directory.path);
  const int slow = raw_connection(directory.path + "/job-echo.sock");
  const std::string flood = "{\"op\":\"flood\"}\n";
  ASSERT_EQ(::send(slow, flood.data(), flood.size(), 0), static_cast<ssize_t>(flood.size()));
  EXPECT_TRUE(eventually([&] { return echo.gone > 0; }));
  Client other = Client::to_job("echo");
  EXPECT_EQ(say(other, "fine"), "fine");
  EXPECT_LT(all_that_comes(slow).size(), 4000000u); // ten megabytes were sent to it
  close(slow);
}

TEST(Socket, ThousandsOfConnections) {
  const Directory directory;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  const int count = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 4096)) - 600;
  ASSERT_GT(count, 300);
  control::ServerLimits limits;
  limits.connections = 64;
  Echo echo(directory.path, limits);
  Client early = Client::to_job("echo");
  EXPECT_EQ(say(early, "early"), "early");
  std::vector<int> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(raw_connection(directory.path + "/job-echo.sock")); // blocks while the queue is full, never fails
    ASSERT_GE(all.back(), 0) << i;
  }
  // the first 63 were accepted; the rest received a message
  std::string text = all_that_comes(all.back());
  EXPECT_TRUE(says(text, "busy"));
  for (const int fd : all) close(fd);
  EXPECT_EQ(say(early, "still"), "still");
  // One after the other there is no limit. A client is refused while closed connections are still in the queue: then it
  // tries again.
  for (int i = 0; i < 2000; ++i)
    ASSERT_TRUE(eventually([&] {
      try {
        Client client = Client::to_job("echo");
        return say(client, std::to_string(i)) == std::to_string(i);
      } catch (const base::Error&) {
        return false;
      }
    })) << i;
}

TEST(Socket, QuietClientsGiveWay) {
  const Directory directory;
  control::ServerLimits limits;
  limits.connections = 2;
  const Echo echo(directory.path, limits);
  Client first = Client::to_job("echo"), second = Client::to_job("echo");
  EXPECT_EQ(say(first, "a"), "a");
  EXPECT_EQ(say(second, "b"), "b");
  EXPECT_TRUE(eventually([&] { // the second one is not idle
    EXPECT_EQ(say(second, "b"), "b");
    try {
      Client third = Client::to_job("echo");
      return say(third, "c") == "c";
    } catch (const base::Error&) {
      return false;
    }
  }));
  EXPECT_EQ(say(second, "b"), "b");
  EXPECT_EQ(status_of([&] { say(first, "a"); }), Status::io_failure);
}

TEST(Socket, OneServerPerNameAndStaleOnesAreReplaced) {
  const Directory directory;
  const std::string path = directory.path + "/job-echo.sock";
  {
    const Echo echo(directory.path);
    std::string text;
    EXPECT_EQ(status_of([&] { const Echo again(directory.path); }, &text), Status::bad_state);
    EXPECT_TRUE(says(text, "in use"));
    Client client = Client::to_job("echo");
    EXPECT_EQ(say(client, "first"), "first");
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0); // removed at the end
  // the remains of a killed process
  const pid_t child = fork();
  if (child == 0) {
    const Echo echo(directory.path);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(access(path.c_str(), F_OK), 0);
  std::vector<control::FoundJob> jobs = control::find_jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "echo");
  EXPECT_FALSE(jobs[0].is_alive);
  EXPECT_EQ(status_of([] { Client::to_job("echo"); }), Status::not_found);
  {
    const Echo echo(directory.path);
    Client client = Client::to_job("echo");
    EXPECT_EQ(say(client, "second"), "second");
    jobs = control::find_jobs();
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_TRUE(jobs[0].is_alive);
    EXPECT_FALSE(control::remove_stale(jobs[0])); // a process listens: it stays
    EXPECT_EQ(say(client, "third"), "third");
  }
  if (fork() == 0) {
    const Echo echo(directory.path);
    kill(getpid(), SIGKILL);
  }
  wait(nullptr);
  jobs = control::find_jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_TRUE(control::remove_stale(jobs[0]));
  EXPECT_TRUE(control::find_jobs().empty());
}

TEST(Socket, AForkDoesNotTakeItAway) {
  const Directory directory;
  LineServer server(directory.path, "job-fork.sock", {[](LineServer::Client, std::string_view) {}, {}});
  const pid_t child = fork();
  if (child == 0) {
    {
      LineServer moved_nowhere(directory.path, "job-other.sock", {[](LineServer::Client, std::string_view) {}, {}});
    }
    server.~LineServer();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(access((directory.path + "/job-fork.sock").c_str(), F_OK), 0);
}

TEST(Socket, AHeldLockHoldsNothingUp) {
  const Directory directory;
  const int lock = open((directory.path + "/.lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(lock, 0);
  auto echo = std::make_unique<Echo>(directory.path);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  echo.reset(); // the end needs no lock
  EXPECT_NE(access((directory.path + "/job-echo.sock").c_str(), F_OK), 0);
  std::string text;
  EXPECT_EQ(status_of([&] { const Echo again(directory.path); }, &text), Status::io_failure);
  EXPECT_TRUE(says(text, ".lock has been held by another process for 2 s"));
  EXPECT_FALSE(control::remove_stale({"echo", directory.path + "/job-echo.sock", false}));
  close(lock);
  const Echo again(directory.path);
  Client client = Client::to_job("echo");
  EXPECT_EQ(say(client, "later"), "later");
}

TEST(Socket, TheNextOneTakesAwayWhatTheKilledLeft) {
  const Directory directory;
  const LineServer::Handler nothing{[](LineServer::Client, std::string_view) {}, {}};
  const LineServer alive(directory.path, "job-alive.sock", nothing);
  for (const char* name : {"job-17.sock", "sched.sock"}) {
    const pid_t child = fork();
    if (child == 0) {
      const LineServer server(directory.path, name, nothing);
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  fclose(fopen((directory.path + "/job-notes.sock").c_str(), "w")); // no socket: not one of ours
  const auto is_there = [&](const char* name) { return access((directory.path + "/" + name).c_str(), F_OK) == 0; };
  EXPECT_TRUE(is_there("sched.sock"));
  {
    const LineServer next(directory.path, "job-next.sock", nothing);
    EXPECT_FALSE(is_there("job-17.sock") || is_there("sched.sock"));
    EXPECT_TRUE(is_there("job-alive.sock") && is_there("job-notes.sock") && is_there("job-next.sock"));
  }
  unlink((directory.path + "/job-notes.sock").c_str());
}

TEST(Socket, WithoutADescriptorLeftItRests) {
  const Directory directory;
  int lines = 0;
  LineServer server(directory.path, "job-poor.sock", {[&](LineServer::Client, std::string_view) { ++lines; }, {}});
  const int fd = raw_connection(directory.path + "/job-poor.sock");
  ASSERT_GE(fd, 0);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &low);
  server.serve(1); // finds that it cannot
  int worked = 0;
  for (int i = 0; i < 1000; ++i) worked += server.serve(0) ? 1 : 0;
  EXPECT_LT(worked, 900) << "a caller that waits for something to do would burn its core";
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(::send(fd, "\n{}\n", 4, MSG_NOSIGNAL), 4);
  for (int i = 0; i < 1000 && lines == 0; ++i) server.serve(0.01);
  EXPECT_EQ(lines, 1) << "accepted now";
  close(fd);
}

TEST(Socket, PathsThatAreTooLong) {
  const Directory directory;
  std::string text;
  EXPECT_EQ(status_of(
                [&] {
                  LineServer(directory.path, std::string(100, 'x'), {[](LineServer::Client, std::string_view) {}, {}});
                },
                &text),
            Status::bad_argument);
  EXPECT_TRUE(says(text, "DYNGRID_RUNTIME_DIR"));
}

TEST(Socket, Names) {
  for (const char* name : {"4711", "a", "my-job_2.x"}) control::check_job_name(name, "DYNGRID_JOB");
  for (const char* name : {"heat", "heat/pool2"}) control::check_job_or_pool(name, "job");
  for (const char* name : {"heat/", "/pool2", "heat/pool2/x", "heat/a b", "heat/123456789012345678901"})
    EXPECT_EQ(status_of([&] { control::check_job_or_pool(name, "job"); }), Status::bad_argument) << name;
  for (const char* name :
       {"", ".hidden", "-x", "../x", "a/b", "a b", "a\nb", "0123456789012345678901234567890123456789x"})
    EXPECT_EQ(status_of([&] { control::check_job_name(name, "DYNGRID_JOB"); }), Status::bad_argument) << name;
  EXPECT_EQ(status_of([] { Client::to_job("../../etc/passwd"); }), Status::bad_argument);
}

TEST(ProtocolText, NumbersOf64BitsComeBackAsTheyAre) {
  for (const char* number : {"0", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615",
                             "-9223372036854775808"}) {
    const std::string id = number;
    const control::Request request = control::parse_request("{\"op\":\"x\",\"id\":" + id + "}");
    EXPECT_EQ(control::to_line(control::reply(request.id, Json::object())), "{\"id\":" + id + ",\"ok\":true}\n");
    EXPECT_EQ(control::failure(request.id, Status::timeout, "late")["id"].dump(), id);
  }
  for (const char* id : {"18446744073709551616", "1.5", "1e3", "\"1\"", "[]"})
    EXPECT_EQ(status_of([&] { control::parse_request(std::string("{\"op\":\"x\",\"id\":") + id + "}"); }),
              Status::bad_argument)
        << id;
  EXPECT_EQ(control::to_line(control::reply(std::nullopt, Json::object())), "{\"id\":null,\"ok\":true}\n");
}

TEST(Printable, WhatATerminalMayHave) {
  for (const char* text : {"", "plain text 1.5 \\x", "Größe", "漢字", "\xf0\x9f\x98\x80", "\xc2\xa0"})
    EXPECT_EQ(base::printable(text), text);
  EXPECT_EQ(base::printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(base::printable("a\nb\tc\r\x7f\a"), "a\\x0ab\\x09c\\x0d\\x7f\\x07");
  EXPECT_EQ(base::printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(base::printable("\xc2\x9b"
                            "31m"),
            "\\xc2\\x9b31m")
      << "CSI in one character";
  EXPECT_EQ(base::printable("\x9b"
                            "31m"),
            "\\x9b31m")
      << "and in one byte";
  EXPECT_EQ(base::printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "longer than it need be";
  EXPECT_EQ(base::printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right to left";
  EXPECT_EQ(base::printable("\xc3"), "\\xc3");
  EXPECT_EQ(base::printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(Printable, NamesOfJobsInMessages) {
  for (const char* name : {"a\x1b[2J", "a\nb", "a\x7f", "a\xc2\x9b"}) {
    std::string text;
    EXPECT_EQ(status_of([&] { control::check_job_name(name, "DYNGRID_JOB"); }, &text), Status::bad_argument);
    EXPECT_EQ(base::printable(text), text) << "may be shown";
  }
}

TEST(ProtocolText, RequestsAndTheirMembers) {
  const control::Request request =
      control::parse_request("{\"id\":3,\"op\":\"resize\",\"grid\":[2,3],\"by\":4,\"deadline_s\":2.5,\"force\":true,"
                             "\"placement\":\"local1\",\"new\":{}}");
  EXPECT_EQ(request.id, control::RequestId(std::uint64_t{3}));
  EXPECT_EQ(request.op, "resize");
  EXPECT_EQ(control::grid(request, "grid").nprow, 2);
  EXPECT_EQ(control::grid(request, "grid").npcol, 3);
  EXPECT_EQ(control::whole_number(request, "by", 1, 10), 4);
  EXPECT_EQ(control::seconds(request, "deadline_s", 7), 2.5);
  EXPECT_EQ(control::seconds(request, "absent", 7), 7);
  EXPECT_TRUE(control::flag(request, "force"));
  EXPECT_FALSE(control::flag(request, "absent"));
  EXPECT_EQ(control::text(request, "placement", "optimal"), "local1");
  EXPECT_FALSE(control::parse_request("{\"op\":\"x\"}").id.has_value());
}

TEST(ProtocolText, BadMembersAreNamed) {
  const auto refused = [](const char* body, const std::function<void(const control::Request&)>& look,
                          const char* word) {
    const control::Request request = control::parse_request(std::string("{\"op\":\"grow\",") + body + "}");
    std::string text;
    EXPECT_EQ(status_of([&] { look(request); }, &text), Status::bad_argument) << body;
    EXPECT_TRUE(says(text, word));
  };
  for (const char* body : {"\"by\":0", "\"by\":11", "\"by\":1.5", "\"by\":\"3\"", "\"by\":null", "\"to\":3",
                           "\"by\":18446744073709551615", "\"by\":[1]"})
    refused(
        body, [](const auto& r) { control::whole_number(r, "by", 1, 10); }, "1 .. 10");
  for (const char* body :
       {"\"grid\":[2]", "\"grid\":[2,3,4]", "\"grid\":[0,3]", "\"grid\":[2,-1]", "\"grid\":\"2x3\"", "\"grid\":[2,1e3]",
        "\"grid\":[1048577,1]", "\"grid\":[1048576,2]", "\"grid\":[4294967297,1]"})
    refused(
        body, [](const auto& r) { control::grid(r, "grid"); }, "[rows, columns]");
  for (const char* body : {"\"deadline_s\":0", "\"deadline_s\":-1", "\"deadline_s\":\"soon\"", "\"deadline_s\":true"})
    refused(
        body, [](const auto& r) { control::seconds(r, "deadline_s", 1); }, "above 0");
  refused(
      "\"wait\":1", [](const auto& r) { control::flag(r, "wait"); }, "true or false");
  refused(
      "\"placement\":1", [](const auto& r) { control::text(r, "placement", ""); }, "text");
}

TEST(Host, IsReachedByAnAddressThatIsNotALoopbackOneIfItHasAny) {
  const auto is_loopback = [](const std::string& address) { return address.rfind("127.", 0) == 0; };
  bool has_other = false;
  for (const auto& [name, address] : control::interfaces()) {
    EXPECT_NE(name, "");
    EXPECT_NE(address.find('.'), std::string::npos) << address;
    has_other = has_other || !is_loopback(address);
  }
  const std::string own = control::own_address();
  EXPECT_NE(own, "");
  EXPECT_EQ(has_other && is_loopback(own), false) << own;
}
