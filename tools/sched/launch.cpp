// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"

namespace sched {

int Hosts::procs() const {
  int sum = 0;
  for (const auto& host : list) sum += host.second;
  return sum;
}

Hosts Hosts::parse(const std::string& text) {
  Hosts hosts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const auto colon = part.rfind(':');
    int slots = 1;
    if (colon != std::string::npos) {
      const auto [end, error] = std::from_chars(part.data() + colon + 1, part.data() + part.size(), slots);
      if (error != std::errc{} || end != part.data() + part.size()) slots = 0;
    }
    const std::string name = part.substr(0, colon);
    if (name.empty() || name[0] == '-' || slots < 1 || slots > 1 << 16)
      throw base::Error(base::Status::bad_argument,
                        fmt::format("scheduler: '{}' in the list of hosts is not a name and a number of processors "
                                    "like node1:8",
                                    part));
    hosts.list.emplace_back(name, slots);
    at = comma + 1;
  }
  return hosts;
}

namespace {
/// What the job's environment, or the scheduler's, says already, and its steps.
std::string with_steps(const JobSpec& spec) {
  constexpr std::string_view name = "DYNGRID_DECIDE=";
  const char* given = base::environment("DYNGRID_DECIDE");
  for (const std::string& variable : spec.variables)
    if (variable.compare(0, name.size(), name) == 0) given = variable.c_str() + name.size();
  return base::with_entry(given, "steps", std::to_string(spec.steps));
}
} // namespace

Launch make_launch(const JobSpec& spec, const std::string& socket_name, const std::string& first_grid,
                   const std::vector<int>& processors, const LaunchOptions& options) {
  Launch launch;
  launch.variables = spec.variables;
  launch.variables.push_back("DYNGRID_JOB=" + socket_name);
  if (!spec.allow.empty()) launch.variables.push_back("DYNGRID_ALLOW=" + spec.allow);
  if (spec.steps > 0) launch.variables.push_back("DYNGRID_DECIDE=" + with_steps(spec));
  if (!first_grid.empty()) launch.variables.push_back("DYNGRID_GRID=" + first_grid);

  auto& command = launch.command;
  command = {options.mpirun};
  command.insert(command.end(), options.mpirun_options.begin(), options.mpirun_options.end());
  if (!options.hosts.list.empty()) {
    std::string here, all;
    int first = 0;
    for (const auto& [name, slots] : options.hosts.list) {
      int count = 0;
      for (const int id : processors) count += id >= first && id < first + slots;
      if (count > 0) here += fmt::format("{}{}:{}", here.empty() ? "" : ",", name, count);
      all += fmt::format("{}{}:{}", all.empty() ? "" : ",", name, slots);
      first += slots;
    }
    launch.variables.push_back("DYNGRID_HOSTS=" + all);
    command.insert(command.end(), {options.is_mpich ? "-hosts" : "--host", here});
    // Open MPI's mpirun hands its environment to its own host only
    for (const auto& variable : options.is_mpich ? std::vector<std::string>{} : launch.variables)
      command.insert(command.end(), {"-x", variable.substr(0, variable.find('='))});
  }
  command.insert(command.end(), {"-np", std::to_string(processors.size())});
  command.insert(command.end(), spec.command.begin(), spec.command.end());
  return launch;
}

} // namespace sched
