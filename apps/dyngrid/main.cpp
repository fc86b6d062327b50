// SPDX-License-Identifier: BSD-3-Clause
// dyngrid <command> ...: questions about grids, and running jobs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "control/variables.hpp"
#include "control/printable.hpp"
#include "gridmap/status.hpp"

namespace {

/// Every sub-command, in the order of the help text. One more file, one more line.
constexpr void (*commands[])(CLI::App&) = {
    command::add_topology,
    command::add_place,
    command::add_plan,
    command::add_map,
    command::add_select,
    command::add_ps,
    command::add_watch,
    command::add_resize,
    command::add_grow,
    command::add_shrink,
    command::add_history,
    command::add_simulate,
    command::add_submit,
    command::add_queue,
    command::add_cancel,
    command::add_run,
    command::add_restart,
    command::add_slurm,
    command::add_doctor,
    command::add_env,
    command::add_man,
};

int fail(const CLI::App& root, const std::string& text, int status) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const auto used = root.get_subcommands();
  std::fprintf(stderr, "dyngrid%s%s: %s\n", used.empty() ? "" : " ",
               used.empty() ? "" : used[0]->get_name().c_str(), control::printable(line).c_str());
  return status;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App root("Grids of processes that grow and shrink: shapes, placement, processors of different power, "
               "running jobs.",
                "dyngrid");
  root.require_subcommand(1);
  root.set_version_flag("--version", DYNGRID_VERSION);
  root.get_formatter()->column_width(30);
  for (const auto add : commands) add(root);
  root.footer("Each command has its own --help; most print one JSON object with --json. Bad arguments: one "
              "line on stderr, status 2.");
  // mpirun's users write -np; with CLI11 a word after one dash is a bundle of letters
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words) {
    if (word == "--") break;
    if (word == "-np") word = "--np";
  }
  if (words.empty()) {
    std::fputs(root.help().c_str(), stdout);
    return 0;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : root.get_subcommands({})) names.push_back(command->get_name());
  if (const std::string& first = words[0]; first.compare(0, 1, "-") != 0 && std::find(names.begin(), names.end(), first) == names.end()) {
    const std::string closest = control::closest_word(first, names);
    return fail(root, fmt::format("there is no command {}; {}dyngrid --help lists them", first, closest.empty() ? "" : "did you mean " + closest + "? "), 2);
  }
  std::reverse(words.begin(), words.end()); // as CLI11 wants them
  try {
    root.parse(words);
  } catch (const CLI::Success& done) { // --help, --version
    return root.exit(done);
  } catch (const CLI::ParseError& error) {
    return fail(root, std::string(error.what()) + " (see --help)", 2);
  } catch (const command::Failure& error) {
    return fail(root, error.what(), error.status());
  } catch (const gridmap::Error& error) {
    // the caller's mistakes are 2, what is no mistake of the arguments 1
    using gridmap::Status;
    const bool ours = error.status() == Status::internal || error.status() == Status::out_of_memory ||
                      error.status() == Status::io_failure || error.status() == Status::timeout;
    return fail(root, error.what(), ours ? 1 : 2);
  } catch (const std::exception& error) {
    return fail(root, error.what(), 1);
  }
  return 0;
}
