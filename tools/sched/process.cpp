// SPDX-License-Identifier: BSD-3-Clause
#include "process.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

namespace sched {
namespace {

[[noreturn]] void fail(const std::string& what) {
  const int why = errno;
  const std::string text = fmt::format("scheduler: {}: {}", what, std::strerror(why));
  for (const int passing : {ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, EAGAIN, ENOMEM})
    if (why == passing) throw NoRoom(text);
  throw base::Error(base::Status::io_failure, text);
}

/// Makes the file, and reserves its space while there is some.
Fd make_file(const std::string& path, int flags, std::string_view content = {}) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600));
  errno = file ? ENOSPC : errno;
  if (!file || ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    fail(fmt::format("cannot write '{}'", path));
  return file;
}

// Status and marks are files, because after a crash of the scheduler no process can wait for the job. They are made
// before the job begins, and then renamed and overwritten. So a job that fills the disk ends as any other. The shell
// outlives the signal that ends its job, to record how it ended.
constexpr const char* leader_script =
    "f=$1; d=$2; shift 2; trap : TERM INT HUP; "
    "cd \"$d\" && \"$@\"; s=$?; echo $s 1<> \"$f.status.new\"; mv \"$f.status.new\" \"$f.status\"; exit $s";
constexpr std::string_view room_for_status = "   \n";

} // namespace

std::optional<std::int64_t> start_time_of(std::int64_t pid) {
  if (pid <= 0) return 0;
  siginfo_t ended{};
  const bool is_child =
      ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0; // it needs no descriptor
  if (is_child && ended.si_pid != 0) return 0;
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return 0;
  const std::string text = base::content_of(fmt::format("/proc/{}/stat", pid));
  const auto close = text.rfind(')'); // a name may contain anything
  if (close == std::string::npos || close + 2 >= text.size()) return std::nullopt;
  const char state = text[close + 2];
  if (state == 'Z' || state == 'X') return 0;
  // state is field 3, the start field 22
  std::size_t at = close + 2;
  for (int field = 3; field < 22; ++field) {
    at = text.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  return std::strtoll(text.c_str() + at, nullptr, 10);
}

bool is_running(std::int64_t pid, std::int64_t started) {
  return started != 0 && start_time_of(pid) == started;
}

bool may_run(std::int64_t pid, std::int64_t started) {
  const std::optional<std::int64_t> found = start_time_of(pid);
  return !found || (*found != 0 && (started == 0 || *found == started));
}

std::string boot_id() {
  return std::string(base::trimmed(base::content_of("/proc/sys/kernel/random/boot_id")));
}

Leader::Leader(const std::string& file, const std::string& folder, const std::vector<std::string>& command,
               const std::vector<std::string>& variables) {
  // all allocations before the fork
  std::vector<std::string> words{"/bin/sh", "-c", leader_script, "dyngrid-job", file, folder};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> environment = base::environment_with(variables);
  std::vector<char*> environment_pointers;
  for (auto& variable : environment) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);
  const std::string waits = file + ".waits", began = file + ".began";
  for (const char* old : {".began", ".status"}) ::unlink((file + old).c_str());
  make_file(waits, O_TRUNC);
  make_file(file + ".status.new", O_TRUNC, room_for_status);
  const Fd out = make_file(file + ".out", O_APPEND), err = make_file(file + ".err", O_APPEND);
  const Fd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in) fail("cannot open '/dev/null'");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
  Fd wait_at(ends[0]);
  gate_ = Fd(ends[1]);

  const pid_t child = ::fork();
  if (child < 0) fail("cannot start a process");
  if (child == 0) {
    ::close(ends[1]);
    ::setsid();
    char byte = 0;
    ssize_t got = 0;
    while ((got = ::read(ends[0], &byte, 1)) < 0 && errno == EINTR) {
    }
    if (got != 1 || ::rename(waits.c_str(), began.c_str()) != 0) ::_exit(126);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
    ::dup2(in.get(), 0);
    ::dup2(out.get(), 1);
    ::dup2(err.get(), 2);
    ::execve("/bin/sh", arguments.data(), environment_pointers.data());
    ::_exit(127);
  }
  pid_ = child;
  const std::optional<std::int64_t> started = start_time_of(child);
  if (!started) { // it could never be cancelled
    gate_.close();
    base::wait_for(child);
    throw NoRoom(fmt::format("scheduler: cannot read /proc/{}/stat, the start time of a process", child));
  }
  started_ = *started;
}

Leader::~Leader() {
  if (!gate_) return;
  gate_.close(); // it never begins
  base::wait_for(static_cast<pid_t>(pid_));
}

void Leader::go() {
  const char byte = 1;
  while (::write(gate_.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  gate_.close();
}

namespace {
/// Of a process, from /proc; 0: it does not exist, or has ended.
std::int64_t session_of(const std::string& pid) {
  const std::string stat = base::content_of("/proc/" + pid + "/stat");
  const std::size_t name = stat.rfind(')');
  char state = 0;
  long group = 0, session = 0;
  if (name == std::string::npos ||
      std::sscanf(stat.c_str() + name + 1, " %c %*d %ld %ld", &state, &group, &session) != 3 || state == 'Z')
    return 0;
  return session;
}

bool has_variable(const std::string& pid, const std::string& variable) {
  const std::string zero(1, '\0');
  return (zero + base::content_of("/proc/" + pid + "/environ")).find(zero + variable + zero) != std::string::npos;
}
} // namespace

bool may_belong_to(std::int64_t pid, std::int64_t leader, const std::string& variable) {
  const std::string number = std::to_string(pid);
  // a session that began outside this PID namespace is 0, and none of a job's processes has that one
  return session_of(number) == leader || base::content_of("/proc/" + number + "/environ").empty() ||
         has_variable(number, variable);
}

bool signal_session(std::int64_t leader, int number, const std::string& variable) {
  std::set<pid_t> signalled;
  for (bool is_new = true; is_new;) {
    is_new = false;
    DIR* folder = ::opendir("/proc");
    if (folder == nullptr) return true; // it is not known
    while (const dirent* entry = ::readdir(folder)) {
      const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
      if (pid <= 0 || session_of(entry->d_name) != leader) continue;
      if ((!variable.empty() && !has_variable(entry->d_name, variable)) || !signalled.insert(pid).second) continue;
      is_new = ::kill(pid, number) == 0 || is_new;
    }
    ::closedir(folder);
  }
  return !signalled.empty();
}

Fd watch_process(std::int64_t pid, std::int64_t started) {
  if (!is_running(pid, started)) return {};
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))); // glibc 2.36 declares it as C++
  // the number may have been given to another process in between
  if (!fd || !is_running(pid, started)) return {};
  return fd;
}

std::optional<int> reap(std::int64_t pid) {
  int status = 0;
  if (pid <= 0 || ::waitpid(static_cast<pid_t>(pid), &status, WNOHANG) != pid || !WIFEXITED(status))
    return std::nullopt;
  return WEXITSTATUS(status);
}

} // namespace sched
