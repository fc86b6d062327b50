// SPDX-License-Identifier: BSD-3-Clause
// dyngrid restart FILE: an application continues from a checkpoint, on the earlier grid or any other; a program of
// several pools from those of all.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/checkpoint_file.hpp"
#include "control/history.hpp"
#include "control/runtime_dir.hpp"
#include "run_options.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct RestartOptions {
  RunOptions run;
  std::string file;
  bool here = false;
};

/// Those of the pools that wrote FILE.NAME each. Other files of such names are passed over.
std::vector<control::SavedState> states_of_pools(const std::string& file) {
  std::vector<control::SavedState> states;
  std::error_code none; // no folder, no pools
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(file).parent_path(), none)) {
    const std::string name = entry.path().string();
    if (!base::begins_with(name, file + ".")) continue;
    try {
      control::SavedState state = control::CheckpointReader(name).state();
      if (!state.pool.empty() && name == file + "." + state.pool) states.push_back(std::move(state));
    } catch (const base::Error&) { // no checkpoint; a pool that misses its own refuses it
    }
  }
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.pool < b.pool; });
  return states;
}

/// One state, or one of each pool. file: becomes what DYNGRID_RESTORE is, without the name of a pool.
std::vector<control::SavedState> states_in(std::string& file) {
  std::error_code none;
  if (std::filesystem::exists(file, none)) {
    // complete, or an error now and not on every rank
    control::SavedState state = control::CheckpointReader(file).state();
    if (state.pool.empty()) return {std::move(state)};
    const std::string without = file.substr(0, file.size() - std::min(file.size(), state.pool.size() + 1));
    if (file != without + "." + state.pool)
      throw Failure(fmt::format("{}: pool {} of a program wrote it under another name than that of DYNGRID_CHECKPOINT, "
                                "FILE.{}; start the program, which gave the name, and let it call dyngrid_restore",
                                file, state.pool, state.pool),
                    1);
    file = without;
  }
  std::vector<control::SavedState> states = states_of_pools(file);
  if (states.empty()) states.push_back(control::CheckpointReader(file).state()); // says what is wrong
  return states;
}

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).string();
}

/// Relative folders of variables mean the current one, also where the application gets another one. Returns those that
/// were relative, for a shell, with a blank before each.
std::string with_absolute_folders() {
  std::string variables;
  const auto settle = [&](const char* name, const std::string& path) {
    if (path.empty() || path[0] == '/') return;
    setenv(name, absolute(path).c_str(), 1);
    variables += fmt::format(" {}={}", name, base::shell_quoted(absolute(path)));
  };
  settle("DYNGRID_RUNTIME_DIR", control::runtime_directory());
  settle("DYNGRID_HISTORY", control::history_file());
  return variables;
}

void restart(const RestartOptions& o) {
  std::string file = absolute(o.file);
  const std::vector<control::SavedState> states = states_in(file);
  const control::SavedState& state = states[0];
  RunOptions run = o.run;
  if (run.mpirun.find('/') != std::string::npos) run.mpirun = absolute(run.mpirun);
  const std::string folders = with_absolute_folders();
  const auto given = base::environment("DYNGRID_CHECKPOINT", "");
  const std::string place = given ? absolute(*given) : file; // the next checkpoints replace it
  RunRequest& request = run.request;
  std::string change_folder; ///< for a shell
  if (request.program.empty()) {
    request.program = state.command;
    if (request.program.empty() || access(request.program[0].c_str(), X_OK) != 0)
      throw Failure(fmt::format("{}: the program that wrote it, {}, is not there; give one after --", o.file,
                                request.program.empty() ? "of unknown name" : request.program[0]),
                    1);
    if (!o.here && !state.folder.empty()) {
      if (chdir(state.folder.c_str()) != 0)
        throw Failure(
            fmt::format("{}: the folder in which it was written, {}, is not there; --here takes the current one",
                        o.file, state.folder),
            1);
      change_folder = fmt::format("cd {}\n", base::shell_quoted(state.folder));
    }
  }
  if (request.processes == 0 && !state.pool.empty()) request.processes = state.started; // divided as before
  if (request.grid.empty() && request.processes == 0) request.grid = fmt::format("{}x{}", state.nprow, state.npcol);
  setenv("DYNGRID_RESTORE", file.c_str(), 1);
  std::string variables = "DYNGRID_RESTORE=" + base::shell_quoted(file) + folders;
  const auto entries = base::entries_of(place);
  if (entries.size() > 1) {
    const std::string what = fmt::format(
        "{} cannot be the value of DYNGRID_CHECKPOINT, where \",{}=\" begins another entry", place, entries[1].first);
    if (given) throw Failure(what + "; expected a file in a folder without it");
    fmt::print(stderr, "dyngrid restart: {}; the next checkpoints go where the program says\n", what);
  } else {
    std::string checkpoint = place;
    for (const char* key : {"every", "signal"})
      if (const auto value = base::environment("DYNGRID_CHECKPOINT", key))
        checkpoint = base::with_entry(checkpoint.c_str(), key, *value);
    setenv("DYNGRID_CHECKPOINT", checkpoint.c_str(), 1);
    variables += " DYNGRID_CHECKPOINT=" + base::shell_quoted(checkpoint);
  }
  for (const control::SavedState& one : states)
    std::fputs(fmt::format("dyngrid restart: {} of {}, {} matrices, written on {}x{} at resize point {}\n",
                           one.pool.empty() ? o.file : file + "." + one.pool, one.written, one.matrices.size(),
                           one.nprow, one.npcol, one.resize_points)
                   .c_str(),
               stderr);
  if (run.dry_run) fmt::print("{}export {}\n", change_folder, variables);
  run_application(run);
}

} // namespace

void add_restart(CommandLine& root) {
  CommandLine& app = root.add_command("restart", "Starts an application again from a checkpoint, on any grid");
  auto o = std::make_shared<RestartOptions>();
  app.add_option("file", o->file, "the checkpoint").required().type_name("FILE");
  add_run_options(app, o->run);
  app.add_flag("--here", o->here, "in the current folder, not in the one where the checkpoint was written");
  app.add_option("program", o->run.request.program,
                 "another program or other arguments than the checkpoint says, after --")
      .type_name("-- PROGRAM ARGUMENTS");
  app.footer(
      "Without --grid and -np: the grid that the checkpoint was written on. The application goes on at its "
      "first resize point.\n"
      "Without a program it runs in the folder where the checkpoint was written. Relative paths in "
      "DYNGRID_CHECKPOINT, DYNGRID_HISTORY and DYNGRID_RUNTIME_DIR begin at the current folder.\n"
      "A program of several pools has files FILE.POOL, and FILE restores all of them. Without -np it starts with "
      "as many processes as before, and divides them among its pools.\n"
      "Becomes mpirun as dyngrid run does: the exit status is that of the application.\n"
      "Example:\n"
      "  DYNGRID_CHECKPOINT=state.h5,every=20 dyngrid run --grid 3x3 -- ./app\n"
      "  dyngrid restart state.h5 --grid 2x2");
  app.action([o] { restart(*o); });
}

} // namespace command
