// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/process.hpp"
#include "jobs.hpp"
#include "link.hpp"
#include "runner.hpp"
#include "shared/failure.hpp"

namespace slurm {

using base::status_in_words;
using command::Failure;

namespace {

/// For a group that ends by itself: an application that fails needs time to report it.
constexpr double patience_s = 10;

void report(const std::string& text) {
  std::fputs(("dyngrid slurm: " + text + "\n").c_str(), stderr);
}

/// The signals by which Slurm asks for this node back, as something to read.
int listen_to_signals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int number : {SIGUSR1, SIGTERM, SIGINT, SIGCHLD}) sigaddset(&awaited, number);
  sigprocmask(SIG_BLOCK, &awaited, nullptr); // before anything else: Slurm may request the node back already
  signal(SIGUSR1, SIG_DFL);                  // the script ignores it, and an ignored signal is not received
  const int signals = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) throw Failure("slurm node: no signalfd", 1);
  return signals;
}

/// A node of the application: starts its group on request, and ends on request.
class NodeLoop {
public:
  NodeLoop(Link& link, int signals, std::string host) : link_(link), signals_(signals), host_(std::move(host)) {}

  /// Until nothing is left to do here.
  /// @return false when the application's job is gone
  bool run() {
    for (;;) {
      std::array<pollfd, 2> polled{{{link_.fd(), POLLIN, 0}, {signals_, POLLIN, 0}}};
      poll(polled.data(), polled.size(), is_ending() ? 100 : 1000);
      hear_signals();
      look_after_group();
      if (!is_ending()) hear_application();
      if (!is_ending()) continue;
      if (group_ > 0 && !end_by_.is_over()) continue;
      if (group_ > 0) end_group(group_, 3);
      return !is_lost_;
    }
  }

private:
  bool is_ending() const { return may_go_ || is_lost_; }

  void hear_signals() {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) {
        report(fmt::format("{}: signal {}: Slurm takes this node back", host_, info.ssi_signo));
        link_.say("leave");
      }
  }

  void look_after_group() {
    if (group_ > 0 && kill_by_.is_over()) kill(-group_, SIGKILL);
    int status = 0;
    if (group_ <= 0 || waitpid(group_, &status, WNOHANG) != group_) return;
    link_.say(fmt::format("ended {} {}", number_, status_in_words(status)));
    group_ = -1;
    kill_by_ = base::Deadline(-1);
  }

  void hear_application() {
    const bool is_there = link_.take();
    while (const auto line = link_.line()) {
      std::istringstream words(*line);
      std::string word, number, hex, join;
      words >> word >> number >> hex >> join;
      if (word == "run" && group_ < 0) {
        const auto command = from_hex(hex);
        number_ = number;
        group_ = start_apart({{"/bin/sh", "-c", command.value_or("exit 2")}, ""},
                             {"DYNGRID_JOIN=" + from_hex(join).value_or("")});
      } else if (word == "stop" && group_ > 0 && number_ == number) {
        kill(-group_, SIGTERM);
        kill_by_ = base::Deadline(patience_s);
      } else if (word == "go") {
        may_go_ = true;
      }
    }
    is_lost_ = !is_there && !may_go_;
    if (is_ending()) end_by_ = base::Deadline(patience_s);
  }

  Link& link_;
  int signals_;
  std::string host_;
  pid_t group_ = -1; ///< that runs here
  std::string number_;
  bool may_go_ = false, is_lost_ = false;
  base::Deadline end_by_{-1}, kill_by_{-1}; ///< -1: never
};

} // namespace

int run_node() {
  std::string text;
  std::getline(std::cin, text);
  const auto place = Place::parse(text);
  if (!place)
    throw Failure(
        "slurm node: standard input does not say where the application is; this command is for dyngrid's own jobs");
  const int signals = listen_to_signals();
  const char* node = std::getenv("SLURMD_NODENAME"); // Slurm's name, which may be without the domain
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
  const bool was_told_to_go = NodeLoop(link, signals, host).run();
  if (!was_told_to_go) report(fmt::format("{}: the application's job has ended", host));
  ::close(signals);
  return was_told_to_go ? 0 : 1;
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
  link.say(fmt::format("hand {} {} {}", place->word, number, processes)); // the identification first, then the possibly
                                                                          // long part
  link.say(fmt::format("{} {}", to_hex(command), to_hex(join)));
  for (;;) {
    pollfd one{link.fd(), POLLIN, 0};
    poll(&one, 1, -1);
    const bool is_there = link.take();
    if (const auto line = link.line()) {
      if (*line == "in") return 0;
      throw Failure(*line, 1);
    }
    if (!is_there) throw Failure("slurm hand: the agent has ended", 1);
  }
}

} // namespace slurm
