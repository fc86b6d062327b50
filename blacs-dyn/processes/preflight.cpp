// SPDX-License-Identifier: BSD-3-Clause
#include "processes/preflight.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <link.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/allocation.hpp"
#include "base/elf.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

/// The standard output and error of a command; empty when it cannot be started.
std::string output_of(const std::string& program, const std::string& flag, const std::string& argument) {
  try {
    return base::run({{program, flag, argument}}, -1).output;
  } catch (const Error&) {
    return {};
  }
}

/// LD_LIBRARY_PATH as it was when this process started.
std::string first_library_path() {
  constexpr std::string_view name = "LD_LIBRARY_PATH=";
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');)
    if (variable.compare(0, name.size(), name) == 0) return variable.substr(name.size());
  return {};
}

std::string library_path() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path ? path : "";
}

/// Whether a new process of this program would link for certain. It would if all libraries that this process has loaded
/// are still where they were, since this process did link.
bool links_as_this_one() {
  static const std::string at_first = first_library_path();
  if (library_path() != at_first) return false;
  bool is_all_there = true;
  const auto look = [](dl_phdr_info* object, std::size_t, void* all) { // the program and the kernel's have no path
    if (std::strchr(object->dlpi_name, '/') && access(object->dlpi_name, R_OK) != 0) *static_cast<bool*>(all) = false;
    return 0;
  };
  dl_iterate_phdr(look, &is_all_there);
  return is_all_there;
}

/// Whether the loader reported that it found all libraries, and they are still there.
bool is_still_good(const std::string& list) {
  if (list.empty() || list.find("not found") != std::string::npos || list.find("error") != std::string::npos)
    return false;
  std::istringstream words(list);
  for (std::string word; words >> word;)
    if (word[0] == '/' && access(word.c_str(), R_OK) != 0) return false;
  return true;
}

/// The loader's report of a program's libraries, which takes a process and some milliseconds. The last report is
/// known until the file changes, or where libraries are looked for.
std::string libraries_of(const std::string& loader, const std::string& path, const struct stat& file) {
  static std::pair<std::string, std::string> last;
  const std::string which =
      fmt::format("{} {} {} {} {}.{} {}.{} {}", path, file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec,
                  file.st_mtim.tv_nsec, file.st_ctim.tv_sec, file.st_ctim.tv_nsec, library_path());
  if (last.first != which || !is_still_good(last.second)) last = {which, output_of(loader, "--list", path)};
  return last.second;
}

/// The command line of a process.
std::vector<std::string> words_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

} // namespace

std::vector<std::string> own_arguments() {
  std::vector<std::string> words = words_of("self");
  if (!words.empty()) words.erase(words.begin());
  return words;
}

const std::string& start_folder() {
  static const auto* const folder = [] {
    std::array<char, 4096> path{};
    return new std::string(getcwd(path.data(), path.size()) ? path.data() : ""); // a growth may be the last thing done
  }();
  return *folder;
}

namespace {
/// Before main, which may change the folder.
[[gnu::constructor]] void remember_start_folder() {
  start_folder();
}
} // namespace

void check_start_folder() {
  const std::string& folder = start_folder();
  if (folder.empty() || access(folder.c_str(), X_OK) == 0) return;
  throw Error(
      Status::not_found,
      "blacs-dyn: the folder in which the program was started, {}: {}; new processes start there, so make it again",
      folder, std::strerror(errno));
}

std::string find_program(const std::string& command) {
  if (command[0] == '/') return command;
  if (command.find('/') != std::string::npos) return start_folder() + "/" + command;
  if (const std::string program = base::search_path(command); !program.empty()) return program;
  throw Error(Status::not_found, "blacs-dyn: program to spawn is \"{}\", which is not in PATH; give its full path",
              command);
}

