// SPDX-License-Identifier: BSD-3-Clause
#include "runner.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/text.hpp"
#include "shared/failure.hpp"

namespace slurm {

using command::Failure;

namespace {

std::string what_of(const Command& command) {
  std::string text;
  for (std::size_t k = 0; k < command.words.size() && k < 4; ++k) text += (k ? " " : "") + command.words[k];
  return command.words.size() > 4 ? text + " ..." : text;
}

} // namespace

pid_t start_apart(const Command& command, const std::vector<std::string>& variables, int out, int err) {
  std::vector<std::string> environment = base::environment_with(variables);
  const auto own = environment.end() - static_cast<std::ptrdiff_t>(variables.size());
  environment.erase(
      std::remove_if(environment.begin(), own,
                     [](const std::string& entry) { return is_of_a_job(entry.substr(0, entry.find('='))); }),
      own);
  const base::FileDescriptor in = base::memory_file("dyngrid-input", command.input);
  base::Command process{command.words, std::move(environment), in.get(), out, err};
  process.own_group = process.ends_with_parent = process.default_signals = true;
  // a missing program ends as under a shell: the caller needs no second case
  if (base::search_path(command.words.at(0)).empty()) process.words = {"/bin/sh", "-c", "exit 127"};
  try {
    return base::start(process);
  } catch (const base::Error& error) {
    throw Failure(error.what(), 1);
  }
}

std::string Outcome::trouble() const {
  if (timed_out) return fmt::format("{}: no answer in time; it was ended", what);
  if (status == 127) return fmt::format("{}: there is no such program here", what.substr(0, what.find(' ')));
  std::string text(base::trimmed(err.empty() ? out : err));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fmt::format("{}: status {}{}{}", what, status, text.empty() ? "" : ": ", text.substr(0, 300));
}

Runner::~Runner() {
  if (!running_) return;
  end_group(running_->pid, 0.1);
}

void Runner::add(Command command, Done done) {
  waiting_.emplace_back(std::move(command), std::move(done));
  step();
}

int Runner::fd() const {
  return running_ ? running_->watch.get() : -1;
}

void Runner::finish(bool timed_out) {
  Outcome outcome;
  outcome.what = running_->what;
  outcome.timed_out = timed_out;
  outcome.status = timed_out ? end_group(running_->pid, 0.2) : base::wait_for(running_->pid);
  outcome.out = base::content_of(running_->out.get());
  outcome.err = base::content_of(running_->err.get());
  const Done done = std::move(running_->done);
  running_.reset();
  done(outcome);
}

void Runner::step() {
  if (running_) {
    siginfo_t ended{}; // read from the child itself: pidfd_open may not exist here
    if (waitid(P_PID, static_cast<id_t>(running_->pid), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
      finish(false);
    else if (running_->deadline.is_over())
      finish(true);
  }
  if (running_ || waiting_.empty()) return;
  auto [command, done] = std::move(waiting_.front());
  waiting_.pop_front();
  Running next;
  next.what = what_of(command);
  next.done = std::move(done);
  next.out = base::memory_file("dyngrid-out");
  next.err = base::memory_file("dyngrid-err");
  next.pid = start_apart(command, {}, next.out.get(), next.err.get());
  next.watch = base::FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, next.pid, 0)));
  next.deadline = base::Deadline(limit_s_);
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
