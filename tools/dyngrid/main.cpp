// SPDX-License-Identifier: BSD-3-Clause
// dyngrid <command> ...: questions about grids, and running jobs.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/status.hpp"
#include "command.hpp"
#include "control/mpi_settings.hpp"
#include "control/variables.hpp"
#ifdef DYNGRID_HAS_SCHED
#include "sched/commands.hpp"
#endif
#ifdef DYNGRID_HAS_SLURM
#include "slurm/commands.hpp"
#endif

namespace {

using base::CommandLine;

/// Every sub-command under its heading of the help text, in this order. A new file needs one new line.
constexpr struct {
  const char* group;
  void (*add)(CommandLine&);
} commands[] = {
    {"Run", command::add_run},           {"Look", command::add_ps},        {"Look", command::add_watch},
    {"Look", command::add_load},         {"Look", command::add_history},   {"Change", command::add_resize},
    {"Change", command::add_checkpoint}, {"Change", command::add_restart},
#ifdef DYNGRID_HAS_SCHED
    {"Queue", command::add_submit},      {"Queue", command::add_queue},    {"Queue", command::add_cancel},
#endif
#ifdef DYNGRID_HAS_SLURM
    {"Queue", command::add_slurm},
#endif
    {"Plan", command::add_plan},         {"Help", command::add_doctor},    {"Help", command::add_env},
    {"Help", command::add_completion},
};

constexpr const char* without_scheduler = "this dyngrid was built without the scheduler (DYNGRID_BUILD_SCHED=OFF)";

/// Commands of other builds.
constexpr struct {
  const char* name;
  const char* reason;
} elsewhere[] = {
    {"submit", without_scheduler},
    {"queue", without_scheduler},
    {"cancel", without_scheduler},
    {"slurm", "this dyngrid was built without the Slurm agent (DYNGRID_BUILD_SLURM=OFF)"},
};

int fail(const CommandLine& root, const std::string& text, int status) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const std::string used = root.used_command();
  std::fprintf(stderr, "dyngrid%s%s: %s\n", used.empty() ? "" : " ", used.c_str(), base::printable(line).c_str());
  return status;
}

/// Of a first word that is no command: what to write instead. Empty: it is one, or an option.
std::string why_unknown(const CommandLine& root, const std::string& word) {
  std::vector<std::string> names;
  for (const auto& command : root.commands()) names.push_back(command->name());
  if (word.compare(0, 1, "-") == 0 || std::find(names.begin(), names.end(), word) != names.end()) return {};
  for (const auto& [name, reason] : elsewhere)
    if (word == name) return fmt::format("there is no command {}: {}", word, reason);
  const std::string closest = control::closest_word(word, names);
  return fmt::format("there is no command {}; {}dyngrid --help lists them", word,
                     closest.empty() ? "" : "did you mean " + closest + "? ");
}

} // namespace

int main(int argc, char** argv) {
  control::forget_outer_mpirun();
  std::signal(SIGCHLD, SIG_DFL); // a parent that ignores it hands that down, and the status of each child is lost
  CommandLine root("Grids of processes that grow and shrink: running jobs, shapes, placement, unequal processors.",
                   "dyngrid");
  root.require_command();
  root.add_version(DYNGRID_VERSION);
  root.help_column(30);
  for (const auto& [group, add] : commands) {
    add(root);
    root.commands().back()->group(group);
  }
  root.list_commands_by_group(20);
  root.footer("Each command has its own --help; most print one JSON object with --json. Bad arguments: one\n"
              "line on stderr, status 2.");
  // mpirun's users write -np; here a word after one dash is a bundle of letters
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words) {
    if (word == "--") break;
    if (word == "-np") word = "--np";
  }
  if (words.empty()) {
    std::fputs(root.help().c_str(), stdout);
    return 0;
  }
  const bool is_completion = words[0] == "__complete"; // by the scripts of dyngrid completion
  if (const std::string why = why_unknown(root, words[0]); !is_completion && !why.empty()) return fail(root, why, 2);
  try {
    if (is_completion) {
      for (const std::string& line : command::completions(root, {words.begin() + 1, words.end()}))
        std::printf("%s\n", line.c_str());
      return 0;
    }
    // commands that examine the environment report more than its first mistake
    if (const std::string& first = words[0]; first[0] != '-' && first != "env" && first != "doctor")
      control::check_environment();
    if (const auto asked = root.parse(words)) std::fputs(asked->c_str(), stdout); // --help, --version
  } catch (const base::CommandLineError& error) {
    return fail(root, std::string(error.what()) + " (see --help)", 2);
  } catch (const command::Failure& error) {
    return fail(root, error.what(), error.status());
  } catch (const base::Error& error) {
    using base::Status;
    constexpr Status mistakes[] = {Status::bad_argument, Status::bad_type, Status::shape_mismatch,
                                   Status::bad_descriptor, Status::not_found};
    const bool is_mistake = std::find(std::begin(mistakes), std::end(mistakes), error.status()) != std::end(mistakes);
    return fail(root, error.what(), is_mistake ? 2 : 1);
  } catch (const std::exception& error) {
    return fail(root, error.what(), 1);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail(root, "standard output has not taken all of the answer: is its disk full?", 1);
  return 0;
}
