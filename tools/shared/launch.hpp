// SPDX-License-Identifier: BSD-3-Clause
// How an application is started: the decision (plan_launch) is a function of the request and of what was found on this
// machine; looking and starting are apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mpi_version.hpp"
#include "base/process.hpp"
#include "findings.hpp"

namespace command {

using base::Mpi;

/// What the user asks for.
struct RunRequest {
  int processes = 0; ///< 0: as many as the grid has
  int warm = 0;      ///< processes that sleep until a growth takes them; mpirun starts them later
  std::string keep;  ///< seconds that processes which are not needed sleep before they leave; empty: they leave at once
  int spare =
      -1; ///< more that are started and sleep; -1: as many as resize_at needs where the MPI cannot start them later
  std::string grid; ///< "2x2" or empty; checked
  std::string resize_at, placement, schedule, group, hosts;
  std::string balance;        ///< off, advise, auto or empty
  std::string calls;          ///< as DYNGRID_CALLS, or empty
  std::string processes_come; ///< spawn, join or empty
  std::string ompi_server;    ///< for join: its address
  std::string preload;        ///< full paths of libraries, with a colon between them, or empty
  bool is_verbose = false;
  bool waits = false; ///< resize points wait for new processes
  std::vector<std::string> mpirun_options;
  std::vector<std::string> program; ///< and its arguments
};

/// What there is on this machine.
struct Setting {
  std::string name, value, why;
};

struct Site {
  std::string mpirun;  ///< full path
  std::string version; ///< what it printed when asked for its version
  Mpi mpi = Mpi::open_mpi;
  std::vector<Setting> before_mpi; ///< what the library sets of Open MPI 5 and the user has not
  bool is_open_mpi_5 = false;
  bool can_spawn = true;     ///< MPI_Comm_spawn works
  int cores = 1;             ///< that this process may use
  std::string yield_library; ///< makes waiting processes give their cores away; empty: there is none
  std::string blas_core,
      better_core; ///< which processor OpenBLAS takes this one for; what OPENBLAS_CORETYPE should say, empty: nothing
  bool is_root = false;
  bool has_ompi_server = false;         ///< in PATH
  bool can_read_other_processes = true; ///< process_vm_readv is allowed between processes of one user
  std::int64_t shm_free_bytes = -1;     ///< of /dev/shm; -1: there is none
  std::map<std::string, std::string> environment;
};

/// A plain command line: variables for mpirun itself, then words.
struct Launch {
  std::vector<Setting> environment;
  std::vector<std::string> words;
  std::vector<std::string> remarks; ///< why some of the words are there
  std::vector<std::string> notices; ///< what the user should know in any case
};

/// What mpirun needs to be told for an application that grows. What the user has set stays as it is.
/// @throws Failure when the request contradicts itself.
Launch plan_launch(const RunRequest& request, const Site& site);

/// The launch as a line for a shell: NAME=value ... mpirun ...
std::string shell_line(const Launch& launch);

// ---- looking ----

/// Finds mpirun (or the path given) and looks at this machine. @throws Failure when there is no mpirun.
Site look_around(const std::string& mpirun);
/// A file that belongs to this command: candidates relative to the folder of the running program; "" when none exists.
std::string find_beside(const std::vector<std::string>& candidates);
/// A program by its path, or as found in PATH. @throws Failure when there is none.
ProgramFiles look_at_program(const std::string& program);
/// libdyngrid.so that belongs to this command. @throws Failure
std::string own_library();
/// Those that look at calls of ScaLAPACK's routines, as LD_PRELOAD has them. @throws Failure
std::string calls_libraries();

// ---- starting ----

/// Starts the ompi-server over which mpiruns find each other; it ends when this process, or what it becomes, ends. Its
/// address. @throws Failure
std::string start_ompi_server();

/// Becomes the launch. Signals, standard streams and the exit status are then mpirun's own. Returns only by Failure.
[[noreturn]] void become(const Launch& launch);
/// Runs it and passes SIGTERM on as SIGUSR1, which mpirun hands to its processes: it ends them itself at a SIGTERM.
/// @return its exit status in words of the shell. @throws base::Error
int run_with_signals(const Launch& launch);

/// Runs it, standard output and error together, at most so many seconds; then it and everything it started is ended.
/// @throws base::Error
base::Outcome run_for(const Launch& launch, double seconds);

} // namespace command