void check_program(const std::string& path) {
  constexpr const char* deleted = " (deleted)";
  if (path.size() > std::strlen(deleted) &&
      path.compare(path.size() - std::strlen(deleted), std::string::npos, deleted) == 0)
    throw Error(Status::spawn_failure,
                "blacs-dyn: program {} was removed or replaced since it was started; new processes would run another "
                "one. Start the application anew to grow again",
                path.substr(0, path.size() - std::strlen(deleted)));
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    throw Error(Status::not_found, "blacs-dyn: program to spawn {}: {}; check the path, also on the other hosts", path,
                std::strerror(errno));
  if (!S_ISREG(info.st_mode) || access(path.c_str(), X_OK) != 0)
    throw Error(Status::spawn_failure, "blacs-dyn: program to spawn {} is not an executable file (chmod +x?)", path);

  if (path == own_program() && links_as_this_one()) return; // with MPI, if only by dlopen (Python)
  const std::string loader = base::loader_of(path);
  if (loader.empty()) return; // static, a script, another architecture: nothing more that can be looked at
  std::istringstream lines(libraries_of(loader, path, info));
  bool has_mpi = false;
  for (std::string line; std::getline(lines, line);) {
    has_mpi = has_mpi || line.find("libmpi") != std::string::npos;
    if (line.find("not found") == std::string::npos && line.find("error while loading") == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t");
    throw Error(Status::spawn_failure,
                "blacs-dyn: program to spawn {} does not link: {}; set LD_LIBRARY_PATH or its rpath", path,
                line.substr(first == std::string::npos ? 0 : first));
  }
  // one that never calls MPI_Init would end the application
  if (!has_mpi && path != own_program())
    throw Error(Status::spawn_failure,
                "blacs-dyn: program to spawn {} is not linked with MPI; a process that does not call MPI_Init would "
                "end the whole application",
                path);
}

namespace {
/// As Open MPI compares them.
std::string short_name(const std::string& host) {
  return host.substr(0, host.find('.'));
}

bool holds(const std::vector<std::string>& hosts, const std::string& host) {
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const std::string& known) { return short_name(known) == short_name(host); });
}

/// Of the process that started us.
std::optional<std::vector<std::string>> launchers_hosts() {
  return hosts_given_to(words_of(std::to_string(getppid())), own_arguments());
}
} // namespace

std::optional<std::vector<std::string>> hosts_given_to(const std::vector<std::string>& launcher,
                                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> hosts;
  for (auto part = launcher.begin(); part != launcher.end();) { // mpirun's, for one program each
    const auto colon = std::find(part, launcher.end(), ":");
    const auto count = static_cast<std::ptrdiff_t>(arguments.size());
    const bool has_ours = colon - part >= count && std::equal(arguments.begin(), arguments.end(), colon - count);
    const auto end = has_ours ? colon - count : colon;
    for (auto word = part; end - word > 1; ++word) {
      if (*word == "-hostfile" || *word == "--hostfile" || *word == "-machinefile" || *word == "--machinefile")
        return std::nullopt;
      if (*word != "-H" && *word != "-host" && *word != "--host") continue;
      std::istringstream list(*(word + 1));
      for (std::string host; std::getline(list, host, ',');) hosts.push_back(host.substr(0, host.find(':')));
    }
    part = colon == launcher.end() ? colon : colon + 1;
  }
  return hosts;
}

void check_host(const std::string& host) {
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (code == 0)
    freeaddrinfo(found);
  else
    throw Error(Status::not_found, "blacs-dyn: host to spawn on is \"{}\": {}; check DYNGRID_HOSTS or blacs_setup.dat",
                host, gai_strerror(code));
  const std::vector<std::string> known = launchers_hosts().value_or(std::vector<std::string>());
  if (!known.empty() && !holds(known, host))
    throw Error(Status::not_found,
                "blacs-dyn: host to spawn on is \"{}\", which is not in mpirun's -H list; start mpirun with it", host);
}

bool has_other_hosts(const std::vector<std::string>& known) {
  const auto variable = [](const char* name) {
    const char* value = base::environment(name);
    return std::string(value ? value : "");
  };
  if (base::count_allocated_hosts(variable) > static_cast<int>(known.size())) return true;
  if (base::environment("DYNGRID_START", "command")) return true; // it knows where
  const auto hosts = launchers_hosts();
  return !hosts || std::any_of(hosts->begin(), hosts->end(), [&](const std::string& host) {
    return host != "localhost" && host != "127.0.0.1" && !holds(known, host);
  });
}

} // namespace blacs_dyn
