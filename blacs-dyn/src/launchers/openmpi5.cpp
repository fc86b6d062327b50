// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/openmpi5.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dlfcn.h>

#include <fmt/format.h>

#ifdef DYNGRID_HAS_PMIX_HEADER
#include <pmix.h>
#endif

#include "base/environment.hpp"
#include "base/text.hpp"
#include "control/mpi_settings.hpp"
#include "hosts.hpp"
#include "preflight.hpp"

namespace blacs_dyn::openmpi5 {
namespace {

using base::environment;

/// A text that the launcher keeps of this job; empty where it says nothing.
std::string job_text([[maybe_unused]] const char* key) {
#ifdef DYNGRID_HAS_PMIX_HEADER
  // MPI has loaded it, and it is not linked: an Open MPI 4, or MPICH, may be without
  void* library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  const char* job = environment("PMIX_NAMESPACE");
  if (!library || !job) return {};
  const auto get = reinterpret_cast<decltype(&PMIx_Get)>(dlsym(library, "PMIx_Get"));
  pmix_proc_t all{};
  std::strncpy(all.nspace, job, sizeof all.nspace - 1);
  all.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* value = nullptr;
  std::string text;
  if (get && get(&all, key, nullptr, 0, &value) == PMIX_SUCCESS && value) {
    if (value->type == PMIX_STRING && value->data.string) {
      text = value->data.string;
      std::free(value->data.string);
    }
    std::free(value);
  }
  dlclose(library);
  return text;
#else
  return {};
#endif
}

} // namespace

bool may_oversubscribe() {
  const std::string mapping = job_text("pmix.mapby"); // "BYCORE:OVERSUBSCRIBE" or "...:NOOVERSUBSCRIBE"
  return mapping.find(":OVERSUBSCRIBE") != std::string::npos;
}

std::string remote_spawn_trouble() {
  return "with Open MPI 5 processes can be started only on the host where all of the application is: its launcher "
         "loses the addresses of others. Start as many as the largest grid needs at once, dyngrid run --spare N or "
         "DYNGRID_SPARE=N, and they sleep until then; or take Open MPI 4.1";
}

std::string join_trouble() {
  return "new processes are to join (DYNGRID_PROCESSES=join), but Open MPI 5 has no ompi-server, and processes of two "
         "mpiruns never meet; let them be spawned (DYNGRID_PROCESSES=spawn), or take Open MPI 4.1";
}

void add_spawn_info(std::vector<std::pair<std::string, std::string>>& info, int count) {
  // otherwise each gets a core of its own, or there is no spawn where none is left
  info.emplace_back("bind_to", "none");
  const std::string own = Hosts::own_name();
  if (info.front().first != "host" && has_other_hosts({own}))
    info.emplace_back("host", fmt::format("{}:{}", own, count));
}

namespace {

/// Before main, since programs may call MPI_Init themselves. Nothing is set where no growth is possible: that is
/// outside Open MPI 5, and where mpirun has started processes on several hosts.
[[gnu::constructor]] void set_before_mpi_starts() {
  const auto number = [](const char* name) {
    return base::whole_number<int>(environment(name) ? environment(name) : "").value_or(0);
  };
  const char* version = environment("OMPI_VERSION"); // mpirun says so from 5 on
  if (!version || std::atoi(version) < 5) return;
  if (number("OMPI_COMM_WORLD_LOCAL_SIZE") != number("OMPI_COMM_WORLD_SIZE")) return;
  for (const control::MpiSetting& setting : control::settings_of_open_mpi_5())
    if (!control::is_set_by_user(setting)) setenv(setting.name, setting.value, 1);
}

} // namespace

} // namespace blacs_dyn::openmpi5
