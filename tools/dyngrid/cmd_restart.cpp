// SPDX-License-Identifier: BSD-3-Clause
// dyngrid restart FILE: an application continues from a checkpoint, on the earlier grid or any other.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/checkpoint_file.hpp"
#include "run_options.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct RestartOptions {
  RunOptions run;
  std::string file;
  bool here = false;
};

void restart(const RestartOptions& o) {
  const std::string file = std::filesystem::absolute(o.file).string();
  const control::SavedState state =
      control::CheckpointReader(file).state(); // complete, or an error now and not on every rank
  RunOptions run = o.run;
  RunRequest& request = run.request;
  if (request.program.empty()) {
    request.program = state.command;
    if (request.program.empty() || access(request.program[0].c_str(), X_OK) != 0)
      throw Failure(fmt::format("{}: the program that wrote it, {}, is not there; give one after --", o.file,
                                request.program.empty() ? "of unknown name" : request.program[0]),
                    1);
    if (!o.here && !state.folder.empty() && chdir(state.folder.c_str()) != 0)
      throw Failure(
          fmt::format("{}: the folder in which it was written, {}, is not there; --here takes the current one", o.file,
                      state.folder),
          1);
  }
  if (request.grid.empty() && request.processes == 0) request.grid = fmt::format("{}x{}", state.nprow, state.npcol);
  setenv("DYNGRID_RESTORE", file.c_str(), 1);
  if (!base::environment("DYNGRID_CHECKPOINT", "")) { // the next ones replace it
    std::string checkpoint = file;
    for (const char* key : {"every", "signal"})
      if (const auto value = base::environment("DYNGRID_CHECKPOINT", key))
        checkpoint = base::with_entry(checkpoint.c_str(), key, *value);
    setenv("DYNGRID_CHECKPOINT", checkpoint.c_str(), 1);
  }
  std::fputs(fmt::format("dyngrid restart: {} of {}, {} matrices, written on {}x{} at resize point {}\n", o.file,
                         state.written, state.matrices.size(), state.nprow, state.npcol, state.resize_points)
                 .c_str(),
             stderr);
  if (run.dry_run) fmt::print("DYNGRID_RESTORE={} ", base::shell_quoted(file));
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
  app.footer("Without --grid and -np: the grid that the checkpoint was written on. The application goes on at its "
             "first resize point.\n"
             "Example:\n"
             "  DYNGRID_CHECKPOINT=state.h5,every=20 dyngrid run --grid 3x3 -- ./app\n"
             "  dyngrid restart state.h5 --grid 2x2");
  app.action([o] { restart(*o); });
}

} // namespace command
