// SPDX-License-Identifier: BSD-3-Clause
// Runs an application as a user would, under mpirun, and reads its --csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace apps {

struct RunStep {
  int step = 0;
  std::string grid;
  double seconds = 0; ///< of the slowest process
};

struct RunChange {
  int before_step = 0;
  std::string from, to;
  double total_s = 0, merge_s = 0, plan_s = 0, exchange_s = 0;
  std::int64_t moved_bytes = 0;
};

struct RunRecord {
  std::vector<RunStep> steps;
  std::vector<RunChange> changes;
  bool is_right = true; ///< no step was found wrong (with --check)
};

/// What an application has written to --csv. @throws std::runtime_error naming `program`
RunRecord record_in(const std::string& csv_path, const std::string& program);

class Launcher {
public:
  /// @param mpirun  words in front of "-np P PROGRAM ...", e.g. "mpirun --oversubscribe"; for the shell.
  /// @param limit_s a run is ended after that many seconds.
  Launcher(std::string mpirun, int limit_s);
  /// Every process, also a new one, additionally gets this library: one of build/lib/dyngrid, "libdyngrid-yield.so".
  /// False when it was not built (with sanitizers).
  bool preload(const std::string& library);
  /// A variable for mpirun, and so for every process, also a new one.
  void set(const std::string& name, const std::string& value);
  /// Runs `program` of build/apps with `arguments` on `processes` processes.
  /// @throws std::runtime_error with the command and the last lines of its output when it fails.
  RunRecord run(const std::string& program, int processes, const std::vector<std::string>& arguments) const;
  /// The same without --csv; returns what it printed.
  std::string output_of(const std::string& program, int processes, const std::vector<std::string>& arguments) const;

private:
  std::string mpirun_, folder_, preloaded_, variables_;
  int limit_s_;
};

/// A file of one header line and lines of comma-separated fields without quotes.
std::vector<std::vector<std::string>> read_csv(const std::string& path);

/// "2x3" is 6. @throws base::Error
int processes_of(const std::string& grid);

} // namespace apps
