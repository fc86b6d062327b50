// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/openmpi4.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include <dirent.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "control/mpi_settings.hpp"
#include "processes/launchers/linger.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"

namespace blacs_dyn {
namespace {

int kept_socket = -1;
pid_t keeper = 0; ///< the process that keeps it: a fork has a copy, on which nobody waits

/// Port numbers at the end of the launcher's addresses, PMIX_SERVER_URI* = name;tcp4://127.0.0.1:PORT.
std::set<int> launcher_ports() {
  std::set<int> ports;
  for (char** variable = environ; variable && *variable; ++variable) {
    if (std::strncmp(*variable, "PMIX_SERVER_URI", 15) != 0) continue;
    const char* colon = std::strrchr(*variable, ':');
    if (!colon) continue;
    if (const int port = base::whole_number<int>(colon + 1).value_or(0); port > 0) ports.insert(port);
  }
  return ports;
}

int peer_port(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return -1;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return -1;
}

} // namespace

void linger_prepare() {
  if (kept_socket >= 0) return;
  const std::set<int> ports = launcher_ports();
  if (ports.empty()) return;
  DIR* descriptors = opendir("/proc/self/fd");
  if (!descriptors) return;
  while (const dirent* entry = readdir(descriptors)) {
    const int fd = base::whole_number<int>(entry->d_name).value_or(-1);
    if (fd <= 2 || ports.count(peer_port(fd)) == 0) continue;
    kept_socket = dup(fd);
    break;
  }
  closedir(descriptors);
  keeper = getpid();
  if (kept_socket >= 0) std::atexit(linger_wait);
}

void linger_wait() {
  if (kept_socket < 0 || getpid() != keeper) return;
  for (int ms = 0; ms < 5000; ++ms) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(kept_socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_state == TCP_CLOSE ||
        info.tcpi_state == TCP_TIME_WAIT)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  close(kept_socket);
  kept_socket = -1;
}

namespace openmpi4 {

bool may_oversubscribe() {
  const char* oversubscribe = base::environment("OMPI_MCA_rmaps_base_oversubscribe");
  const char* mapping = base::environment("OMPI_MCA_rmaps_base_mapping_policy");
  if (oversubscribe && *oversubscribe != '0') return true;
  const std::string_view policy = mapping ? mapping : "";
  return policy.find("OVERSUBSCRIBE") != std::string_view::npos &&
         policy.find("NOOVERSUBSCRIBE") == std::string_view::npos;
}

const char* name_server() {
  return base::environment("OMPI_MCA_pmix_server_uri");
}

std::string mpirun_name() {
  return mpirun_name(pmix::own_job());
}

std::string mpirun_name(std::string_view job) {
  const auto number = base::whole_number<std::uint32_t>(job.substr(0, job.find_first_not_of("0123456789")));
  return number ? std::to_string(*number >> 16) : "";
}

bool is_of_its_mpirun(std::string_view name) {
  const auto begins_with = [&](std::string_view prefix) { return base::begins_with(name, prefix); };
  if (control::is_of_an_mpirun(name)) return true;
  if (!begins_with("OMPI_MCA_")) return false;
  for (const std::string_view prefix :
       {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll", "OMPI_MCA_oob_tcp_if", "OMPI_MCA_plm_rsh",
        "OMPI_MCA_mpi_yield", "OMPI_MCA_osc", "OMPI_MCA_topo", "OMPI_MCA_rmaps_base_oversubscribe",
        "OMPI_MCA_hwloc_base_binding_policy"})
    if (begins_with(prefix)) return false;
  return true;
}

namespace {

/// Where Open MPI keeps pmix_base_exchange_timeout, which it reads in MPI_Init alone, and which holds for every accept
/// of the program's, too: so it is set for one call.
int* exchange_limit() {
  static int* const found = []() -> int* {
    using Find = int (*)(const char*, const char*, const char*, const char*);
    using Value = int (*)(int, const void*, void*, const char**);
    const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "mca_base_var_find"));
    const auto value = reinterpret_cast<Value>(dlsym(RTLD_DEFAULT, "mca_base_var_get_value"));
    if (!find || !value || !is_open_mpi() || is_open_mpi_5()) return nullptr;
    const int variable = find("opal", "pmix", "base", "exchange_timeout");
    int* at = nullptr;
    return variable >= 0 && value(variable, &at, nullptr, nullptr) == 0 ? at : nullptr;
  }();
  return found;
}

} // namespace

SpawnLimit::SpawnLimit(double seconds) : limit_(exchange_limit()) {
  if (!limit_) return;
  before_ = *limit_;
  *limit_ = 4 * std::max(1, static_cast<int>(seconds / 2)); // mpirun looks every 2 s and counts these twice
}

SpawnLimit::~SpawnLimit() {
  if (limit_) *limit_ = before_;
}

} // namespace openmpi4
} // namespace blacs_dyn
