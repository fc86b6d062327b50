// SPDX-License-Identifier: BSD-3-Clause
#include "base/allocation.hpp"

#include <algorithm>
#include <array>

#include "base/files.hpp"
#include "base/host_list.hpp"
#include "base/text.hpp"

namespace base {
namespace {

void add(std::vector<std::string>& hosts, const std::string& host) {
  const auto is_known = [&](const std::string& known) { return is_same_host(known, host); };
  if (std::none_of(hosts.rbegin(), hosts.rend(), is_known)) hosts.push_back(host);
}

} // namespace

std::vector<std::string> allocated_hosts(const VariableOf& variable) {
  std::vector<std::string> hosts;
  // a line for each slot of PBS and LSF; "HOST SLOTS QUEUE ..." of Grid Engine
  for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"}) {
    const std::string file = variable(name);
    if (!hosts.empty() || file.empty()) continue;
    for (const std::string& line : split(content_of(file), '\n'))
      if (const std::vector<std::string> words = words_in(line); !words.empty()) add(hosts, words[0]);
  }
  if (!hosts.empty()) return hosts;
  const std::vector<std::string> words = words_in(variable("LSB_MCPU_HOSTS")); // "HOST SLOTS HOST SLOTS ..."
  for (std::size_t k = 0; k < words.size(); k += 2) add(hosts, words[k]);
  return hosts;
}

int count_allocated_hosts(const VariableOf& variable) {
  const int of_slurm = whole_number<int>(variable("SLURM_JOB_NUM_NODES")).value_or(0);
  return of_slurm > 0 ? of_slurm : static_cast<int>(allocated_hosts(variable).size());
}

bool is_of_an_allocation(std::string_view name) {
  constexpr std::array<std::string_view, 9> of_others{
      "PBS_ENVIRONMENT", "PBS_JOBID",      "PBS_NODEFILE",          "LSB_JOBID",  "LSB_DJOB_HOSTFILE",
      "LSB_HOSTS",       "LSB_MCPU_HOSTS", "LSB_AFFINITY_HOSTFILE", "PE_HOSTFILE"};
  return begins_with(name, "SLURM_") || std::find(of_others.begin(), of_others.end(), name) != of_others.end();
}

} // namespace base
