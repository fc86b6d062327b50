// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "dyngrid/failure.hpp"
#include "jobs.hpp"
#include "link.hpp"
#include "runner.hpp"

namespace slurm {

using base::status_in_words;
using command::Failure;

namespace {

using Clock = std::chrono::steady_clock;
constexpr double patience_s =
    10; ///< for a group that ends by itself; an application that ends badly takes its time to say so

void report(const std::string& text) {
  std::fputs(("dyngrid slurm: " + text + "\n").c_str(), stderr);
}

/// The group that runs here.
struct SpawnGroup {
  pid_t pid = -1;
  std::string number;
};

} // namespace

int run_node() {
  std::string text;
  std::getline(std::cin, text);
  const auto place = Place::parse(text);
  if (!place)
    throw Failure(
        "slurm node: standard input does not say where the application is; this command is for dyngrid's own jobs");
  sigset_t heard;
  sigemptyset(&heard);
  for (const int number : {SIGUSR1, SIGTERM, SIGINT, SIGCHLD}) sigaddset(&heard, number);
  sigprocmask(SIG_BLOCK, &heard, nullptr); // before anything else: Slurm may want the node back already
  signal(SIGUSR1, SIG_DFL);                // the script ignores it, and what is ignored is not heard
  const int signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) throw Failure("slurm node: no signalfd", 1);
  const char* node = std::getenv("SLURMD_NODENAME"); // as Slurm calls it, which may be without the domain
  const std::string host = node ? node : base::host_name();

  Link link;
  try {
    link = connect_to(*place, 10);
  } catch (const Failure& why) {
    report(fmt::format("{}: {}; the application has ended, and so does this job", host, why.what()));
    return 0;
  }
  const char* job = std::getenv("SLURM_JOB_ID");
  link.say(fmt::format("node {} {} {}", place->word, job ? job : "0", host.substr(0, 256)));

  SpawnGroup group;
  bool may_go = false, is_lost = false;
  Clock::time_point end_by = Clock::time_point::max(), kill_by = Clock::time_point::max();
  for (;;) {
    std::array<pollfd, 2> polled{{{link.fd(), POLLIN, 0}, {signals, POLLIN, 0}}};
    poll(polled.data(), polled.size(), may_go || is_lost ? 100 : 1000);
    signalfd_siginfo info{};
    while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) {
        report(fmt::format("{}: signal {}: Slurm wants this node back", host, info.ssi_signo));
        link.say("leave");
      }
    if (group.pid > 0 && Clock::now() >= kill_by) kill(-group.pid, SIGKILL);
    if (int status = 0; group.pid > 0 && waitpid(group.pid, &status, WNOHANG) == group.pid) {
      link.say(fmt::format("ended {} {}", group.number, status_in_words(status)));
      group.pid = -1;
      kill_by = Clock::time_point::max();
    }
    if (!is_lost && !may_go) {
      const bool is_there = link.take();
      while (const auto line = link.line()) {
        std::istringstream words(*line);
        std::string word, number, hex, join;
        words >> word >> number >> hex >> join;
        if (word == "run" && group.pid < 0) {
          const auto command = from_hex(hex);
          group.number = number;
          group.pid = start_apart({{"/bin/sh", "-c", command.value_or("exit 2")}, ""},
                                  {"DYNGRID_JOIN=" + from_hex(join).value_or("")});
        } else if (word == "stop" && group.pid > 0 && group.number == number) {
          kill(-group.pid, SIGTERM);
          kill_by = Clock::now() + std::chrono::milliseconds(static_cast<int>(patience_s * 1000));
        } else if (word == "go") {
          may_go = true;
        }
      }
      is_lost = !is_there && !may_go;
      if (is_lost || may_go) end_by = Clock::now() + std::chrono::milliseconds(static_cast<int>(patience_s * 1000));
    }
    if (!may_go && !is_lost) continue;
    if (group.pid < 0) break;
    if (Clock::now() < end_by) continue;
    end_group(group.pid, 3);
    break;
  }
  if (is_lost) report(fmt::format("{}: the application's job has gone", host));
  ::close(signals);
  return is_lost ? 1 : 0;
}

int hand_over(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  const auto place = Place::parse(text);
  if (!place)
    throw Failure(
        fmt::format("slurm hand: {} does not say where the agent is; this command is for dyngrid's own jobs", file));
  const char* number = std::getenv("DYNGRID_UNIT_NUMBER");
  const char* processes = std::getenv("DYNGRID_UNIT_PROCESSES");
  const char* command = std::getenv("DYNGRID_UNIT_COMMAND");
  const char* join = std::getenv("DYNGRID_JOIN");
  if (!number || !processes || !command || !join)
    throw Failure("slurm hand: DYNGRID_UNIT_NUMBER, _PROCESSES, _COMMAND and DYNGRID_JOIN are not set; this command is "
                  "for dyngrid's own jobs");
  Link link = connect_to(*place, 10);
  link.say(fmt::format("hand {} {} {}", place->word, number, processes)); // who it is first, then what may be long
  link.say(fmt::format("{} {}", to_hex(command), to_hex(join)));
  for (;;) {
    pollfd one{link.fd(), POLLIN, 0};
    poll(&one, 1, -1);
    const bool is_there = link.take();
    if (const auto line = link.line()) {
      if (*line == "in") return 0;
      throw Failure(*line, 1);
    }
    if (!is_there) throw Failure("slurm hand: the agent has gone", 1);
  }
}

} // namespace slurm
