// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_dir.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/status.hpp"

namespace control {

using base::environment;
using base::printable;
namespace {

using base::Error;
using base::Status;

[[noreturn]] void no_good(const std::string& path, const std::string& why) {
  throw Error(Status::io_failure, "control: runtime directory {}: {}", path, why);
}

} // namespace

std::string runtime_directory() {
  if (const char* given = environment("DYNGRID_RUNTIME_DIR")) return given;
  if (const char* xdg = environment("XDG_RUNTIME_DIR")) return std::string(xdg) + "/dyngrid";
  return fmt::format("/tmp/dyngrid-{}", geteuid());
}

void require_private_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    no_good(path, fmt::format("cannot be made: {}", std::strerror(errno)));
  check_private_directory(path);
}

void check_private_directory(const std::string& path) {
  const base::FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) throw Error(Status::not_found, "control: runtime directory {} does not exist", path);
  if (!folder) no_good(path, errno == ELOOP || errno == ENOTDIR ? "is a link or no directory" : std::strerror(errno));
  struct stat found {};
  if (fstat(folder.get(), &found) != 0) no_good(path, std::strerror(errno));
  if (found.st_uid != geteuid()) no_good(path, fmt::format("belongs to user {}, expected {}", found.st_uid, geteuid()));
  if ((found.st_mode & 077) != 0)
    no_good(path, fmt::format("has mode {:o}, expected 700: others could reach the jobs in it", found.st_mode & 0777));
}

namespace {

void check_name(std::string_view name, std::string_view where, std::size_t longest) {
  const auto is_first = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  const auto is_good = [&](char c) { return is_first(c) || c == '.' || c == '_' || c == '-'; };
  if (name.empty() || name.size() > longest || !is_first(name[0]) || !std::all_of(name.begin(), name.end(), is_good))
    throw Error(Status::bad_argument,
                "control: {} is \"{}\", expected 1 to {} of A-Z a-z 0-9 . _ -, the first a letter or a digit", where,
                printable(name.substr(0, 60)), longest);
}

} // namespace

void check_job_name(std::string_view name, std::string_view where) {
  check_name(name, where, 40);
}

void check_pool_name(std::string_view name, std::string_view where) {
  check_name(name, where, 20);
}

void check_job_or_pool(std::string_view name, std::string_view where) {
  const std::size_t slash = std::min(name.find('/'), name.size());
  check_job_name(name.substr(0, slash), where);
  if (slash < name.size()) check_pool_name(name.substr(slash + 1), fmt::format("pool of {} {}", where, name));
}

std::string job_file(std::string name) {
  std::replace(name.begin(), name.end(), '/', '+'); // no name has a + of its own
  return "job-" + name + ".sock";
}

std::string job_socket(const std::string& name) {
  return runtime_directory() + "/" + job_file(name);
}

namespace detail {

base::FileDescriptor lock_directory(const std::string& directory, double patience_s) {
  const std::string path = directory + "/.lock";
  base::FileDescriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) no_good(directory, fmt::format("cannot open its .lock: {}", std::strerror(errno)));
  // our processes hold it for a millisecond; another holder must not block an application
  const base::Deadline deadline(patience_s);
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      no_good(directory, fmt::format("cannot lock it: {}", std::strerror(errno)));
    if (deadline.is_over())
      no_good(directory, fmt::format("its .lock has been held by another process for {:g} s (fuser {} names it)",
                                     patience_s, path));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return lock;
}

bool somebody_listens(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const base::FileDescriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return true; // not known: leave it
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         (errno != ECONNREFUSED && errno != ENOENT); // EAGAIN: the queue of connections is full
}

} // namespace detail

std::vector<FoundJob> find_jobs() {
  const std::string directory = runtime_directory();
  struct stat found {};
  if (lstat(directory.c_str(), &found) != 0 && errno == ENOENT) return {};
  require_private_directory(directory);
  DIR* listing = opendir(directory.c_str());
  if (!listing) no_good(directory, std::strerror(errno));
  std::vector<FoundJob> jobs;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.size() <= 9 || file.substr(0, 4) != "job-" || file.substr(file.size() - 5) != ".sock") continue;
    FoundJob job;
    job.name = std::string(file.substr(4, file.size() - 9));
    std::replace(job.name.begin(), job.name.end(), '+', '/'); // job_file
    job.socket = fmt::format("{}/{}", directory, file);
    jobs.push_back(std::move(job));
  }
  closedir(listing);
  for (FoundJob& job : jobs) job.is_alive = detail::somebody_listens(job.socket);
  std::sort(jobs.begin(), jobs.end(), [](const FoundJob& a, const FoundJob& b) {
    return std::pair(a.name.size(), a.name) < std::pair(b.name.size(), b.name); // process numbers in their order
  });
  return jobs;
}

bool remove_stale(const FoundJob& job) {
  try {
    const base::FileDescriptor lock = detail::lock_directory(runtime_directory(), 0.2);
    return !detail::somebody_listens(job.socket) && unlink(job.socket.c_str()) == 0;
  } catch (const Error&) { // it does no harm, and is removed another time
    return false;
  }
}

void remove_dead_sockets(const std::string& directory, const std::string& own) {
  std::vector<std::string> names;
  if (DIR* listing = opendir(directory.c_str())) {
    while (const dirent* entry = readdir(listing)) {
      std::string_view file = entry->d_name;
      if (!file.empty() && file[0] == '.') file.remove_prefix(1); // a temporary name
      if (file.substr(0, 4) == "job-" || file.substr(0, 10) == "sched.sock") names.emplace_back(entry->d_name);
    }
    closedir(listing);
  }
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", directory, name);
    struct stat found {};
    const bool is_socket =
        path != own && lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) && found.st_uid == geteuid();
    if (is_socket && !detail::somebody_listens(path)) unlink(path.c_str());
  }
}

} // namespace control
