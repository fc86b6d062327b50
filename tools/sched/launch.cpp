// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"

namespace sched {

Hosts Hosts::parse(const std::string& text) {
  Hosts hosts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::vector<std::string> words = base::split(part, ':');
    const int slots = words.size() > 1 ? base::whole_number<int>(words[1]).value_or(0) : 1;
    char* end = nullptr;
    const double speed = words.size() > 2 ? std::strtod(words[2].c_str(), &end) : 1;
    const bool is_speed = words.size() < 3 || (end != words[2].c_str() && *end == '\0' && std::isfinite(speed));
    if (words.empty() || words.size() > 3 || words[0].empty() || words[0][0] == '-' || slots < 1 || slots > 1 << 16 ||
        !is_speed || !(speed > 0))
      throw base::Error(base::Status::bad_argument,
                        fmt::format("scheduler: '{}' in the list of hosts is not a name, a number of processors and "
                                    "their speed like node1:8 or node1:8:1.4",
                                    part));
    hosts.list.push_back({words[0], slots, speed});
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
    for (const auto& [name, slots, speed] : options.hosts.list) {
      int count = 0;
      for (const int id : processors) count += id >= first && id < first + slots;
      if (count > 0) here += fmt::format("{}{}:{}", here.empty() ? "" : ",", name, count);
      all += fmt::format("{}{}:{}", all.empty() ? "" : ",", name, slots);
      if (speed != 1) all += fmt::format(":{:g}", speed);
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
