// SPDX-License-Identifier: BSD-3-Clause
#include "processes/hosts.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "base/host_list.hpp"
#include "control/limits.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/mpi_util.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

std::string Hosts::known_as(const std::string& name) const {
  if (name == "localhost" && !of_ranks_.empty()) return of_ranks_[0];
  const auto at = std::find_if(cores_.begin(), cores_.end(),
                               [&](const auto& known) { return base::is_same_host(known.first, name); });
  return at == cores_.end() ? name : at->first;
}

int Hosts::cores_of(const std::string& host) const {
  auto at = cores_.find(host.empty() ? base::host_name() : known_as(host));
  if (at == cores_.end()) at = cores_.find(base::host_name());
  return at == cores_.end() ? 0 : at->second;
}

int Hosts::find(MPI_Comm world, GroupPolicy& policy) {
  char mine[256] = "";
  base::host_name().copy(mine, sizeof mine - 1);
  int size = 0;
  MPI_Comm_size(world, &size);
  std::vector<char> all(sizeof mine * static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, world), "MPI_Allgather");
  const int my_cores = control::usable_cores();
  std::vector<int> cores(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&my_cores, 1, MPI_INT, cores.data(), 1, MPI_INT, world), "MPI_Allgather");
  std::vector<std::string> hosts;
  std::map<std::string, int> started;
  for (int r = 0; r < size; ++r) {
    const std::string host = all.data() + sizeof mine * static_cast<std::size_t>(r);
    of_ranks_.push_back(host);
    if (started[host]++ == 0) hosts.push_back(host);
    cores_.emplace(host, cores[static_cast<std::size_t>(r)]);
  }
  // mpirun may have others, where it must not start what the pool needs
  are_several_ = hosts.size() > 1 || !is_on_one_host();
  if (policy.hosts.empty() && are_several_) {
    policy.hosts = hosts;
    policy.slots.assign(hosts.size(), 0);
  }
  if (const auto twice = base::named_twice(policy.hosts, of_ranks_[0]))
    throw base::Error(base::Status::bad_argument, "blacs-dyn: DYNGRID_HOSTS: {} is there twice", *twice);
  for (const std::string& host : policy.hosts) policy.started.push_back(started[known_as(host)]);
  const auto is_known = [&](const std::string& host) { return cores_.count(known_as(host)) > 0; };
  const bool all_known =
      policy.hosts.empty() ? !has_other_hosts(hosts) : std::all_of(policy.hosts.begin(), policy.hosts.end(), is_known);
  int known_cores = 0;
  for (const auto& [host, count] : cores_) known_cores += all_known ? count : 0;
  return known_cores;
}

} // namespace blacs_dyn
