// SPDX-License-Identifier: BSD-3-Clause
#include "base/process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../errors.hpp"
#include "../refused_system_calls.hpp"
#include "../temporary_folder.hpp"
#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"

namespace {

using base::Command;

Command shell(const std::string& script) {
  return Command{{"sh", "-c", script}};
}

TEST(Processes, OutputErrorAndStatusComeBack) {
  const base::Outcome outcome = base::run(shell("echo said; echo complained >&2; exit 3"), 20);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.output, "said\ncomplained\n");
  EXPECT_EQ(base::run(shell("kill -9 $$"), 20).status, 128 + 9);
}

TEST(Processes, InputAndEnvironmentAreThoseGiven) {
  const base::FileDescriptor in = base::memory_file("in", "two\nlines\n");
  Command command = shell("cat; echo $WORD; echo $HOME");
  command.in = in.get();
  command.environment = std::vector<std::string>{"WORD=it is", "PATH=/usr/bin:/bin"};
  EXPECT_EQ(base::run(command, 20).output, "two\nlines\nit is\n\n");
  EXPECT_EQ(base::run(shell("cat"), 20).output, "") << "without an input it is empty";
}

TEST(Processes, VariablesGivenReplaceThoseOfThisProcess) {
  setenv("DYNGRID_OF_THIS_TEST", "old", 1);
  Command command = shell("echo $DYNGRID_OF_THIS_TEST");
  EXPECT_EQ(base::run(command, 20).output, "old\n");
  command.environment = base::environment_with({"DYNGRID_OF_THIS_TEST=new"});
  EXPECT_EQ(base::run(command, 20).output, "new\n");
}

TEST(Processes, WhatIsLateIsEndedWithAllItStarted) {
  const base::Outcome outcome = base::run(shell("echo $$; sleep 100000 & sleep 100000"), 3); // by then it has begun
  EXPECT_TRUE(outcome.timed_out);
  const pid_t group = std::atoi(outcome.output.c_str());
  ASSERT_GT(group, 1);
  int tries = 0; // the sleeper is init's child now, and goes when that collects it
  while (kill(-group, 0) == 0 && ++tries < 60000) usleep(10000);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Processes, WhatRunsEndsWithTheCaller) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  const base::FileDescriptor here(sockets[0]);
  base::FileDescriptor there(sockets[1]);
  const pid_t caller = fork();
  if (caller == 0) {
    Command command = shell("echo $$ >&0; exec sleep 1000");
    command.in = there.get();
    base::run(command, -1);
    _exit(0);
  }
  there = base::FileDescriptor();
  char text[32] = "";
  ASSERT_GT(read(here.get(), text, sizeof text - 1), 0);
  kill(caller, SIGTERM);
  EXPECT_EQ(base::wait_for(caller), 128 + SIGTERM);
  pollfd end{here.get(), POLLIN, 0}; // once nobody has the other end
  EXPECT_EQ(poll(&end, 1, 60000), 1);
  const pid_t left = std::atoi(text);
  ASSERT_GT(left, 1);
  if (end.revents == 0) kill(left, SIGKILL);
}

TEST(Processes, WhatIsLateIsEndedWithoutPidfdToo) {
  const pid_t child = fork();
  if (child == 0) { // with no descriptor left there is none for pidfd_open
    const pid_t sleeper = base::start(shell("exec sleep 100"));
    const rlimit none{3, 3};
    const bool is_set = setrlimit(RLIMIT_NOFILE, &none) == 0;
    const bool is_late = is_set && !base::wait_for(sleeper, 0.1);
    kill(sleeper, SIGTERM);
    _exit(is_late && base::wait_for(sleeper, 60) == 128 + SIGTERM ? 0 : 1);
  }
  EXPECT_EQ(base::wait_for(child), 0);
}

TEST(Processes, AProgramThatIsNotThereIsAnErrorAtOnce) {
  for (const char* name : {"dyngrid-no-such-program", "/nowhere/program", "/etc/passwd"})
    EXPECT_EQ(status_of([&] { base::start(Command{{name}}); }), base::Status::not_found) << name;
}

TEST(Processes, AFolderIsNoProgram) {
  const TemporaryFolder here;
  const std::string folders = here.path + "/first:" + here.path + "/second", tool = here.path + "/second/tool";
  ASSERT_TRUE(base::make_directories(here.path + "/first/tool"));
  ASSERT_TRUE(base::make_directories(here.path + "/second"));
  std::ofstream(tool) << "#!/bin/sh\n";
  ASSERT_EQ(chmod(tool.c_str(), 0755), 0);
  const std::string before = std::getenv("PATH");
  setenv("PATH", folders.c_str(), 1);
  const std::string found = base::search_path("tool");
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(found, tool);
  EXPECT_EQ(base::search_path(here.path + "/first/tool"), "");
}

TEST(Processes, TheChildBlocksNothingAndIgnoresOnlyWhatItShould) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGHUP, SIG_IGN);
  Command command = shell("exec grep -E 'SigBlk|SigIgn' /proc/self/status");
  const std::string inherited = base::run(command, 20).output;
  command.default_signals = true;
  const std::string fresh = base::run(command, 20).output;
  signal(SIGHUP, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(says(inherited, "SigBlk:\t0000000000000000"));
  EXPECT_TRUE(says(inherited, "SigIgn:\t0000000000000001"));
  EXPECT_TRUE(says(fresh, "SigIgn:\t0000000000000000"));
}

TEST(Processes, AGroupIsEndedPolitelyAndThenByForce) {
  const base::FileDescriptor said = base::memory_file("said");
  Command command = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  command.own_group = true;
  command.out = said.get();
  const pid_t stubborn = base::start(command);
  for (int tries = 0; base::content_of(said.get()).empty() && tries < 60000; ++tries) usleep(10000);
  EXPECT_EQ(base::end_group(stubborn, 0.5), 128 + SIGKILL);
  command = shell("exec sleep 100");
  command.own_group = true;
  EXPECT_EQ(base::end_group(base::start(command), 20), 128 + SIGTERM);
}

TEST(Descriptors, OfANamelessFileWhereThereAreNoneInMemory) {
  TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    if (!refuse_system_call(SYS_memfd_create)) _exit(77);
    setenv("TMPDIR", folder.path.c_str(), 1);
    try {
      const base::FileDescriptor file = base::memory_file("one", "text");
      const base::Outcome outcome = base::run(shell("ls $TMPDIR; echo said"), 20);
      _exit(base::content_of(file.get()) == "text" && outcome.output == "said\n" ? 0 : 1);
    } catch (const std::exception&) {
      _exit(2);
    }
  }
  const int status = base::wait_for(child);
  if (status == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(status, 0);
}

TEST(Descriptors, AreClosedOnceAndMove) {
  base::FileDescriptor one = base::memory_file("one", "text");
  const int number = one.get();
  base::FileDescriptor other = std::move(one);
  EXPECT_FALSE(one);
  EXPECT_EQ(other.get(), number);
  EXPECT_EQ(base::content_of(number), "text");
  EXPECT_EQ(base::content_of("/"), ""); // a folder
  other = base::FileDescriptor();
  EXPECT_EQ(close(number), -1);
}

} // namespace
