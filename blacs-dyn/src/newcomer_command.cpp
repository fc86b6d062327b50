// SPDX-License-Identifier: BSD-3-Clause
#include "newcomer_command.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "control/mpi_settings.hpp"
#include "preflight.hpp"

namespace blacs_dyn {
namespace {

/// Variables that go along: Open MPI hands a spawned process the environment of mpirun and not that of its parent.
bool goes_along(std::string_view name) {
  constexpr std::array<std::string_view, 4> for_one{"DYNGRID_NEWCOMER", "DYNGRID_ENTRY", "DYNGRID_JOIN",
                                                    "DYNGRID_MEET"};
  constexpr std::array<std::string_view, 6> others{"LD_PRELOAD",           "LD_LIBRARY_PATH",
                                                   "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                                   "OPENBLAS_CORETYPE",    "OMPI_MCA_mpi_yield_when_idle"};
  const auto is_in = [&](const auto& list) { return std::find(list.begin(), list.end(), name) != list.end(); };
  const auto& mpi = control::settings_of_open_mpi_5();
  return (name.substr(0, 8) == "DYNGRID_" && !is_in(for_one)) || is_in(others) ||
         std::any_of(mpi.begin(), mpi.end(), [&](const auto& setting) { return name == setting.name; });
}

} // namespace

void NewcomerCommand::set(std::string program, std::optional<std::vector<std::string>> arguments) {
  program_ = std::move(program);
  arguments_ = std::move(arguments);
}

void NewcomerCommand::check() const {
  const auto program = base::environment("DYNGRID_START", "program");
  check_program(program ? find_program(*program) : own_program());
}

SpawnOptions NewcomerCommand::options(Mode mode, const std::string& entry, double join_limit_s) const {
  SpawnOptions options;
  options.program = find_program("env"); // which sets the variables
  options.join_limit_s = join_limit_s;
  const std::string role = !role_.empty() ? role_ : mode == Mode::classical ? "classical" : "managed";
  options.arguments.push_back("DYNGRID_NEWCOMER=" + role);
  if (!entry.empty()) options.arguments.push_back("DYNGRID_ENTRY=" + entry);
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    if (goes_along(text.substr(0, text.find('=')))) options.arguments.emplace_back(text);
  }
  const auto program = base::environment("DYNGRID_START", "program");
  options.shown = !program_.empty() ? program_ : program ? *program : own_program();
  if (options.shown.find('=') != std::string::npos) // which env(1) would take for a variable
    for (const char* word : {"sh", "-c", "exec \"$0\" \"$@\""}) options.arguments.emplace_back(word);
  options.arguments.push_back(options.shown);
  for (const std::string& word : arguments_ ? *arguments_ : own_arguments()) options.arguments.push_back(word);
  return options;
}

} // namespace blacs_dyn
