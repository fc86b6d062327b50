// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/this_mpi.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/mpi/check.hpp"
#include "base/mpi/library.hpp"
#include "base/mpi_version.hpp"
#include "control/host.hpp"
#include "processes/launchers/openmpi4.hpp"
#include "processes/launchers/openmpi5.hpp"

namespace blacs_dyn {
namespace {

int universe_size() {
  int* universe = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_known); // on no other communicator
  return is_known && universe ? std::max(0, *universe) : 0;
}

/// Open MPI's processes of two worlds talk by TCP, and its TCP leaves 127.0.0.1 out.
std::string network_trouble() {
  if (base::environment("OMPI_MCA_btl_tcp_if_include") || base::environment("OMPI_MCA_btl_tcp_if_exclude") ||
      control::has_network())
    return {};
  return "this host has no network interface that is up but the loopback one, which Open MPI does not use between old "
         "and new processes; start mpirun with OMPI_MCA_btl_tcp_if_include=lo";
}

/// The major version distinguishes another mpirun from the library's: only that of 5 gives its own.
std::string launcher_trouble() {
  const char* version = base::environment("OMPI_VERSION");
  const bool is_of_5 = version && base::version_in(version)[0] >= 5; // images set one for 4, too
  if (!base::environment("OMPI_COMM_WORLD_SIZE") || is_of_5 == is_open_mpi_5()) return {};
  return fmt::format("mpirun is of Open MPI {}, and the program's library of {}; start it with the mpirun of its "
                     "library",
                     is_of_5 ? version : "4 or older", base::to_string(base::mpi_library().version));
}

/// MPICH alone.
std::string device_trouble(const base::MpiVersion& mpi) {
  if (base::starts_processes(mpi)) return {};
  return fmt::format("this MPI, MPICH {} over UCX (device ch4:ucx), cannot start processes or connect to others, so a "
                     "grid has at most the processes that mpiexec started: start as many as the largest grid needs, by "
                     "dyngrid run --spare N, and they sleep until then. Or take Open MPI, MPICH from {}.{}, or one "
                     "built with ch4:ofi",
                     base::to_string(mpi.version), base::mpich_spawns_over_ucx_from[0],
                     base::mpich_spawns_over_ucx_from[1]);
}

/// Open MPI, 4 and 5, counts the users of its event library, for which every call of its progress engine looks into it.
struct EventUsers {
  using Count = void (*)();
  Count add = nullptr, remove = nullptr;
  bool is_whole() const { return add && remove; }
};
const EventUsers& event_users() {
  static const EventUsers found = [] {
    const auto find = [](const char* name) { return reinterpret_cast<EventUsers::Count>(dlsym(RTLD_DEFAULT, name)); };
    if (base::mpi_library().mpi != base::Mpi::open_mpi) return EventUsers{};
    return EventUsers{find("opal_progress_event_users_increment"), find("opal_progress_event_users_decrement")};
  }();
  return found;
}

} // namespace

bool is_open_mpi() {
  return base::mpi_library().mpi == base::Mpi::open_mpi;
}
bool is_open_mpi_5() {
  return base::is_open_mpi_5(base::mpi_library());
}

bool starts_all_by_process_0() {
  return base::mpi_library().mpi == base::Mpi::mpich;
}

bool is_unbound() { // with 5 each gets a core of its own otherwise, or none is started where no core is left
  return is_open_mpi_5() || (is_open_mpi() && !base::environment("OMPI_MCA_orte_bound_at_launch"));
}

Slots slots() {
  return {universe_size(), is_open_mpi_5() ? openmpi5::may_oversubscribe() : openmpi4::may_oversubscribe()};
}

std::string spawn_trouble(bool are_several_hosts) {
  if (base::mpi_library().mpi == base::Mpi::mpich) return device_trouble(base::mpi_library());
  if (base::mpi_library().mpi != base::Mpi::open_mpi) return {};
  if (const std::string why = launcher_trouble(); !why.empty()) return why;
  if (are_several_hosts && !base::starts_processes_elsewhere(base::mpi_library()))
    return openmpi5::remote_spawn_trouble();
  return network_trouble();
}

std::string remote_spawn_trouble() {
  return base::starts_processes_elsewhere(base::mpi_library()) ? std::string() : openmpi5::remote_spawn_trouble();
}

std::string trouble_with_integers() {
  constexpr const char* expected = "dyngrid's interfaces take integers of 4 bytes (LP64)";
  int bytes = 4;
  if (base::mpi_is_up()) MPI_Type_size(MPI_INTEGER, &bytes);
  if (bytes > 4)
    return fmt::format("this MPI was built for Fortran integers of {} bytes (ILP64), and {}: take an MPI without",
                       bytes, expected);
  std::string wide;
  const auto look = [](dl_phdr_info* object, std::size_t, void* found) {
    if (object->dlpi_name == nullptr || !std::strstr(object->dlpi_name, "ilp64")) return 0;
    *static_cast<std::string*>(found) = object->dlpi_name;
    return 1;
  };
  dl_iterate_phdr(look, &wide);
  if (wide.empty()) return {};
  return fmt::format("{} is for integers of 8 bytes (ILP64), and {}: link the libraries for those (lp64)", wide,
                     expected);
}

bool is_on_one_host() {
  const char *all = base::environment("OMPI_COMM_WORLD_SIZE"), *here = base::environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  return all == nullptr || here == nullptr || std::string_view(all) == here;
}

LooksForConnections::LooksForConnections() {
  if (!event_users().is_whole()) return;
  event_users().add();
  holds_ = true;
}
void LooksForConnections::stop() {
  if (std::exchange(holds_, false)) event_users().remove();
}

std::vector<std::pair<std::string, std::string>> spawn_info(const std::string& host, int count) {
  std::vector<std::pair<std::string, std::string>> info;
  if (!host.empty()) info.emplace_back("host", fmt::format("{}:{}", host, count));
  if (is_unbound()) info.emplace_back("bind_to", "none");
  if (is_open_mpi_5()) openmpi5::add_spawn_info(info, count);
  return info;
}

} // namespace blacs_dyn
