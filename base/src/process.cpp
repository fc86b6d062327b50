// SPDX-License-Identifier: BSD-3-Clause
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"

namespace base {
namespace {

constexpr double mpirun_patience_s = 3; ///< mpirun ends its processes in that time

/// All that the child needs, made before it is there: a child of vfork may allocate nothing.
struct Prepared {
  explicit Prepared(const Command& from) : command(from), program(search_path(from.words.at(0))), parent(getpid()) {
    for (const std::string& word : from.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (from.environment) {
      for (const std::string& variable : *from.environment) variables.push_back(const_cast<char*>(variable.c_str()));
      variables.push_back(nullptr);
    }
  }
  const Command& command;
  std::string program;
  pid_t parent;
  std::vector<char*> words, variables;
};

/// The child's way to its program. Only calls that a signal handler may make.
[[noreturn]] void become(const Prepared& made, volatile int& failed) {
  const Command& command = made.command;
  if (command.own_group) setpgid(0, 0);
  if (command.ends_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != made.parent) _exit(126);
  }
  // what this process handles is its own affair: a handler must not run in a child that still shares the memory
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0) continue;
    if (now.sa_handler == SIG_DFL || (now.sa_handler == SIG_IGN && !command.default_signals)) continue;
    now.sa_handler = SIG_DFL;
    now.sa_flags = 0;
    sigaction(number, &now, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [from, to] : {std::pair{command.in, 0}, std::pair{command.out, 1}, std::pair{command.err, 2}})
    if (from >= 0 && dup2(from, to) < 0) _exit(126);
  execve(made.program.c_str(), made.words.data(), made.variables.empty() ? environ : made.variables.data());
  failed = errno;
  _exit(127);
}

} // namespace

pid_t start(const Command& command) {
  const Prepared made(command);
  const auto cannot = [&](Status status, int why) {
    return Error(status, "cannot start {}: {}", command.words[0], std::strerror(why));
  };
  if (made.program.empty()) throw cannot(Status::not_found, ENOENT);
  volatile int failed = 0;
  const SignalsBlocked blocked;
  // the memory is not copied: a process with a large matrix starts a program as quickly as a small one
  const pid_t child = vfork();
  if (child == 0) become(made, failed);
  const int why = errno;
  if (child < 0) throw cannot(Status::spawn_failure, why);
  if (failed == 0) return child;
  wait_for(child);
  throw cannot(failed == ENOENT || failed == EACCES ? Status::not_found : Status::spawn_failure, failed);
}

int status_in_words(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int wait_for(pid_t child) {
  int status = 0;
  pid_t found = 0;
  while ((found = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  return found == child ? status_in_words(status) : -1;
}

std::optional<int> wait_for(pid_t child, double limit_s) {
  const Deadline deadline(limit_s);
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  while (!ended) { // an older kernel, a seccomp filter, or no descriptor left
    int status = 0;
    const pid_t found = waitpid(child, &status, WNOHANG);
    if (found == child) return status_in_words(status);
    if (found < 0 && errno != EINTR) return -1;
    if (deadline.is_over()) return std::nullopt;
    poll(nullptr, 0, std::min(deadline.left_ms(), 10));
  }
  for (;;) {
    pollfd one{ended.get(), POLLIN, 0};
    const int count = poll(&one, 1, deadline.left_ms());
    if (count > 0) return wait_for(child);
    if (count == 0 || errno != EINTR) return std::nullopt;
  }
}

int end_group(pid_t child, double patience_s) {
  kill(-child, SIGTERM);
  const std::optional<int> status = wait_for(child, patience_s);
  kill(-child, SIGKILL); // what is left of the group
  return status ? *status : wait_for(child);
}

Outcome run(Command command, double limit_s) {
  const FileDescriptor output = memory_file("dyngrid-output");
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (command.in < 0) command.in = nothing.get();
  command.out = command.err = output.get();
  command.own_group = true;
  command.ends_with_parent = true; // in a group of its own it gets no interrupt from the keyboard
  const pid_t child = start(command);
  Outcome outcome;
  const std::optional<int> status = wait_for(child, limit_s);
  outcome.timed_out = !status;
  outcome.status = status ? *status : end_group(child, mpirun_patience_s);
  kill(-child, SIGKILL); // what it has left behind would write on
  outcome.output = content_of(output.get());
  return outcome;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1); // with the '='
    bool is_set = false;
    for (const std::string& own : variables) is_set = is_set || std::string_view(own).substr(0, name.size()) == name;
    if (!is_set) all.emplace_back(text);
  }
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string search_path(const std::string& name) {
  const auto is_program = [](const std::string& file) { // a folder may be entered, which X_OK says, too
    std::error_code ignored;
    return access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, ignored);
  };
  if (name.find('/') != std::string::npos) return is_program(name) ? std::filesystem::absolute(name).string() : "";
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "", ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return "";
}

} // namespace base
