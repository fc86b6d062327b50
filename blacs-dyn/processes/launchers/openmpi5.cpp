// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/openmpi5.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/mpi_version.hpp"
#include "control/mpi_settings.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn::openmpi5 {

using base::environment;

bool may_oversubscribe() {
  const std::string mapping = pmix::job_text("pmix.mapby"); // "BYCORE:OVERSUBSCRIBE" or "...:NOOVERSUBSCRIBE"
  return mapping.find(":OVERSUBSCRIBE") != std::string::npos;
}

std::string remote_spawn_trouble() {
  return "with Open MPI 5 processes can be started only on the host where all of the application is: its launcher "
         "loses the addresses of others. Start as many as the largest grid needs at once, dyngrid run --spare N or "
         "DYNGRID_SPARE=N, and they sleep until then; or take Open MPI 4.1";
}

std::string join_trouble() {
  return "new processes are to join (DYNGRID_PROCESSES=join), but Open MPI 5 has no ompi-server, and processes of two "
         "mpiruns never meet; leave DYNGRID_PROCESSES out, or take Open MPI 4.1";
}

void add_spawn_info(std::vector<std::pair<std::string, std::string>>& info, int count) {
  const std::string own = base::host_name();
  if (info.front().first != "host" && has_other_hosts({own}))
    info.emplace_back("host", fmt::format("{}:{}", own, count));
}

namespace {

/// Before main, since programs may call MPI_Init themselves. Nothing is set where no growth is possible: that is
/// before Open MPI 5, and where mpirun of 5 has started processes on several hosts.
[[gnu::constructor]] void set_before_mpi_starts() {
  const char* version = environment("OMPI_VERSION"); // mpirun says so from 5 on
  const base::MpiVersion mpi{base::Mpi::open_mpi, base::version_in(version ? version : ""), false};
  if (!base::is_open_mpi_5(mpi)) return;
  if (!base::starts_processes_elsewhere(mpi) && !is_on_one_host()) return;
  for (const control::MpiSetting& setting : control::settings_of_open_mpi_5())
    if (!control::is_set_by_user(setting)) setenv(setting.name, setting.value, 1);
}

} // namespace

} // namespace blacs_dyn::openmpi5
