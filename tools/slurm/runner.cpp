// SPDX-License-Identifier: BSD-3-Clause
#include "runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "dyngrid/failure.hpp"
#include "dyngrid/launch.hpp"

namespace slurm {

using command::Failure;
using command::search_path;
using command::status_in_words;

namespace {

/// A file in memory: a command that prints much cannot block, and nobody has to read while it runs.
int memory_file(const char* name, const std::string& content = "") {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw Failure(fmt::format("memfd_create: {}", std::strerror(errno)), 1);
  if (write(fd, content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      lseek(fd, 0, SEEK_SET) != 0) {
    close(fd);
    throw Failure(fmt::format("cannot write to memory: {}", std::strerror(errno)), 1);
  }
  return fd;
}

std::string content_of(int fd) {
  std::string text;
  lseek(fd, 0, SEEK_SET);
  char buffer[4096];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

std::string what_of(const Command& command) {
  std::string text;
  for (std::size_t k = 0; k < command.words.size() && k < 4; ++k) text += (k ? " " : "") + command.words[k];
  return command.words.size() > 4 ? text + " ..." : text;
}

} // namespace

pid_t start_apart(const Command& command, const std::vector<std::string>& variables, int out, int err,
                  bool keeps_job_variables) {
  // everything that allocates before the fork
  const std::string program = search_path(command.words.at(0));
  std::vector<std::string> words = command.words, environment = variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool is_set = is_of_a_job(name) && !keeps_job_variables;
    for (const std::string& own : variables) is_set = is_set || own.compare(0, name.size() + 1, name + "=") == 0;
    if (!is_set) environment.push_back(text);
  }
  std::vector<char*> word_pointers, environment_pointers;
  for (std::string& word : words) word_pointers.push_back(word.data());
  for (std::string& entry : environment) environment_pointers.push_back(entry.data());
  word_pointers.push_back(nullptr);
  environment_pointers.push_back(nullptr);
  const int in = memory_file("dyngrid-input", command.input);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(126);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1}) signal(number, SIG_DFL);
    dup2(in, 0);
    if (out >= 0) dup2(out, 1);
    if (err >= 0) dup2(err, 2);
    if (!program.empty()) execve(program.c_str(), word_pointers.data(), environment_pointers.data());
    _exit(127);
  }
  close(in);
  if (child < 0) throw Failure(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)), 1);
  setpgid(child, child); // whoever of the two is first
  return child;
}

int end_group(pid_t pid, double patience_s) {
  int status = 0;
  kill(-pid, SIGTERM);
  for (double waited = 0; waited < patience_s; waited += 0.02) {
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL); // what is left of the group
      return status_in_words(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(-pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status_in_words(status);
}

std::string Outcome::trouble() const {
  if (timed_out) return fmt::format("{}: no answer in time; it was ended", what);
  if (status == 127) return fmt::format("{}: there is no such program here", what.substr(0, what.find(' ')));
  std::string said = err.empty() ? out : err;
  said = said.substr(0, said.find_last_not_of(" \n\r") + 1);
  for (char& c : said)
    if (c == '\n') c = ' ';
  return fmt::format("{}: status {}{}{}", what, status, said.empty() ? "" : ": ", said.substr(0, 300));
}

Runner::~Runner() {
  if (!running_) return;
  end_group(running_->pid, 0.1);
  for (const int fd : {running_->watch, running_->out, running_->err}) close(fd);
}

void Runner::add(Command command, Done done) {
  waiting_.emplace_back(std::move(command), std::move(done));
  step();
}

int Runner::fd() const {
  return running_ ? running_->watch : -1;
}

void Runner::finish(bool timed_out) {
  Outcome outcome;
  outcome.what = running_->what;
  outcome.timed_out = timed_out;
  int status = 0;
  if (timed_out)
    outcome.status = end_group(running_->pid, 0.2);
  else {
    while (waitpid(running_->pid, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.status = status_in_words(status);
  }
  outcome.out = content_of(running_->out);
  outcome.err = content_of(running_->err);
  for (const int fd : {running_->watch, running_->out, running_->err}) close(fd);
  const Done done = std::move(running_->done);
  running_.reset();
  done(outcome);
}

void Runner::step() {
  if (running_) {
    pollfd one{running_->watch, POLLIN, 0};
    if (poll(&one, 1, 0) == 1)
      finish(false);
    else if (std::chrono::steady_clock::now() >= running_->end_by)
      finish(true);
  }
  if (running_ || waiting_.empty()) return;
  auto [command, done] = std::move(waiting_.front());
  waiting_.pop_front();
  Running next;
  next.what = what_of(command);
  next.done = std::move(done);
  next.out = memory_file("dyngrid-out");
  next.err = memory_file("dyngrid-err");
  next.pid = start_apart(command, {}, next.out, next.err);
  next.watch = static_cast<int>(syscall(SYS_pidfd_open, next.pid, 0));
  if (next.watch < 0) {
    end_group(next.pid, 0);
    throw Failure(fmt::format("pidfd_open: {}", std::strerror(errno)), 1);
  }
  fcntl(next.watch, F_SETFD, FD_CLOEXEC);
  next.end_by =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(limit_s_ * 1000));
  running_ = std::move(next);
}

Outcome run(const Command& command, double limit_s) {
  Runner runner(limit_s);
  Outcome result;
  runner.add(command, [&](const Outcome& outcome) { result = outcome; });
  while (runner.is_busy()) {
    pollfd one{runner.fd(), POLLIN, 0};
    poll(&one, 1, 100);
    runner.step();
  }
  return result;
}

} // namespace slurm
