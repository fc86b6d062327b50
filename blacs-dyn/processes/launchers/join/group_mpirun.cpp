// SPDX-License-Identifier: BSD-3-Clause
#include "processes/launchers/join/group_mpirun.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/allocation.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/host_list.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "processes/launchers/openmpi4.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {
namespace {

using base::environment;

/// The standard input of mpirun, from its beginning, where that is a file; else nothing. The new mpirun's processes
/// look there, too.
base::FileDescriptor input_of_our_mpirun() {
  const std::string input = fmt::format("/proc/{}/fd/0", getppid());
  struct stat info {};
  if (stat(input.c_str(), &info) == 0 && S_ISREG(info.st_mode))
    if (base::FileDescriptor opened(open(input.c_str(), O_RDONLY | O_CLOEXEC)); opened) return opened;
  return base::memory_file("dyngrid-input", "");
}

/// Starts a program. @throws Error{spawn_failure, not_found}
pid_t start_program(const std::vector<std::string>& words, const std::vector<std::string>& variables,
                    const base::FileDescriptor& in) {
  base::Command command;
  command.words = words;
  command.environment = variables;
  command.in = in.get();
  command.ends_with_parent = gettid() == getpid(); // also a group that hangs; another thread may end before the program
  return base::start(command);
}

std::vector<std::string> passed_on() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable && *variable; ++variable)
    if (is_passed_on(*variable)) variables.emplace_back(*variable);
  return variables;
}

/// On another host: a shell there, by DYNGRID_START=agent=COMMAND or ssh, with what a shell of its own may not set.
std::vector<std::string> remote_command(const std::string& host, const std::vector<std::string>& words,
                                        const std::vector<std::string>& variables, const std::string& folder) {
  std::vector<std::string> remote = base::words_in(environment("DYNGRID_START", "agent").value_or("ssh -x"));
  std::vector<std::string> there{"env"};
  for (const std::string& variable : variables)
    if (base::begins_with(variable, "OMPI_") || base::begins_with(variable, "PATH=") ||
        base::begins_with(variable, "LD_LIBRARY_PATH="))
      there.push_back(variable);
  const std::vector<std::string> command = with_join_from_input(words);
  there.insert(there.end(), command.begin(), command.end());
  remote.push_back(host);
  remote.push_back(fmt::format("cd {} && exec {}", base::shell_line({folder}), base::shell_line(there)));
  return remote;
}

} // namespace

StartedMpirun start_group_mpirun(const NewGroup& group, int number, const std::string& server,
                                 const std::string& invitation, const SpawnOptions& options) {
  const auto given = environment("DYNGRID_START", "mpirun");
  const std::string mpirun = given ? *given : find_program("mpirun");
  const std::vector<std::string> words = group_command(mpirun, server, group, options);
  std::vector<std::string> variables = passed_on();
  const base::FileDescriptor sent = base::memory_file("dyngrid-input", invitation + "\n"); // it need not be fed
  if (const auto start = environment("DYNGRID_START", "command")) {
    variables.push_back(fmt::format("DYNGRID_UNIT_NUMBER={}", number));
    variables.push_back(fmt::format("DYNGRID_UNIT_PROCESSES={}", group.members.size()));
    variables.push_back("DYNGRID_UNIT_HOST=" + group.host);
    variables.push_back("DYNGRID_UNIT_COMMAND=" + base::shell_line(with_join_from_input(words)));
    variables.push_back("DYNGRID_JOIN=" + invitation);
    return {start_program({"/bin/sh", "-c", *start}, variables, sent), false};
  }
  if (!base::is_this_host(group.host))
    return {start_program(remote_command(group.host, words, variables, options.folder), variables, sent), true};
  variables.push_back("DYNGRID_JOIN=" + invitation);
  return {start_program(words, variables, input_of_our_mpirun()), true};
}

bool is_passed_on(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name == "DYNGRID_NEWCOMER" || name == "DYNGRID_JOIN" || name == "DYNGRID_RESTORE") return false;
  if (base::is_of_an_allocation(name))
    return name == "SLURM_CONF"; // the group's mpirun must not take itself for a step of this job
  return !openmpi4::is_of_its_mpirun(name);
}

/// Without a standard input that mpirun hands on: Open MPI 4.1's ends by a segmentation fault where a process has
/// closed the pipe that it writes to. New processes open mpirun's own standard input instead.
std::vector<std::string> group_command(const std::string& mpirun, const std::string& server, const NewGroup& group,
                                       const SpawnOptions& options) {
  std::vector<std::string> words{mpirun,      "--ompi-server", server,    "--oversubscribe",
                                 "--bind-to", "none",          "--stdin", "none",
                                 "-x",        "DYNGRID_JOIN",  "-np",     std::to_string(group.members.size())};
  if (!options.folder.empty()) words.insert(words.end(), {"--wdir", options.folder});
  words.push_back(options.program);
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return words;
}

std::vector<std::string> with_join_from_input(const std::vector<std::string>& words) {
  std::vector<std::string> all{"sh", "-c",
                               "[ -n \"$DYNGRID_JOIN\" ] || IFS= read -r DYNGRID_JOIN || { echo 'dyngrid: DYNGRID_JOIN "
                               "is not set, and standard input has not got it' >&2; exit 2; }; "
                               "export DYNGRID_JOIN; exec \"$@\" </dev/null",
                               "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

} // namespace blacs_dyn
