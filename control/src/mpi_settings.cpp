// SPDX-License-Identifier: BSD-3-Clause
#include "control/mpi_settings.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "control/variables.hpp"

namespace control {
namespace {

constexpr std::string_view mca_prefix = "OMPI_MCA_";

/// Lines are NAME = value.
bool is_in_file(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (base::trimmed(std::string_view(line).substr(0, line.find('='))) == name) return true;
  return false;
}

} // namespace

bool is_of_an_mpirun(std::string_view name) {
  for (const char* of_user : {"PMIX_MCA_", "PRTE_MCA_", "OMPI_ALLOW_RUN_AS_ROOT"})
    if (base::begins_with(name, of_user)) return false;
  if (base::begins_with(name, mca_prefix)) {
    name.remove_prefix(mca_prefix.size());
    for (const char* own : {"pmix", "ess", "initial_wdir", "mpi_oversubscribe", "shmem_RUNTIME_QUERY_hint"})
      if (name == own) return true;
    for (const char* own : {"ess_base_", "orte_ess_", "orte_precondition_transports", "orte_local_daemon_uri",
                            "orte_hnp_uri", "orte_app_num", "orte_num_nodes", "orte_bound_at_launch", "orte_launch",
                            "orte_top_session_dir", "orte_jobfam_session_dir", "orte_tmpdir_base"})
      if (base::begins_with(name, own)) return true;
    return false;
  }
  for (const char* own : {"OMPI_", "PMIX_", "PRTE_", "ORTE_", "PMI_", "HYDI_"})
    if (base::begins_with(name, own)) return true;
  return false;
}

void forget_outer_mpirun() {
  if (!base::environment("PMIX_NAMESPACE") && !base::environment("OMPI_UNIVERSE_SIZE")) return;
  for (const std::string& variable : whole_environment()) {
    const std::string name = variable.substr(0, variable.find('='));
    if (is_of_an_mpirun(name)) unsetenv(name.c_str());
  }
}

const std::vector<MpiSetting>& settings_of_open_mpi_5() {
  static const std::vector<MpiSetting> all = {
      {"OMPI_MCA_reachable", "weighted",
       "otherwise TCP finds no way from an IPv6 address of this host to itself, and no process can be started",
       "none on one host"},
      {"OMPI_MCA_coll_han_priority", "-1",
       "its collectives hang in communicators of old and new processes, which disagree about which processes are on "
       "this host",
       "none on one host, where han does nothing; programs that mpirun starts on several hosts keep it"},
  };
  return all;
}

bool is_set_by_user(const MpiSetting& setting) {
  const std::string_view name = std::string_view(setting.name).substr(mca_prefix.size());
  if (base::environment(setting.name)) return true;
  // a list of requested collectives, not one of excluded ones
  if (const char* chosen = base::environment("OMPI_MCA_coll"); chosen && *chosen != '^' && name.substr(0, 5) == "coll_")
    return true;
  const char* home = base::environment("HOME");
  return home && is_in_file(std::string(home) + "/.openmpi/mca-params.conf", name);
}

} // namespace control
