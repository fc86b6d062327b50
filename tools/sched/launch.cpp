// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "talk.hpp"

namespace sched {

Hosts Hosts::parse(const std::string& text) {
  return Hosts{advise::parse_hosts(text, "--hosts")};
}

namespace {
/// The entries of the job's environment, or the scheduler's, and its steps.
std::string with_steps(const JobSpec& spec) {
  constexpr std::string_view name = "DYNGRID_DECIDE=";
  const char* given = base::environment("DYNGRID_DECIDE");
  for (const std::string& variable : spec.variables)
    if (variable.compare(0, name.size(), name) == 0) given = variable.c_str() + name.size();
  return base::with_entry(given, "steps", std::to_string(spec.steps));
}
} // namespace

std::string mark_of(const std::string& socket_name, const LaunchOptions& options) {
  return fmt::format("DYNGRID_SCHED_JOB={}-{}", options.scheduler, socket_name);
}

Launch make_launch(const JobSpec& spec, const std::string& socket_name, const std::string& first_grid,
                   const std::vector<int>& processors, const LaunchOptions& options) {
  Launch launch;
  launch.variables = spec.variables;
  launch.variables.push_back("DYNGRID_JOB=" + socket_name);
  launch.variables.push_back("DYNGRID_SCHED=on");
  if (!options.scheduler.empty()) launch.variables.push_back(mark_of(socket_name, options));
  if (!spec.allow.empty()) launch.variables.push_back("DYNGRID_ALLOW=" + spec.allow);
  if (spec.steps > 0) launch.variables.push_back("DYNGRID_DECIDE=" + with_steps(spec));
  if (!first_grid.empty()) launch.variables.push_back("DYNGRID_GRID=" + first_grid);

  auto& command = launch.command;
  command = {options.mpirun};
  command.insert(command.end(), options.mpirun_options.begin(), options.mpirun_options.end());
  if (!options.hosts.list.empty()) {
    std::string here, all;
    for (const Host& host : offer_of(options.hosts, processors))
      here += fmt::format("{}{}:{}", here.empty() ? "" : ",", host.name, host.slots);
    for (const auto& [name, slots, speed] : options.hosts.list) {
      all += fmt::format("{}{}:{}", all.empty() ? "" : ",", name, slots);
      if (speed != 1) all += fmt::format(":{:g}", speed);
    }
    launch.variables.push_back("DYNGRID_HOSTS=" + all);
    command.insert(command.end(), {options.is_mpich ? "-hosts" : "--host", here});
    // Open MPI's mpirun passes its environment to its own host only
    for (const auto& variable : options.is_mpich ? std::vector<std::string>{} : launch.variables)
      command.insert(command.end(), {"-x", variable.substr(0, variable.find('='))});
  }
  command.insert(command.end(), {"-np", std::to_string(processors.size())});
  command.insert(command.end(), spec.command.begin(), spec.command.end());
  return launch;
}

} // namespace sched
