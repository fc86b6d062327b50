// SPDX-License-Identifier: BSD-3-Clause
#include "grid/newcomer_command.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/allocation.hpp"
#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "control/mpi_settings.hpp"
#include "processes/launchers/pmix.hpp"
#include "processes/launchers/this_mpi.hpp"
#include "processes/preflight.hpp"

namespace blacs_dyn {

using base::Error;
using base::Status;

namespace {

/// Variables that a new process gets too: Open MPI hands a spawned process the environment of mpirun and not that of
/// its parent.
bool goes_along(std::string_view name) {
  constexpr std::array<std::string_view, 5> for_one{"DYNGRID_NEWCOMER", "DYNGRID_ENTRY", "DYNGRID_JOIN", "DYNGRID_MEET",
                                                    "DYNGRID_POOL"};
  constexpr std::array<std::string_view, 6> others{"LD_PRELOAD",           "LD_LIBRARY_PATH",
                                                   "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                                   "OPENBLAS_CORETYPE",    "OMPI_MCA_mpi_yield_when_idle"};
  const auto is_in = [&](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  const auto& mpi = control::settings_of_open_mpi_5();
  return (name.substr(0, 8) == "DYNGRID_" && !is_in(for_one)) || is_in(others) ||
         std::any_of(mpi.begin(), mpi.end(), [&](const auto& setting) { return name == setting.name; });
}

/// Whether each process has one of its own, or mpirun sees to it.
bool is_of_one_process(std::string_view name) {
  constexpr std::array<std::string_view, 4> of_a_shell{"PWD", "OLDPWD", "SHLVL", "_"};
  return std::find(of_a_shell.begin(), of_a_shell.end(), name) != of_a_shell.end() || control::is_of_an_mpirun(name) ||
         name.find("_MCA_") != std::string_view::npos || base::is_of_an_allocation(name);
}

std::set<std::string> environment_at_start(const std::string& process) {
  std::ifstream file("/proc/" + process + "/environ", std::ios::binary);
  std::set<std::string> all;
  for (std::string variable; std::getline(file, variable, '\0');) all.insert(variable);
  return all;
}

/// Variables of this process that the one that started it did not have, or not so: by mpirun -x, a script before the
/// program, or the program itself.
std::vector<std::string> own_variables() {
  std::set<std::string> before = environment_at_start(std::to_string(getppid()));
  if (before.empty()) before = environment_at_start("self");
  std::vector<std::string> all;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view name = std::string_view(*variable).substr(0, std::string_view(*variable).find('='));
    if (before.count(*variable) == 0 && name.substr(0, 8) != "DYNGRID_" && !goes_along(name) &&
        !is_of_one_process(name))
      all.emplace_back(*variable);
  }
  return all;
}

/// For the shell of a new process: the OPENBLAS_CORETYPE that dyngrid run has chosen is for the processor of this host.
/// The user's own holds on all.
std::string words_about_core() {
  const char *core = base::environment("OPENBLAS_CORETYPE"), *chosen = base::environment("DYNGRID_CORETYPE");
  if (!core || !chosen || std::string_view(core) != chosen) return {};
  return fmt::format("[ \"$(uname -n)\" = {} ] || unset OPENBLAS_CORETYPE; ", base::shell_line({base::host_name()}));
}

/// Changes a new process in a shell before it becomes the program: umask, soft limits and niceness of this one, and a
/// standard input that ends. (A limit above the hard one there, or a smaller niceness, is not available.) mpirun leaves
/// it a pipe without a writer; so it gets the file that mpirun reads, from its beginning, or nothing.
std::string first_words(LauncherKind way) {
  const mode_t mask = umask(0);
  umask(mask);
  std::string words = fmt::format("umask {:03o}; ", mask);
  struct Limit {
    char letter;
    __rlimit_resource resource;
    rlim_t unit; ///< in bytes, of ulimit
  };
  for (const auto [letter, resource, unit] :
       {Limit{'t', RLIMIT_CPU, 1}, Limit{'f', RLIMIT_FSIZE, 512}, Limit{'d', RLIMIT_DATA, 1024},
        Limit{'s', RLIMIT_STACK, 1024}, Limit{'c', RLIMIT_CORE, 512}, Limit{'l', RLIMIT_MEMLOCK, 1024},
        Limit{'n', RLIMIT_NOFILE, 1}, Limit{'v', RLIMIT_AS, 1024}}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0)
      words += fmt::format("ulimit -S -{} {} 2>/dev/null; ", letter,
                           limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / unit));
  }
  if (const int niceness = getpriority(PRIO_PROCESS, 0); niceness > 0)
    words += fmt::format("renice {} -p $$ >/dev/null 2>&1; ", niceness);
  // Open MPI 4 ends the whole job when a process that it starts ends with an error, and gives up one that never comes.
  // That one is ended by PMIx
  if (way == LauncherKind::blocking && is_open_mpi() && !is_open_mpi_5() && pmix::trouble().empty())
    words += "command -v \"$0\" >/dev/null || { echo \"dyngrid: $(uname -n) has no program $0, expected it there under "
             "the same path; the growth is given up\" >&2; exec sleep 2147483647; }; ";
  return words + "in=/proc/$PPID/fd/0; [ -f $in ] && [ -r $in ] || in=/dev/null; "
                 "exec \"$0\" \"$@\" <$in";
}

} // namespace

namespace {

/// The program may change PATH on one process: no error here, where only one would throw.
std::string env_program() {
  const std::string found = base::search_path("env");
  return found.empty() ? "/usr/bin/env" : found;
}

} // namespace

void NewcomerCommand::set(std::string program, std::optional<std::vector<std::string>> arguments) {
  program_ = std::move(program);
  arguments_ = std::move(arguments);
}

std::string NewcomerCommand::program() const {
  return !program_.empty() ? program_ : base::environment("DYNGRID_START", "program").value_or(own_program());
}

void NewcomerCommand::check() const {
  if (const std::string env = env_program(); access(env.c_str(), X_OK) != 0)
    throw Error(Status::not_found,
                "blacs-dyn: new processes start through env, which is neither in PATH nor {}; add its folder to PATH",
                env);
  check_program(find_program(program()));
  check_start_folder();
}

SpawnOptions NewcomerCommand::options() const {
  SpawnOptions options;
  options.program = env_program(); // which sets the variables
  options.join_limit_s = settings_.join_limit_s;
  options.arguments.push_back(processes_.mode() == Mode::classical ? "DYNGRID_NEWCOMER=classical"
                                                                   : "DYNGRID_NEWCOMER=managed");
  if (!settings_.pool.empty()) options.arguments.push_back("DYNGRID_POOL=" + settings_.pool);
  if (const std::string entry = program_position_.name_for_newcomers(); !entry.empty())
    options.arguments.push_back("DYNGRID_ENTRY=" + entry);
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    if (goes_along(text.substr(0, text.find('=')))) options.arguments.emplace_back(text);
  }
  options.shown = program();
  options.variables = own_variables();
  options.folder = start_folder();
  std::string first = words_about_core() + first_words(settings_.way);
  if (settings_.way == LauncherKind::blocking && options.folder.size() >= MPI_MAX_INFO_VAL) // MPI_Info_set refuses it
    first = fmt::format("cd {} || exit; {}", base::shell_line({std::exchange(options.folder, "")}), first);
  for (const std::string& word : {std::string("sh"), std::string("-c"), first}) options.arguments.push_back(word);
  options.arguments.push_back(options.shown);
  for (const std::string& word : arguments_ ? *arguments_ : own_arguments()) options.arguments.push_back(word);
  return options;
}

} // namespace blacs_dyn
