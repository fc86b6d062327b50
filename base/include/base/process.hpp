// SPDX-License-Identifier: BSD-3-Clause
// Programs that this process starts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace base {

struct Command {
  std::vector<std::string> words; ///< the program, by its path or searched for in PATH, and its arguments
  std::optional<std::vector<std::string>> environment{}; ///< NAME=value, all there is; nothing: as this process's
  int in = -1, out = -1, err = -1;                       ///< borrowed; -1: the caller's standard input, output or error
  bool own_group = false;        ///< a process group of its own: it can be ended with all that it starts
  bool ends_with_parent = false; ///< SIGTERM when the thread that starts it ends
  bool default_signals = false;  ///< what this process ignores is not ignored there
};

/// Starts it; returns at once. The child blocks no signal.
/// @throws Error{not_found} there is no such program, or it may not be executed; Error{spawn_failure}
pid_t start(const Command& command);

/// Exit status, or 128 + signal, from the status of waitpid.
int status_in_words(int wait_status);
/// Waits for a child. Its status in words; -1 when it is none.
int wait_for(pid_t child);
/// The same, at most for that time; nothing when it still runs.
std::optional<int> wait_for(pid_t child, double limit_s);
/// Ends a child that has a group of its own, and the group: SIGTERM, and after `patience_s` SIGKILL. Its status.
int end_group(pid_t child, double patience_s);

struct Outcome {
  int status = -1; ///< in words
  bool timed_out = false;
  std::string output; ///< standard output and error together
};
/// Runs it in a group of its own, `command.out` and `err` put aside; after `limit_s` (below 0: never) the group is
/// ended. The program gets SIGTERM when the calling thread ends before. Standard input is empty unless it is given.
Outcome run(Command command, double limit_s);

/// This process's variables, without those named in `variables`, and then these (NAME=value).
std::vector<std::string> environment_with(const std::vector<std::string>& variables);
/// This process's own program; ends in " (deleted)" when the file is gone, "" when it is not known.
std::string own_program();
/// Where a program is, by its path or in PATH; "" when it is nowhere.
std::string search_path(const std::string& name);

} // namespace base
