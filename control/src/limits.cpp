// SPDX-License-Identifier: BSD-3-Clause
#include "control/limits.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/control_groups.hpp"
#include "base/environment.hpp"
#include "base/text.hpp"

namespace control {

using base::control_groups;
using base::entry_in;
using base::environment;
using base::number_in;
using base::whole_number;

namespace {

/// The status files of all processes, as far as they can be seen from here.
std::vector<std::string> status_files(const std::string& root) {
  std::vector<std::string> files;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(root + "/proc", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (whole_number(entry->path().filename().string())) files.push_back(entry->path().string() + "/status");
  return files;
}

/// Threads of one user.
std::int64_t threads_of(const std::string& root, uid_t user) {
  std::int64_t count = 0;
  for (const std::string& status : status_files(root))
    if (const auto entries = base::entries_in(status, {"Uid:", "Threads:"});
        entries[0] == static_cast<std::int64_t>(user))
      count += std::max<std::int64_t>(0, entries[1]);
  return count;
}

/// Threads in the whole system: "0.1 0.2 0.3 2/345 6789".
std::int64_t all_threads(const std::string& root) {
  std::ifstream in(root + "/proc/loadavg");
  std::string load, running_of_all;
  in >> load >> load >> load >> running_of_all;
  return whole_number(running_of_all.substr(std::min(running_of_all.size(), running_of_all.find('/') + 1))).value_or(0);
}

} // namespace

int cores_of_mask(CoresOf whose) {
  for (const pid_t pid : {whose == CoresOf::launcher ? getppid() : pid_t{0}, pid_t{0}}) {
    std::vector<cpu_set_t> sets(16); // of 16384 processors
    const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(pid, bytes, sets.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, sets.data()));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int usable_cores(CoresOf whose, const std::string& root) {
  if (const auto text = environment("DYNGRID_DECIDE", "cores"))
    if (const auto given = whole_number<int>(*text); given && *given >= 1 && *given <= 1 << 20) return *given;
  return allowed_cores(whose, root);
}

int allowed_cores(CoresOf whose, const std::string& root) {
  std::int64_t cores = cores_of_mask(whose);
  const auto at_most = [&](std::int64_t quota, std::int64_t period) {
    if (quota > 0 && period > 0) cores = std::min(cores, (quota + period - 1) / period);
  };
  for (const std::string& folder : control_groups(root, "cpu")) {
    std::ifstream max(folder + "/cpu.max");
    std::string quota, period;
    max >> quota >> period;
    at_most(whole_number(quota).value_or(-1), whole_number(period).value_or(-1));
    at_most(number_in(folder + "/cpu.cfs_quota_us").value_or(-1),
            number_in(folder + "/cpu.cfs_period_us").value_or(-1));
  }
  return static_cast<int>(std::max<std::int64_t>(1, cores));
}

std::vector<Limit> thread_limits(const std::string& root) {
  std::vector<Limit> limits;
  for (const std::string& folder : control_groups(root, "pids"))
    if (const auto most = number_in(folder + "/pids.max"))
      limits.push_back({"pids.max of the control group " + folder.substr(root.size()), *most,
                        number_in(folder + "/pids.current").value_or(0)});
  rlimit own{};
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    limits.push_back({"RLIMIT_NPROC (ulimit -u)", static_cast<std::int64_t>(own.rlim_cur), threads_of(root, getuid())});
  if (const auto most = number_in(root + "/proc/sys/kernel/pid_max"))
    limits.push_back({"kernel.pid_max", *most, all_threads(root)});
  return limits;
}

Limit open_files(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  Limit limit{"Max open files", 0, 0};
  std::ifstream in(folder + "/limits");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(limit.name, 0) == 0) {
      std::istringstream rest(line.substr(limit.name.size()));
      std::string most;
      rest >> most;
      limit.most = whole_number(most).value_or(0);
    }
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder + "/fd", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    ++limit.used;
  if (failed) limit.most = 0;
  return limit;
}

std::int64_t children_of(int pid) {
  const std::vector<std::string> files = status_files("");
  return std::count_if(files.begin(), files.end(),
                       [&](const std::string& status) { return entry_in(status, "PPid:") == pid; });
}

int own_threads() {
  return static_cast<int>(std::max<std::int64_t>(1, entry_in("/proc/self/status", "Threads:")));
}

std::int64_t own_bytes() {
  const std::int64_t anonymous = entry_in("/proc/self/status", "RssAnon:");
  return anonymous < 0 ? 0 : anonymous * 1024;
}

} // namespace control
